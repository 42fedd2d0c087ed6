/**
 * @file Stops or saves a job of several workers on request (native_training/hooks/controller_hooks).
 *
 * Two flags are shared: one asks for a stop, one for a save. The chief has a ControllerHook, which looks at them once
 * per group of steps. For a stop it places the barrier with the action `Stop`, waits until all workers are blocked at
 * it, and lets them go; each, told of the action by a StopHelper, has asked its own session to stop by then.
 */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError } from '../../base/errors.js';
import { log } from '../../base/log.js';
import type { Session } from '../../runtime/session/session.js';
import type { BarrierOp } from './barrier.js';
import type { ControlKv } from './control-kv.js';
import type { Coordinator } from './coordinator.js';
import type { RunContext, TrainHook } from './hook.js';

/** The action of a barrier that workers stop at. */
export const STOP_ACTION = 'Stop';

const VECTOR = 'controller_hook/control_var';
const [STOP, SAVE] = [0, 1] as const;
const WAIT_MS = 30_000;
const POLL_MS = 2_000;

export interface ControllerOptions {
  readonly kv: ControlKv;
  /** Where workers are stopped. Without one, only this session stops. */
  readonly barrier?: BarrierOp;
  /** Saves at once, as `triggerSave` of CheckpointSaverHook does. Without it a save is refused in the log. */
  readonly triggerSave?: (context: RunContext) => Promise<void>;
  readonly clock?: Clock;
}

/** Asks the controller of a job for a stop, or for a save. */
export class ControllerFlags {
  readonly #kv: ControlKv;

  constructor(kv: ControlKv) {
    this.#kv = kv;
  }

  async requestStop(): Promise<void> {
    await this.#kv.setBool(VECTOR, STOP, true);
  }

  async requestSave(): Promise<void> {
    await this.#kv.setBool(VECTOR, SAVE, true);
  }
}

/** For the chief of a job of several workers, whom it stops or has saved when ControllerFlags ask for it. */
export class ControllerHook implements TrainHook {
  readonly #options: ControllerOptions;

  constructor(options: ControllerOptions) {
    this.#options = checkOptions('ControllerHook', options, ['kv', 'barrier', 'triggerSave', 'clock']);
  }

  async poll(context: RunContext): Promise<void> {
    const { kv, triggerSave } = this.#options;
    if (await kv.compareAndSet(VECTOR, SAVE, true, false)) {
      if (triggerSave === undefined) log.warn('a save was asked for, and nobody saves', { step: context.globalStep });
      else await triggerSave(context);
    }
    if (await kv.compareAndSet(VECTOR, STOP, true, false)) await this.#stop(context);
  }

  /** A barrier that stands already, for a save, is waited for by the next look. */
  async #stop(context: RunContext): Promise<void> {
    const { kv, barrier, clock = systemClock } = this.#options;
    if (barrier === undefined) {
      context.requestStop();
      return;
    }
    try {
      await barrier.placeBarrier(STOP_ACTION);
    } catch (error) {
      if (!(error instanceof MonolithError) || error.code !== 'ML_BARRIER_PLACED') throw error;
      await kv.setBool(VECTOR, STOP, true);
      return;
    }
    const endMs = clock.now() + WAIT_MS;
    while (!(await barrier.isAllBlocked()) && clock.now() < endMs) await clock.sleep(POLL_MS);
    log.info('the job stops', { unblocked: await barrier.getUnblockedIndices() });
    await barrier.removeBarrier();
  }
}

/** Stops the sessions of chief and workers: `callback` is for the barrier, and asks for a stop at the action `Stop`. */
export class StopHelper implements TrainHook {
  #coordinator: Coordinator | undefined;

  readonly callback = (action: string): void => {
    if (action === STOP_ACTION) this.#coordinator?.requestStop();
  };

  afterCreateSession(_session: Session, coordinator: Coordinator): void {
    this.#coordinator = coordinator;
  }
}
