/** @file Events and results of a training job that never ran, for tests of what is printed of them. */
import type { ProgressEvent, TrainJobOptions, TrainResult } from '../../src/cli/train-job.js';

export function progressEvent(step: number, endStep: number): ProgressEvent {
  return { event: 'progress', step, endStep, loss: 0.5, stepsPerS: 1000, examplesPerS: 64_000, etaS: 1.5 };
}

export function resultOf(options: TrainJobOptions, step: number, interrupted: boolean): TrainResult {
  return {
    step,
    loss: 0.4321,
    auc: 0.75,
    evalLoss: 0.45,
    examplesPerS: 64_000,
    stepsPerS: 1000,
    threads: options.threads,
    backend: options.backend,
    device: 'Fast 9000',
    kernels: 'plain',
    checkpoint: options.modelDir === null ? null : `${options.modelDir}/model.ckpt-${step}`,
    trace: options.trace,
    interrupted,
  };
}
