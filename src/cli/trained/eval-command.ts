/** @file `monolith eval`: what a run comes to on the rows it held out, or on others. */
import { lossText } from '../../base/number-text.js';
import { auc } from '../../metrics/auc.js';
import type { TestEvent } from '../../recipe/run-event.js';
import { logLoss, scored } from '../../recipe/score-curves.js';
import { heldOutSource } from '../../recipe/table-source.js';
import { Estimator } from '../../train/estimator/estimator.js';
import { isTrainedOn, judgedRows } from '../../trained/run-rows.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { testText } from '../learn/learn-text.js';
import { EXIT_DONE } from '../report.js';
import type { EvalFlags } from './run-options.js';
import { withRun } from './with-run.js';

export function runEvalCommand(dir: string, flags: EvalFlags, io: CliIo): Promise<number> {
  return withRun(dir, flags, io, async ({ run, scorer, asked }) => {
    const { table, rows, labels, source, averages, idColumns } = await judgedRows(run, asked);
    const trained = asked.data !== undefined && isTrainedOn(run, asked.data);
    const other = asked.data === undefined ? undefined : `rows${trained ? ', those it was trained on among them' : ''}`;
    const told = (event: TestEvent) => {
      if (flags.json) io.out.write(jsonLine({ ...event, checkpoint: run.checkpoint, source }));
      else if (flags.quiet) io.out.write(`${quietText(event)}\n`);
      else io.out.write(`${run.checkpoint}  ${source}\n${testText(event, other)}\n`);
      return EXIT_DONE;
    };
    const step = scorer.step ?? 0;
    if (run.own !== undefined) {
      const { isBinaryModel, testOther } = await import('../learn/own-run.js');
      if (!isBinaryModel(run.model)) {
        const estimator = new Estimator(run.model, { backend: flags.backend, threads: flags.threads ?? 1 });
        try {
          return told(await testOther(estimator, heldOutSource(table, rows), { checkpoint: run.checkpoint, step }));
        } finally {
          await estimator.close();
        }
      }
    }
    const predictions = await scorer.all(heldOutSource(table, rows), rows.length);
    const baseline =
      averages === undefined || idColumns.length === 0
        ? null
        : { auc: auc(labels, averages), loss: logLoss(labels, averages), columns: idColumns };
    const event = { event: 'test', step, ...scored(labels, predictions), baseline, ceiling: null } as const;
    return told(event);
  });
}

const quietText = ({ auc: found, loss, metrics }: TestEvent): string => {
  if (metrics !== undefined) return lossText(loss);
  return found === null ? 'undefined' : found.toFixed(4);
};
