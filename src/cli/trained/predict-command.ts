/** @file `monolith predict`: rows as they are, with a prediction beside, and the ids that training never saw. */
import { MonolithError } from '../../base/errors.js';
import type { Dataset } from '../../data/dataset.js';
import type { DataRow } from '../../data/files/place.js';
import { columnsOf, rowEncoder, writeRows, writtenFormat } from '../../data/files/write-rows.js';
import type { BadRows } from '../../recipe/encode-blocks.js';
import { readingOf, rowsOfData } from '../../trained/run-rows.js';
import { scoreRows } from '../../trained/score-rows.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { EXIT_DONE } from '../report.js';
import type { PredictFlags } from './run-options.js';
import { type RunAtHand, withRun } from './with-run.js';

const PREDICTION = 'prediction';
const UNKNOWN = 'unknown_ids';

export function runPredictCommand(dir: string, flags: PredictFlags, io: CliIo): Promise<number> {
  const { data, out } = flags;
  if (data === null) {
    const hint = '--data FILE names the rows, --data - reads standard input';
    throw new MonolithError('ML_FLAG', { flag: 'predict', reason: 'needs rows to predict on' }, { hint });
  }
  if (out !== null) writtenFormat(out);
  return withRun(dir, flags, io, async (at) => {
    const start = performance.now();
    const counts = { rows: 0, unknown: new Map<string, number>() };
    const { asked, run } = at;
    const options = readingOf(run, asked);
    const bad: BadRows = { policy: options.badRows ?? 'stop', max: flags.badRowsMax, count: 0, examples: [] };
    const dataset = rowsOfData(run, asked, data);
    const blocks = predicted(at, dataset, bad, counts);
    if (out !== null) await writeRows(out, blocks);
    else await print(blocks, flags.json, io);
    const { rows } = counts;
    if (rows === 0) throw new MonolithError('ML_DATASET', { reason: `${data} has no rows` });
    const badRows = bad.count + dataset.findings.badRows;
    const seconds = (performance.now() - start) / 1000;
    const unknown = Object.fromEntries(counts.unknown);
    if (flags.json && out !== null)
      io.out.write(jsonLine({ event: 'predicted', rows, badRows, unknown, out, seconds }));
    else if (!flags.json && !flags.quiet) io.err.write(summary(rows, seconds, counts.unknown, badRows));
    return EXIT_DONE;
  });
}

async function* predicted(
  { run, scorer }: RunAtHand,
  dataset: Dataset,
  bad: BadRows,
  counts: { rows: number; readonly unknown: Map<string, number> },
): AsyncGenerator<readonly DataRow[], void, undefined> {
  for await (const { rows, predictions, unknown } of scoreRows(run, scorer, dataset, bad)) {
    counts.rows += rows.length;
    for (const names of unknown) {
      for (const name of names) counts.unknown.set(name, (counts.unknown.get(name) ?? 0) + 1);
    }
    yield rows.map((row, at) => ({ ...row, [PREDICTION]: told(predictions[at]!), [UNKNOWN]: unknown[at]!.join(' ') }));
  }
}

/** As many digits as a float has. */
const told = (prediction: number): number => Number(prediction.toPrecision(7));

/** Rows on standard output, as CSV or as lines of JSON. */
async function print(blocks: AsyncIterable<readonly DataRow[]>, json: boolean, io: CliIo): Promise<void> {
  let encoder: Awaited<ReturnType<typeof rowEncoder>> | undefined;
  for await (const rows of blocks) {
    encoder ??= await rowEncoder(json ? 'jsonl' : 'csv', columnsOf(rows));
    io.out.write(String(encoder.block(rows)));
  }
}

function summary(rows: number, seconds: number, unknown: ReadonlyMap<string, number>, badRows: number): string {
  const whole = (count: number) => count.toLocaleString('en-US');
  const lines = [`${whole(rows)} rows in ${seconds.toFixed(1)} s`];
  for (const [name, count] of unknown) {
    lines.push(`${whole(count)} whose ${name} training never saw: column ${UNKNOWN} says which`);
  }
  if (badRows > 0) lines.push(`${whole(badRows)} rows could not be read and are left out`);
  return `${lines.join('\n')}\n`;
}
