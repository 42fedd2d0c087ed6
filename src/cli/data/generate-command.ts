/** @file `monolith data generate`: made-up rows whose rule is known, so that a model has a ceiling to be held to. */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { DataRow } from '../../data/files/place.js';
import { columnsOf, rowEncoder, writeRows, writtenFormat } from '../../data/files/write-rows.js';
import { ClickLog } from '../../demo/click-log.js';
import { auc } from '../../metrics/auc.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { EXIT_DONE } from '../report.js';
import { stoppable } from '../trained/with-run.js';
import type { GenerateFlags } from './data-options.js';

const KINDS = ['clicks'];
const BLOCK_ROWS = 8192;
/** Rows that the ceiling is told of. */
const CEILING_ROWS = 200_000;

export function runGenerateCommand(what: string, flags: GenerateFlags, io: CliIo): Promise<number> {
  const { rows, seed, out } = flags;
  if (!KINDS.includes(what)) {
    const hint = didYouMean(what, KINDS) ?? 'there is clicks';
    throw new MonolithError('ML_FLAG', { flag: `data generate ${what}`, reason: 'there is no such data' }, { hint });
  }
  if (out !== null) writtenFormat(out);
  return stoppable(io, async (signal) => {
    const start = performance.now();
    const log = new ClickLog({ rows, seed });
    if (out === null) await print(log, flags.json, io, signal);
    else await writeRows(out, blocksOf(log, signal));
    const seconds = (performance.now() - start) / 1000;
    const ceiling = ceilingOf(log);
    if (flags.json && out !== null) io.out.write(jsonLine({ event: 'generated', rows, seed, out, ceiling, seconds }));
    else if (!flags.json && !flags.quiet) {
      const best = ceiling === null ? '' : `; the best that can be is AUC ${ceiling.toFixed(4)}`;
      io.err.write(
        `${out ?? 'standard output'}  ${rows.toLocaleString('en-US')} rows in ${seconds.toFixed(1)} s${best}\n`,
      );
    }
    return EXIT_DONE;
  });
}

async function* blocksOf(log: ClickLog, signal: AbortSignal): AsyncGenerator<readonly DataRow[]> {
  for (let from = 0; from < log.rows; from += BLOCK_ROWS) {
    // Signals come between two blocks.
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    yield Array.from({ length: Math.min(BLOCK_ROWS, log.rows - from) }, (_, at) => log.row(from + at));
  }
}

async function print(log: ClickLog, json: boolean, io: CliIo, signal: AbortSignal): Promise<void> {
  let encoder: Awaited<ReturnType<typeof rowEncoder>> | undefined;
  for await (const rows of blocksOf(log, signal)) {
    encoder ??= await rowEncoder(json ? 'jsonl' : 'csv', columnsOf(rows));
    io.out.write(String(encoder.block(rows)));
  }
}

/** The AUC of who knows how likely each click was, on the first rows. */
function ceilingOf(log: ClickLog): number | null {
  const length = Math.min(log.rows, CEILING_ROWS);
  const labels = Float32Array.from({ length }, (_, row) => log.row(row).click);
  return auc(
    labels,
    Float32Array.from({ length }, (_, row) => log.probability(row)),
  );
}
