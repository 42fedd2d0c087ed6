/**
 * @file Saves of a job of several workers: they stop at the barrier meanwhile, and each keeps the place of its input
 * (native_training/hooks/ckpt_hooks).
 */
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import type { InputState } from '../../base/input-state.js';
import { log } from '../../base/log.js';
import { getCheckpointState, writeState } from '../../checkpoint/checkpoint-state-reader.js';
import { checkpointPrefix } from '../../checkpoint/names.js';
import { BundleReader, writeTensorBundle } from '../../io/tensor-bundle.js';
import type { Session } from '../../runtime/session/session.js';
import type { BarrierCallback, BarrierOp } from '../hooks/barrier.js';
import type { ControlKv } from '../hooks/control-kv.js';
import type { TrainHook } from '../hooks/hook.js';
import { inputStateOf, restoreInputState } from '../hooks/input-state.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';

/** What workers meet for at a barrier when all of them save. */
export const SAVE_ACTION = 'Save';
/** Where workers find the step that is saved. */
const INFO = 'ckpt_hooks/worker_ckpt_info';

export interface BarrierSaverOptions {
  /** Where the step is told to workers; without it their inputs are not kept. */
  readonly kv?: ControlKv;
  /** Seconds between two looks. Default: 1. */
  readonly waitSeconds?: number;
  /** Seconds after which it saves although workers are running. Default: 30. */
  readonly maxPendingSeconds?: number;
  readonly clock?: Clock;
}

/** For the chief, as a guard of saves: has all workers wait at the barrier while it saves. */
export class BarrierSaverListener implements CheckpointSaverListener {
  readonly #barrier: BarrierOp;
  readonly #options: BarrierSaverOptions;
  #isOurs = false;

  constructor(barrier: BarrierOp, options: BarrierSaverOptions = {}) {
    checkOptions('BarrierSaverListener', options, ['kv', 'waitSeconds', 'maxPendingSeconds', 'clock']);
    this.#barrier = barrier;
    this.#options = options;
  }

  async beforeSave(_session: Session, step: number): Promise<void> {
    const { kv, waitSeconds = 1, maxPendingSeconds = 30, clock = systemClock } = this.#options;
    await kv?.setString(INFO, String(step));
    try {
      await this.#barrier.placeBarrier(SAVE_ACTION);
      this.#isOurs = true;
    } catch (error) {
      if (!(error instanceof MonolithError) || error.code !== 'ML_BARRIER_PLACED') throw error;
      log.info('the barrier is placed already, by somebody else', { step });
    }
    const endMs = clock.now() + maxPendingSeconds * 1000;
    while (!(await this.#barrier.isAllBlocked()) && clock.now() < endMs) await clock.sleep(waitSeconds * 1000);
    const running = await this.#barrier.getUnblockedIndices();
    if (running.length > 0) log.warn(`Unblocked worker indices: {${running.join(', ')}}.`, { step });
    else log.info('All workers have been blocked.', { step });
  }

  async afterSave(): Promise<void> {
    if (!this.#isOurs) return;
    this.#isOurs = false;
    await this.#barrier.removeBarrier();
  }
}

let enabled = true;
let helpers = 0;

/** Has workers keep nothing of their inputs; before there is any helper. */
export function disableIteratorSaveRestore(): void {
  if (helpers > 0) {
    throw new MonolithError('ML_SAVER', {
      reason: 'disableIteratorSaveRestore comes before the first WorkerCkptHelper',
    });
  }
  enabled = false;
}

/**
 * For every worker, the chief too: `callback` is for the barrier and keeps the place of the input whenever all are
 * saved; the hook goes on from it.
 */
export class WorkerCkptHelper implements TrainHook {
  readonly #modelDir: string;
  readonly #index: number;
  readonly #kv: ControlKv;
  #session: Session | undefined;

  constructor(modelDir: string, index: number, kv: ControlKv) {
    this.#modelDir = modelDir;
    this.#index = index;
    this.#kv = kv;
    helpers++;
  }

  readonly callback: BarrierCallback = async (action) => {
    if (!enabled || action !== SAVE_ACTION || this.#session === undefined) return;
    const state = await inputStateOf(this.#session);
    if (state === undefined) {
      const reason = 'the input has no saveState';
      log.warn(`Current dataset iterators don't support save. This might be expected. ${reason}`);
      return;
    }
    const prefix = checkpointPrefix(join(this.#modelDir, `${this.#base}.ckpt`), Number(await this.#kv.getString(INFO)));
    const text = new TextEncoder().encode(JSON.stringify(state));
    await writeTensorBundle(prefix, [{ name: TENSOR, dtype: 'string', shape: [], data: [text] }]);
    await writeState(
      this.#modelDir,
      { modelCheckpointPath: prefix, allModelCheckpointPaths: [prefix] },
      `checkpoint_${this.#base}`,
    );
  };

  async afterCreateSession(session: Session): Promise<void> {
    this.#session = session;
    const state = enabled ? await this.#latest() : undefined;
    if (state === undefined) log.info('Skipped worker ckpt restore.', { index: this.#index });
    else restoreInputState(session, state);
  }

  get #base(): string {
    return `input_worker_${this.#index}`;
  }

  async #latest(): Promise<InputState | undefined> {
    const state = await getCheckpointState(this.#modelDir, { filename: `checkpoint_${this.#base}` });
    if (state === null) return undefined;
    try {
      const [text] = new BundleReader(state.modelCheckpointPath).read(TENSOR).data as readonly Uint8Array[];
      return JSON.parse(new TextDecoder().decode(text)) as InputState;
    } catch (cause) {
      throw new MonolithError('ML_CKPT_READ', { file: state.modelCheckpointPath, reason: messageOf(cause) }, { cause });
    }
  }
}

const TENSOR = 'input_state';
