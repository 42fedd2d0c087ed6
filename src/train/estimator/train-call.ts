/** @file One call of train: a session from the newest checkpoint, its steps, the save at the end. */
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import { latestCheckpoint } from '../../checkpoint/on-demand.js';
import { AT_START } from '../../data/input-place.js';
import { LocalTrainer } from '../local-train.js';
import type { LocalRestoreOptions } from '../local-train-options.js';
import { LostSessions } from '../lost-sessions.js';
import type { ModelSpec } from '../model-spec.js';
import { CountedInput } from './counted-input.js';
import type { EstimatorEvent } from './estimator-event.js';
import { buildIn, type EstimatorModel } from './estimator-model.js';
import { BATCH_SIZE, type EstimatorOptions, savingOf, sessionOptionsOf } from './estimator-options.js';
import { checkpointStep } from './newest-checkpoint.js';
import type { CheckedTrainOptions } from './train-options.js';
import type { StoppedBy, TrainResult } from './train-result.js';
import { hooksOf, type TrainingHooks } from './training-hooks.js';

export interface TrainParts {
  readonly model: EstimatorModel;
  readonly options: EstimatorOptions;
  /** Where checkpoints are, which for a model without a directory is a temporary one. */
  readonly modelDir: string;
  readonly call: CheckedTrainOptions;
  /** Aborted by the caller's signal, and when the estimator is closed. */
  readonly signal: AbortSignal;
}

const OTHER_DATA = 'the data, or the size of its batches, is not that of the checkpoint: it is read from its beginning';
const NO_ROWS = 'the data gave no rows, so nothing was trained';
/** The text of the reference for a run that has nothing to do. */
const SKIPPED = 'Skipping training since max_steps has already saved.';

export async function runTrainCall(parts: TrainParts): Promise<TrainResult> {
  const { modelDir, call, options } = parts;
  const path = await latestCheckpoint(modelDir);
  const { until } = call.limits;
  const step = path === null || until === Number.POSITIVE_INFINITY ? 0 : await checkpointStep(path);
  if (step >= until) {
    log.info(SKIPPED, { step, until });
    options.log?.({ event: 'note', message: SKIPPED });
    return { ...NOTHING, step, startStep: step, checkpoint: path, stoppedBy: 'until' };
  }
  return trainOn(parts, path);
}

/** A session that is lost is made again, of a new graph, and goes on from the newest checkpoint. */
async function trainOn(parts: TrainParts, newest: string | null): Promise<TrainResult> {
  const { call, modelDir, model } = parts;
  const start = performance.now();
  let [path, limits, examples] = [newest, call.limits, 0];
  let lost: LostSessions | undefined;
  let startStep: number | undefined;
  for (;;) {
    const part = new TrainCall({ ...parts, call: { ...call, limits } }, buildIn(model, 'train'));
    try {
      const result = await part.run(path);
      if (lost === undefined) return result;
      const seconds = (performance.now() - start) / 1000;
      return { ...result, startStep: startStep!, seconds, examples: examples + result.examples };
    } catch (error) {
      startStep ??= part.startStep;
      lost ??= new LostSessions(startStep);
      if (call.source.once === true || !lost.mayGoOn(error, part.step)) throw error;
      path = await latestCheckpoint(modelDir);
      examples += part.examplesOf(path === null ? startStep : await checkpointStep(path));
      // Steps are those of the whole call.
      limits = { ...limits, steps: Number.POSITIVE_INFINITY, until: part.lastStep };
      log.warn('the session was lost, and is made again', { step: part.step, checkpoint: path });
    }
  }
}

const NOTHING = { loss: null, seconds: 0, examples: 0, examplesPerSecond: 0, evaluation: null, best: null } as const;

class TrainCall {
  readonly #parts: TrainParts;
  readonly #model: ModelSpec;
  readonly #batchSize: number;
  readonly #hooks: TrainingHooks;
  #stepsPerPass: number | undefined;
  #firstStep = 0;
  /** Where it began, and where it stops at the latest. */
  startStep = 0;
  lastStep = 0;
  /** The step it has come to. */
  step = 0;
  #input: CountedInput | undefined;
  #checkpoint: string | null = null;

  constructor(parts: TrainParts, model: ModelSpec) {
    const { call, options, modelDir } = parts;
    this.#parts = parts;
    this.#model = model;
    this.#batchSize = call.batchSize ?? options.batchSize ?? BATCH_SIZE;
    this.#hooks = hooksOf({
      options,
      call,
      model,
      modelDir,
      batchSize: this.#batchSize,
      stepsPerPass: () => this.#stepsPerPass,
      firstStep: () => this.#firstStep,
      tell: (event) => this.#tell(event),
    });
  }

  async run(newest: string | null): Promise<TrainResult> {
    this.#checkpoint = newest;
    const trainer = await this.#trainer(newest === null);
    ({ startStep: this.startStep, startStep: this.step, lastStep: this.lastStep } = trainer);
    let input: CountedInput | undefined;
    try {
      await trainer.prepare();
      const { call, signal } = this.#parts;
      const { epochs } = call.limits;
      const options = { mode: 'train', batchSize: this.#batchSize, epochs } as const;
      const opened = await call.source.open(trainer.session, options);
      input = new CountedInput(opened, trainer.session, signal);
      this.#input = input;
      this.#stepsPerPass = opened.batchCount;
      if (trainer.inputState !== null) await input.restoreState?.(trainer.inputState);
      const { pass, batch } = input.begin ?? AT_START;
      this.#firstStep = trainer.startStep - (pass * (this.#stepsPerPass ?? 0) + batch);
      const last = this.#lastStep(trainer);
      this.#start(trainer, last);
      if (input.begin?.isOther === true) this.#tell({ event: 'note', message: OTHER_DATA });
      this.#hooks.progress.start(last);
      const start = performance.now();
      await trainer.train(input);
      return this.#result(trainer, input, (performance.now() - start) / 1000);
    } finally {
      this.step = trainer.session.globalStep;
      try {
        await input?.close();
      } finally {
        await trainer.close();
      }
    }
  }

  /** Examples that were trained on up to a global step, which is no more than what was reached. */
  examplesOf(step: number): number {
    return this.#input?.examplesOf(Math.max(0, step - this.startStep)) ?? 0;
  }

  #trainer(isFirst: boolean): Promise<LocalTrainer> {
    const { options, call, modelDir, model, signal } = this.#parts;
    const { limits } = call;
    return LocalTrainer.create({
      model: this.#model,
      modelDir,
      steps: limits.steps,
      until: limits.until,
      ...savingOf(options),
      restore: restoreOf(options, isFirst),
      hooks: this.#hooks.all,
      signal,
      session: sessionOptionsOf(options, model.schema.specs, this.#batchSize),
      ...(call.asks && { asks: call.asks }),
      ...(options.settings && { settings: options.settings }),
      ckptInfo: options.ckptInfo === true,
      evictOnSave: options.evictOnSave === true,
      ...(options.denseOnly && { denseOnly: options.denseOnly }),
      ...(options.nanLoss && { nanLoss: options.nanLoss }),
      ...(options.clock && { clock: options.clock }),
      onSaved: (step, saved, ms) => {
        this.#checkpoint = saved.path;
        this.#tell({ event: 'checkpoint', step, path: saved.path, bytes: saved.bytes, ms });
        for (const message of saved.warnings) this.#tell({ event: 'warning', code: 'ML_CKPT_WRITE', message });
      },
      onSaveFailed: (step, { code, message }) => {
        const what = `step ${step} was not saved, the next save tries again: ${message}`;
        this.#tell({ event: 'warning', code, message: what });
      },
    });
  }

  /** Where training stops at the latest; Infinity where nobody knows. */
  #lastStep({ lastStep }: LocalTrainer): number {
    const { epochs } = this.#parts.call.limits;
    if (this.#stepsPerPass === undefined || !Number.isFinite(epochs)) return lastStep;
    return Math.min(lastStep, this.#firstStep + epochs * this.#stepsPerPass);
  }

  #start({ session, startStep, restoreReport, changedSettings, restored }: LocalTrainer, last: number): void {
    const { options, model } = this.#parts;
    if (changedSettings.length > 0) {
      const fields = { path: restored, changes: changedSettings.join('; ') };
      const { code, message } = new MonolithError('ML_CKPT_SETTINGS', fields);
      this.#tell({ event: 'warning', code, message });
    }
    const { backend, backendWhy, device, kernelVariant: kernels, threads } = session;
    this.#tell({
      event: 'start',
      model: model.name,
      ...{ backend, backendWhy, device, kernels, threads, startStep },
      batchSize: this.#batchSize,
      endStep: Number.isFinite(last) ? last : null,
      modelDir: options.modelDir ?? null,
      restored: restoreReport,
    });
  }

  #result(trainer: LocalTrainer, input: CountedInput, seconds: number): TrainResult {
    const { startStep, session } = trainer;
    const step = session.globalStep;
    const examples = input.examplesOf(step - startStep);
    if (input.ended && step === startStep) this.#tell({ event: 'warning', code: 'ML_DATASET', message: NO_ROWS });
    const { progress, evaluation, best } = this.#hooks;
    return {
      step,
      startStep,
      loss: progress.loss,
      seconds,
      examples,
      examplesPerSecond: seconds > 0 ? examples / seconds : 0,
      checkpoint: this.#checkpoint,
      stoppedBy: this.#stoppedBy(trainer, input, step),
      evaluation: evaluation?.latest ?? null,
      best: best?.best ?? null,
    };
  }

  #stoppedBy({ lastStep }: LocalTrainer, input: CountedInput, step: number): StoppedBy {
    const { signal, call } = this.#parts;
    const { limits } = call;
    // The evaluation after the last step may find that it gets no better: that stops nothing any more.
    if (step >= lastStep) return step >= limits.until ? 'until' : 'steps';
    if (signal.aborted) return 'signal';
    if (input.ended) return Number.isFinite(limits.epochs) ? 'epochs' : 'end of data';
    return this.#hooks.stoppedEarly ? 'early stop' : 'hook';
  }

  #tell(event: EstimatorEvent): void {
    const { log: listener } = this.#parts.options;
    if (listener !== undefined) listener(event);
    else if (event.event === 'warning') log.warn(event.message, { code: event.code });
  }
}

/** Without a checkpoint of its own a model begins with that of another, if told; else as the options say. */
function restoreOf({ warmStartFrom, restore }: EstimatorOptions, isFirst: boolean): LocalRestoreOptions {
  if (!isFirst || warmStartFrom === undefined) return restore ?? {};
  const given = typeof warmStartFrom === 'string' ? { from: warmStartFrom } : warmStartFrom;
  return { ...restore, mode: 'warm-start', missing: ['*'], extra: ['*'], globalStep: false, ...given };
}
