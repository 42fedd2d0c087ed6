/** @file Stops after a number of steps, or at a global step; with both, the smaller wins. */
import { checkOptions } from '../../base/check-options.js';
import type { Session } from '../../runtime/session/session.js';
import type { Coordinator } from './coordinator.js';
import type { RunContext, TrainHook } from './hook.js';

/** Stops after a number of steps. */
export class StopAtStepHook implements TrainHook {
  readonly #steps: number;
  readonly #maxSteps: number;
  #last = Number.POSITIVE_INFINITY;

  constructor(options: { readonly steps?: number; readonly maxSteps?: number }) {
    checkOptions('StopAtStepHook', options, ['steps', 'maxSteps']);
    this.#steps = options.steps ?? Number.POSITIVE_INFINITY;
    this.#maxSteps = options.maxSteps ?? Number.POSITIVE_INFINITY;
  }

  /** Global step at which training stops; known once the session exists. */
  get lastStep(): number {
    return this.#last;
  }

  afterCreateSession(session: Session, coordinator: Coordinator): void {
    this.#last = Math.min(session.globalStep + this.#steps, this.#maxSteps);
    // A restored session may be there already: then no step is run at all.
    if (session.globalStep >= this.#last) coordinator.requestStop();
  }

  quietSteps(globalStep: number): number {
    return this.#last - globalStep;
  }

  afterRun(context: RunContext): void {
    if (context.globalStep >= this.#last) context.requestStop();
  }
}
