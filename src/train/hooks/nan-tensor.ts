/** @file Looks for NaN in a tensor of every step, mostly the loss, and fails the job or tells of it. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { Tensor } from '../../graph/graph.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch } from '../../runtime/session/session.js';
import type { RunContext, TrainHook } from './hook.js';

export interface NanTensorOptions {
  /**
   * `fail` ends training with ML_NAN_LOSS (NanLossDuringTraining). `log` goes on: `onNan` is told of every such
   * step, and a checkpoint may hold what came of it. Default: `fail`.
   */
  readonly policy?: 'fail' | 'log';
  /** With `log`: what to do about a step. Default: a warning of the process, for the first one only. */
  readonly onNan?: (error: MonolithError) => void;
}

/**
 * Looks for NaN in a tensor of every step and fails the training, or tells of it.
 *
 * ```ts
 * const hook = new NanTensorHook(loss, { policy: 'log', onNan: (error) => console.warn(error.message) });
 * ```
 */
export class NanTensorHook implements TrainHook {
  readonly #fetches: readonly Fetch[];
  readonly #fails: boolean;
  readonly #onNan: (error: MonolithError) => void;
  #warned = false;

  constructor(tensor: Tensor, options: NanTensorOptions = {}) {
    checkOptions('NanTensorHook', options, ['policy', 'onNan']);
    this.#fetches = [tensor];
    this.#fails = (options.policy ?? 'fail') === 'fail';
    this.#onNan = options.onNan ?? ((error) => this.#warnOnce(error));
  }

  /** A few steps more do no harm: the job fails at the step that went wrong, before anything is saved. */
  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  afterRun(context: RunContext, [value]: readonly FetchValue[]): void {
    if (!hasNan(value)) return;
    const hint = 'lower the learning rate, or look for NaN in the input';
    const error = new MonolithError('ML_NAN_LOSS', { step: context.globalStep }, { hint });
    if (this.#fails) throw error;
    this.#onNan(error);
  }

  #warnOnce({ message, code, hint }: MonolithError): void {
    if (!this.#warned) process.emitWarning(message, { code, ...(hint !== undefined && { detail: hint }) });
    this.#warned = true;
  }
}

function hasNan(value: FetchValue): boolean {
  return typeof value === 'number' ? Number.isNaN(value) : value instanceof Float32Array && value.some(Number.isNaN);
}
