/** @file A training job that only pretends, for tests of the command around it. */
import type { ProgressEvent, StartEvent, TrainJob, TrainJobOptions, TrainResult } from '../../src/cli/train-job.js';

export function startEvent(options: TrainJobOptions): StartEvent {
  const { model, data, backend, threads, batchSize, steps, modelDir } = options;
  return { event: 'start', model, data, backend, threads, batchSize, steps, startStep: 0, modelDir, restored: null };
}

export function progressEvent(step: number, endStep: number): ProgressEvent {
  return { event: 'progress', step, endStep, loss: 0.5, stepsPerS: 1000, examplesPerS: 64_000, etaS: 1.5 };
}

export function resultOf(options: TrainJobOptions, step: number, interrupted: boolean): TrainResult {
  return {
    step,
    loss: 0.4321,
    auc: 0.75,
    examplesPerS: 64_000,
    stepsPerS: 1000,
    threads: options.threads,
    backend: options.backend,
    checkpoint: options.modelDir === null ? null : `${options.modelDir}/model.ckpt-${step}`,
    trace: options.trace,
    interrupted,
  };
}

/** Counts to the last step, one turn of the event loop per step, and stops when asked to. */
export const countingJob: TrainJob = async (options, onEvent) => {
  onEvent(startEvent(options));
  let step = 0;
  while (step < options.steps && !options.signal.aborted) {
    step++;
    onEvent(progressEvent(step, options.steps));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return resultOf(options, step, step < options.steps);
};
