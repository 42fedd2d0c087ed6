/**
 * @file The training job behind `monolith train`: the FFM demo from data to checkpoint, AUC and trace.
 *
 * It prints nothing; what happens is told as events. Everything that can be refused is refused before the first step.
 */
import { MonolithError, messageOf } from '../base/errors.js';
import { reportText } from '../checkpoint/restore-report.js';
import { DataReader } from '../data/data-reader.js';
import { type FfmDatasetOptions, ffmDataset, heldOutOf, loadFfmBatches } from '../demo/ffm-dataset.js';
import { FFM_LENGTH_MAX, ffmSchema } from '../demo/ffm-example.js';
import { buildFfm } from '../demo/ffm-model.js';
import type { Graph } from '../graph/graph.js';
import { graphDescription, graphToJson } from '../graph/graph-description.js';
import { type Evaluation, evaluate, prepareEvaluation } from '../metrics/evaluate.js';
import type { Session } from '../runtime/session/session.js';
import { coreOf } from '../runtime/session/session-handle.js';
import { TABLES } from '../sparse/steps/embedding-ops.js';
import { HashTable } from '../sparse/table/hash-table.js';
import { writeChromeTrace } from '../trace/chrome-trace.js';
import { checkTraceTarget, writeTraceFile } from '../trace/trace-file.js';
import { ProgressHook } from '../train/hooks/progress.js';
import { type LocalRestoreOptions, LocalTrainer } from '../train/local-train.js';
import { hooksOfFlags } from './train-hooks.js';
import type { TrainEvent, TrainJob, TrainJobOptions, TrainResult } from './train-job.js';

/** Events each thread keeps for the trace: the last seconds of a run. */
const TRACE_EVENTS = 1 << 16;
/** Events each thread keeps for who asks, by a signal, what threads do: those of a tenth of a second. */
const WATCH_EVENTS = 1 << 12;
const BATCH_TIMEOUT_MS = 60_000;

export const runTrainJob: TrainJob = async (options, onEvent) => {
  const { modelDir, trace, batchSize, seed, deterministic, prefetch, postpush } = options;
  if (trace !== null) await checkTraceTarget(trace);
  const model = buildFfm(FFM_LENGTH_MAX);
  if (options.dumpGraph !== null) await writeGraph(options.dumpGraph, model.graph);
  const dataset: FfmDatasetOptions = { kind: options.data, vocab: options.vocab, batchSize, seed };
  const progress = new ProgressHook({
    loss: model.loss,
    batchSize,
    everyMs: options.progressIntervalMs,
    onProgress: (told) => onEvent({ event: 'progress', ...told, endStep: told.endStep ?? told.step }),
  });
  const settings = { data: options.data, vocab: options.vocab, batch_size: batchSize, seed, prefetch, postpush };
  let heldOut: readonly number[] | undefined;
  const heldOutIn = (session: Session): readonly number[] => {
    heldOut ??= loadFfmBatches(session, heldOutOf(dataset));
    return heldOut;
  };
  const asked = hooksOfFlags({ options, model, settings, heldOutIn, onEvent });
  const traces = trace !== null || options.profile !== null;
  let checkpoint: string | null = null;
  const trainer = await LocalTrainer.create({
    model,
    modelDir,
    steps: options.steps,
    until: options.until,
    saveEverySteps: options.saveEverySteps,
    hooks: [progress, ...asked.hooks],
    restore: restoreOf(options),
    settings,
    signal: options.signal,
    session: {
      schema: ffmSchema(),
      batchSize,
      threads: options.threads,
      backend: options.backend,
      ...(options.cudaDriver !== null && { cuda: { driver: options.cudaDriver } }),
      ...(options.useGpuEmbTable && {
        useGpuEmbTable: options.gpuTableRows === null || { rows: options.gpuTableRows },
      }),
      deterministic,
      seed,
      prefetch,
      postpush,
      tablePolicy: { whenFull: options.whenFull },
      ...(options.tableMemory !== null && { tableBytes: options.tableMemory }),
      traceEvents: traces ? TRACE_EVENTS : WATCH_EVENTS,
    },
    onSaved: (step, saved, ms) => {
      checkpoint = saved.path;
      onEvent({ event: 'checkpoint', step, path: saved.path, bytes: saved.bytes, ms });
      for (const message of saved.warnings) onEvent({ event: 'warning', code: 'ML_CKPT_WRITE', message });
    },
    onSaveFailed: (step, { code, message }) => {
      onEvent({ event: 'warning', code, message: `step ${step} was not saved, the next save tries again: ${message}` });
    },
  });
  const { session, startStep, restored } = trainer;
  if (!traces) for (const { ring } of session.trace.threads) ring.on = false;
  // What came of it: `auto` has chosen, and one thread drives a GPU.
  const { backend, backendWhy, device, kernelVariant: kernels, threads } = session;
  const steps = Math.max(0, trainer.lastStep - startStep);
  checkpoint = restored;
  if (trainer.restoreReport !== null && (options.restoreMode !== 'exact' || options.restoreFrom !== null)) {
    onEvent({ event: 'note', message: reportText(trainer.restoreReport) });
  }
  if (trainer.changedSettings.length > 0) {
    const { code, message } = otherSettings(restored, trainer.changedSettings);
    onEvent({ event: 'warning', code, message });
  }
  let interrupted: boolean;
  let evaluation: Omit<Evaluation, 'heads'>;
  let [started, failed] = [false, true];
  try {
    await trainer.prepare();
    await prepareEvaluation(session, model);
    onEvent({
      event: 'start',
      model: model.name,
      data: options.data,
      backend,
      backendWhy,
      device,
      kernels,
      threads,
      batchSize,
      steps,
      startStep,
      modelDir,
      restored,
    });
    started = true;
    if (steps === 0) onEvent({ event: 'note', message: `nothing to train: step ${startStep} is reached already` });
    heldOutIn(session);
    interrupted = await trainOnReader(trainer, dataset, progress);
    evaluation = asked.evaluation?.latest ?? (await evaluate(session, model, heldOutIn(session)));
    for (const { code, message } of tableTroubles(session)) onEvent({ event: 'warning', code, message });
    const { auc, loss, examples } = evaluation;
    if (asked.evaluation?.latest == null) onEvent({ event: 'eval', step: session.globalStep, auc, loss, examples });
    failed = false;
  } finally {
    await trainer.close();
    // A run that failed is the one whose trace is looked at, unless it failed before its first step.
    if (trace !== null && started) await writeTrace(trace, session, { options, failed, onEvent });
  }
  const result: TrainResult = {
    step: session.globalStep,
    loss: progress.loss,
    auc: evaluation.auc,
    evalLoss: evaluation.loss,
    examplesPerS: progress.stepsPerS * batchSize,
    stepsPerS: progress.stepsPerS,
    threads,
    backend,
    device,
    kernels,
    checkpoint,
    trace,
    interrupted,
  };
  return result;
};

/** On the command line nobody names variables: what may differ may differ everywhere, and is told. */
function restoreOf({ restoreFrom, restoreMode: mode, restoreCkpt, restoreDir }: TrainJobOptions): LocalRestoreOptions {
  const all = { missing: ['*'], extra: ['*'] };
  const isLoose = mode === 'warm-start' || mode === 'foreign';
  return {
    mode,
    ckpt: restoreCkpt,
    dir: restoreDir,
    ...(restoreFrom !== null && { from: restoreFrom }),
    ...(isLoose && all),
  };
}

/** Going on is what was asked for, but the data is not the one that would have come next. */
function otherSettings(path: string | null, changed: readonly string[]): MonolithError {
  return new MonolithError('ML_CKPT_SETTINGS', { path, changes: changed.join('; ') });
}

/** What steps met and went on from: ids without room, gradients that were not finite. */
function* tableTroubles(session: Session): Generator<MonolithError> {
  for (const config of session.graph.getCollection(TABLES)) {
    const { name, size, passedOver, badGradientRows } = HashTable.of(session, config);
    if (passedOver > 0) yield new MonolithError('ML_TABLE_PASSED_OVER', { table: name, rows: size, count: passedOver });
    if (badGradientRows > 0) yield new MonolithError('ML_GRADIENT', { table: name, where: `${badGradientRows} rows` });
  }
}

/** Trains on the batches of the reader thread; a resumed run goes on with the batch that would have come next. */
async function trainOnReader(
  trainer: LocalTrainer,
  dataset: FfmDatasetOptions,
  progress: ProgressHook,
): Promise<boolean> {
  const { session } = trainer;
  const { main, names } = coreOf(session).trace;
  const reader = await DataReader.start({
    session,
    dataset: ffmDataset(dataset),
    // Where checkpoints of older versions say nothing of the input, it follows the steps.
    startBatch: trainer.startStep,
  });
  const depth = names.id('batches waiting');
  progress.start(trainer.lastStep);
  try {
    return await trainer.train({
      // The reader's batches are resident: their addresses stay good.
      batchesAhead: Number.POSITIVE_INFINITY,
      next: () => {
        main?.counter(depth, reader.depth, main.now());
        return reader.next(BATCH_TIMEOUT_MS);
      },
      saveState: (unused) => reader.saveState(unused),
      restoreState: (state) => reader.restoreState(state),
    });
  } finally {
    await reader.close();
  }
}

async function writeGraph(file: string, graph: Graph): Promise<void> {
  try {
    await writeTraceFile(file, [graphToJson(graph)]);
  } catch (cause) {
    if (!(cause instanceof MonolithError) || cause.code !== 'ML_TRACE_WRITE') throw cause;
    const { fields, hint } = cause;
    const reason = String(fields.reason ?? messageOf(cause));
    throw new MonolithError('ML_GRAPH_WRITE', { file, reason }, { cause, ...(hint !== undefined && { hint }) });
  }
}

interface TraceOfRun {
  readonly options: TrainJobOptions;
  readonly failed: boolean;
  readonly onEvent: (event: TrainEvent) => void;
}

async function writeTrace(file: string, session: Session, { options, failed, onEvent }: TraceOfRun): Promise<void> {
  const { threads, names } = session.trace;
  const writing = writeChromeTrace(file, {
    threads,
    names,
    metadata: {
      model: options.model,
      backend: session.backend,
      device: session.device,
      kernels: session.kernelVariant,
      threads: session.threads,
      batchSize: options.batchSize,
      graph: graphDescription(session.graph),
    },
  });
  let lost: readonly number[];
  try {
    ({ lost } = await writing);
  } catch (thrown) {
    if (!failed) throw thrown;
    // The failure of the run is the one to report.
    onEvent({ event: 'warning', code: 'ML_TRACE_WRITE', message: messageOf(thrown) });
    return;
  }
  if (failed) onEvent({ event: 'note', message: `the trace up to the failure is in ${file}` });
  const total = lost.reduce((sum, count) => sum + count, 0);
  if (total > 0) {
    const message = `the trace holds the end of the run: ${total} older events were overwritten`;
    onEvent({ event: 'note', message });
  }
}
