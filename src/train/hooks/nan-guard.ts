/** @file Fails the job when the loss is not a number (§3.1: NanLossDuringTraining). */
import { MonolithError } from '../../base/errors.js';
import type { Tensor } from '../../graph/graph.js';
import type { FetchValue } from '../../runtime/fetch.js';
import type { Fetch } from '../../runtime/session.js';
import type { RunContext, TrainHook } from '../hook.js';

export class NanGuardHook implements TrainHook {
  readonly #fetches: readonly Fetch[];

  constructor(loss: Tensor) {
    this.#fetches = [loss];
  }

  /** A few steps more do no harm: the job fails at the step that went wrong, before anything is saved. */
  quietSteps(): number {
    return Number.POSITIVE_INFINITY;
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  afterRun(context: RunContext, [loss]: readonly FetchValue[]): void {
    if (Number.isNaN(loss)) {
      throw new MonolithError(
        'ML_NAN_LOSS',
        { step: context.globalStep },
        { hint: 'lower the learning rate, or look for NaN in the input' },
      );
    }
  }
}
