/** @file `monolith compare`: two runs beside each other, with the interval of the difference of their AUCs. */

import { heldOutSource } from '../../recipe/table-source.js';
import { aucDifference } from '../../trained/auc-difference.js';
import { type ComparedRun, comparedRun, differing, figuresOf } from '../../trained/compare-runs.js';
import { judgedRows } from '../../trained/run-rows.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { EXIT_DONE } from '../report.js';
import type { CompareFlags } from './run-options.js';
import { askedOf, runOf, scorerOf, stoppable } from './with-run.js';

export function runCompareCommand(dirs: readonly [string, string], flags: CompareFlags, io: CliIo): Promise<number> {
  return stoppable(io, async (signal) => {
    const [a, b] = [comparedRun(dirs[0]), comparedRun(dirs[1])];
    const paired = await pairedOf(dirs, flags, signal);
    const event = {
      event: 'compared',
      runs: dirs,
      figures: [figuresOf(a), figuresOf(b)],
      differs: differing(a, b),
      difference: typeof paired === 'string' ? null : paired,
      why: typeof paired === 'string' ? paired : null,
    };
    io.out.write(flags.json ? jsonLine(event) : textOf(dirs, a, b, paired));
    return EXIT_DONE;
  });
}

type Paired = NonNullable<ReturnType<typeof aucDifference>>;

/** The difference on rows that both are judged by; else why there is none. */
async function pairedOf(
  dirs: readonly [string, string],
  flags: CompareFlags,
  signal: AbortSignal,
): Promise<Paired | string> {
  const scores: Float32Array[] = [];
  const labels: Float32Array[] = [];
  for (const dir of dirs) {
    let judged: Awaited<ReturnType<typeof judgedRows>>;
    const asked = askedOf(flags, signal);
    try {
      const run = await runOf(dir, { ...flags, checkpoint: null });
      judged = await judgedRows(run, asked);
      const scorer = await scorerOf(run, flags, signal);
      try {
        scores.push(await scorer.all(heldOutSource(judged.table, judged.rows), judged.rows.length));
      } finally {
        await scorer.close();
      }
    } catch (error) {
      // Reports and folders of other machines are compared by what they say; rows that were asked for have to be there.
      if (flags.data !== null || signal.aborted) throw error;
      return `${dir}: ${(error as Error).message}`;
    }
    labels.push(judged.labels);
  }
  const [first, second] = labels as [Float32Array, Float32Array];
  const isSame = first.length === second.length && first.every((label, row) => label === second[row]);
  if (!isSame) return 'they held other rows out; --data FILE judges both by the same';
  const difference = aucDifference(first, scores[0]!, scores[1]!);
  return difference ?? 'the rows have one class alone';
}

function textOf(dirs: readonly [string, string], a: ComparedRun, b: ComparedRun, paired: Paired | string): string {
  const [left, right] = [figuresOf(a), figuresOf(b)];
  const signed = (value: number) => `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(4)}`;
  const number = (value: number | null | undefined) => (value == null ? '-' : value.toFixed(4));
  const rate = (value: number | null) => (value === null ? '-' : `${(value / 1000).toFixed(1)}k`);
  const rows: [string, string, string, string][] = [['', dirs[0], dirs[1], '']];
  if (typeof paired === 'string') rows.push(['AUC', number(left.auc), number(right.auc), '']);
  else {
    const { first, second, difference, low, high } = paired;
    const interval = `${signed(difference)}   (95 % interval: ${signed(low)} … ${signed(high)}, ${paired.rows} rows)`;
    rows.push(['AUC', number(first), number(second), interval]);
  }
  rows.push(['loss', number(left.loss), number(right.loss), '']);
  rows.push(['examples/s', rate(left.examplesPerS), rate(right.examplesPerS), '']);
  for (const { name, values } of differing(a, b)) rows.push([name, values[0], values[1], '']);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  if (typeof paired === 'string') lines.push(`no interval: ${paired}`);
  return `${lines.join('\n')}\n`;
}
