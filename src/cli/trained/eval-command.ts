/** @file `monolith eval`: what a run comes to on the rows it held out, or on others. */
import { auc } from '../../metrics/auc.js';
import { logLoss, scored } from '../../recipe/score-curves.js';
import { heldOutSource } from '../../recipe/table-source.js';
import { judgedRows } from '../../trained/run-rows.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { LearnText } from '../learn/learn-text.js';
import { EXIT_DONE } from '../report.js';
import type { EvalFlags } from './run-options.js';
import { withRun } from './with-run.js';

export function runEvalCommand(dir: string, flags: EvalFlags, io: CliIo): Promise<number> {
  return withRun(dir, flags, io, async ({ run, scorer, asked }) => {
    const { table, rows, labels, source, averages, idColumns } = await judgedRows(run, asked);
    const predictions = await scorer.all(heldOutSource(table, rows), rows.length);
    const baseline =
      averages === undefined || idColumns.length === 0
        ? null
        : { auc: auc(labels, averages), loss: logLoss(labels, averages), columns: idColumns };
    const step = scorer.step ?? 0;
    const event = { event: 'test', step, ...scored(labels, predictions), baseline, ceiling: null } as const;
    if (flags.json) io.out.write(jsonLine({ ...event, checkpoint: run.checkpoint, source }));
    else if (flags.quiet) io.out.write(`${event.auc === null ? 'undefined' : event.auc.toFixed(4)}\n`);
    else io.out.write(`${run.checkpoint}  ${source}\n${new LearnText().of(event)}\n`);
    return EXIT_DONE;
  });
}
