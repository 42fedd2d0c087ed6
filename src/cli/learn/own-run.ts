/** @file A run of a model of one's own: its module says what is trained on what. */
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import type { BatchSource } from '../../data/batch-source.js';
import type { RunEvent, TestEvent } from '../../recipe/run-event.js';
import { scored } from '../../recipe/score-curves.js';
import { doneEvent, estimatorOf, predictionsOf, type RunOutcome, trainRun } from '../../recipe/train-table.js';
import type { Estimator } from '../../train/estimator/estimator.js';
import type { EstimatorModel } from '../../train/estimator/estimator-model.js';
import { watchRun } from './learn-hooks.js';
import { ownRows, type TestRows } from './own-data.js';
import type { OwnModel } from './own-model.js';
import type { RunEnd, RunParts } from './run-parts.js';
import { settingsOf } from './table-run.js';

export async function runOwn(own: OwnModel, { flags, run, signal, asks, askedTrace }: RunParts): Promise<RunEnd> {
  const tell = (event: RunEvent) => run.tell(event);
  const rows = await ownRows(own, flags, tell, signal);
  const { model } = own;
  const features = model.schema.specs.length - 1;
  tell({ event: 'model', name: model.name, ids: 0, text: `${model.name}  of ${own.file}, ${features} features` });
  const isBinary = isBinaryModel(model);
  const settings = settingsOf(flags, signal);
  const metric = isBinary ? settings.metric : 'loss';
  const { hooks, listeners, progress } = watchRun(flags, tell, () => keepModule(own.file, run.open().dir));
  const outcome = await trainRun(
    estimatorOf(model, settings),
    rows,
    { ...settings, metric, hooks: (model) => [...hooks(model), askedTrace], listeners, asks },
    (event) => {
      if (event.event === 'progress') progress(event.step);
      tell(event);
    },
  );
  try {
    const test = rows.test && (await testOwn(outcome.estimator, outcome, rows.test, isBinary));
    if (test !== undefined) tell(test);
    return { done: doneEvent(outcome, test, { trace: flags.trace }), test };
  } finally {
    await outcome.estimator.close();
  }
}

/** What the best checkpoint makes of the rows that report. */
async function testOwn(
  estimator: Estimator,
  { result }: RunOutcome,
  { source, rows, labels }: TestRows,
  isBinary: boolean,
): Promise<TestEvent | undefined> {
  const checkpoint = result.best?.checkpoint ?? result.checkpoint;
  if (checkpoint === null) return undefined;
  const step = result.best?.step ?? result.step;
  const beside = { event: 'test', step, baseline: null, ceiling: null } as const;
  if (isBinary && rows !== undefined && labels !== undefined) {
    return { ...beside, ...scored(labels, await predictionsOf(estimator, source, rows, checkpoint)) };
  }
  return testOther(estimator, source, { checkpoint, step });
}

/** What a model that predicts no probability is judged by: its loss and its metrics. */
export async function testOther(
  estimator: Estimator,
  source: BatchSource,
  { checkpoint, step }: { readonly checkpoint: string; readonly step: number },
): Promise<TestEvent> {
  const { loss, metrics, examples } = await estimator.evaluate(source as never, { checkpoint });
  const curves = { histogram: { zeros: [], ones: [] }, deciles: [], roc: [], calibration: Number.NaN };
  const beside = { event: 'test', step, baseline: null, ceiling: null } as const;
  return { ...beside, ...curves, loss, examples, auc: metrics.auc ?? null, metrics };
}

/** Whether the first head predicts a probability. */
export const isBinaryModel = (model: EstimatorModel): boolean => model.build('eval').heads?.[0]?.kind === 'binary';

/** The source as a text, for people: a folder is never run. */
function keepModule(file: string, dir: string): void {
  try {
    copyFileSync(file, join(dir, `${basename(file)}.txt`));
  } catch (cause) {
    throw new MonolithError('ML_DIR', { dir, reason: messageOf(cause) }, { cause });
  }
}
