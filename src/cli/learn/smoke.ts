/**
 * @file `--smoke`: everything a run needs, once, on a few rows in a folder that is removed again: steps, evaluations, a
 * save, a restore, an export, predictions of both. What is broken fails within seconds, and not in hour five.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import '../../serve/provide.js';
import type { BatchSource } from '../../data/batch-source.js';
import { modelOf, schemasOf } from '../../recipe/recipe-schema.js';
import { heldOutSource } from '../../recipe/table-source.js';
import {
  dataOf,
  estimatorOf,
  predictionsOf,
  type RunData,
  type RunSettings,
  trainRun,
} from '../../recipe/train-table.js';
import type { EstimatorModel } from '../../train/estimator/estimator-model.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { EXIT_DONE } from '../report.js';
import type { LearnFlags } from './learn-options.js';
import { ownRows } from './own-data.js';
import type { OwnModel } from './own-model.js';
import { readForRun, settingsOf } from './table-run.js';

const STEPS = 3;
const ROWS = 256;

export async function runSmoke(flags: LearnFlags, io: CliIo): Promise<number> {
  const start = performance.now();
  const dir = mkdtempSync(join(tmpdir(), 'monolith-smoke-'));
  try {
    const given = { ...flags, modelDir: dir, steps: STEPS, until: null };
    const settings = settingsOf(given, new AbortController().signal);
    const { model, data, test, rows } =
      flags.own === null ? await ofTable(given, settings) : await ofOwn(flags.own, given);
    const outcome = await trainRun(estimatorOf(model, settings), data, settings, () => undefined);
    const { estimator, result } = outcome;
    const restored = await predictionsOf(estimator, test, rows, result.checkpoint!);
    const version = await estimator.export(join(dir, 'export'));
    await estimator.close();
    const told = { steps: result.step, predictions: restored.length, loss: result.loss, exported: true };
    if (restored.some((prediction) => !Number.isFinite(prediction))) {
      throw new MonolithError('ML_INTERNAL', { reason: `a prediction of ${version} is no number` });
    }
    const seconds = (performance.now() - start) / 1000;
    if (flags.json) io.out.write(jsonLine({ event: 'smoke', ...told, seconds }));
    else {
      const what = 'evaluation, save, restore, export';
      io.out.write(`smoke test passed in ${seconds.toFixed(1)} s: ${STEPS} steps, ${what}, ${rows} predictions\n`);
    }
    return EXIT_DONE;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What is tried. */
interface Tried {
  readonly model: EstimatorModel;
  readonly data: RunData;
  /** Rows that are predicted on. */
  readonly test: BatchSource;
  readonly rows: number;
}

async function ofTable(given: LearnFlags, settings: RunSettings): Promise<Tried> {
  const prepared = await readForRun({ ...given, modelDir: null }, () => undefined);
  const { recipe, parts, table } = prepared;
  const model = await modelOf(recipe, schemasOf(recipe).all);
  const validation = heldOutSource(table, parts.validation.slice(0, ROWS));
  const rows = parts.test.slice(0, ROWS);
  const data = { ...dataOf(prepared, settings), validation, stepsPerEpoch: STEPS };
  return { model, data, test: heldOutSource(table, rows), rows: rows.length };
}

async function ofOwn(own: OwnModel, given: LearnFlags): Promise<Tried> {
  const rows = await ownRows(own, given, () => undefined);
  const data = { ...rows, stepsPerEpoch: STEPS };
  const { test } = rows;
  if (test?.rows !== undefined) return { model: own.model, data, test: test.source, rows: test.rows };
  const hint = 'export const data = { train, test } with a Dataset or a list of rows';
  throw new MonolithError('ML_MODEL', { model: own.file, reason: '--smoke needs rows to predict on' }, { hint });
}
