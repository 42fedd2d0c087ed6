/** @file Pushes parameters while a training runs, to whom a backend names (sync_training_hooks, ParameterSyncHook). */
import { checkOptions } from '../../base/check-options.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { log } from '../../base/log.js';
import type { Graph } from '../../graph/graph.js';
import type { Session } from '../../runtime/session/session.js';
import { recordTouchedRows } from '../../sparse/table/session-touched.js';
import type { EstimatorModel } from '../../train/estimator/estimator-model.js';
import type { RunContext, TrainHook } from '../../train/hooks/hook.js';
import type { SyncBackend } from '../../train/tasks/native-task-context.js';
import { ParameterSyncClient } from './parameter-sync-client.js';
import { openTarget } from './sync-backends.js';
import type { ClientConfig, PushResult } from './sync-target.js';

export interface ParameterSyncOptions {
  /** The model that is trained. */
  readonly model: EstimatorModel;
  /** Seconds between two times that the backend is asked who serves. Default: 100. */
  readonly refreshInterval?: number;
  /** Steps between two pushes. Default: 1, as in the reference; none where seconds are given. */
  readonly everySteps?: number;
  /** Seconds between two pushes. */
  readonly everySecs?: number;
  /** Rows that may change between two pushes; after more everything is pushed. Default: 131072. */
  readonly touchedMax?: number;
  /** Milliseconds that a push to one target may take. Default: 3000. */
  readonly timeoutInMs?: number;
  /** Told what became of each push. */
  readonly onPush?: (result: PushResult & { readonly sequence: number; readonly step: number }) => void;
  readonly clock?: Clock;
}

const REFRESH_SECS = 100;
const TIMEOUT_MS = 3000;
export const TOUCHED_MAX = 1 << 17;
const NUMBERS = ['refreshInterval', 'everySteps', 'everySecs', 'touchedMax', 'timeoutInMs'] as const;

/**
 * Pushes what steps changed to whom the backend names for `ps_<psIndex>`.
 *
 * ```ts
 * const sync = new ParameterSyncHook(backend, 0, { model, everySteps: 10 });
 * ```
 */
export class ParameterSyncHook implements TrainHook {
  readonly #backend: SyncBackend;
  readonly #subGraph: string;
  readonly #options: ParameterSyncOptions;
  readonly #clock: Clock;
  #client: ParameterSyncClient | undefined;
  #config: ClientConfig | undefined;
  #refreshedMs = 0;
  #lastStep = 0;
  #lastMs = 0;

  constructor(syncBackend: SyncBackend, psIndex: number, options: ParameterSyncOptions) {
    checkOptions('ParameterSyncHook', options, ['model', ...NUMBERS, 'onPush', 'clock']);
    checkAboveZero('ParameterSyncHook', options, NUMBERS);
    this.#backend = syncBackend;
    this.#subGraph = `ps_${psIndex}`;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  begin(graph: Graph): void {
    recordTouchedRows(graph, this.#options.touchedMax ?? TOUCHED_MAX);
  }

  /** Whoever serves gets everything before the first step. */
  async afterCreateSession(session: Session): Promise<void> {
    this.#client = new ParameterSyncClient(session, this.#options.model, openTarget);
    this.#config = undefined;
    await this.#push(session);
  }

  quietSteps(globalStep: number): number {
    const every = this.#everySteps;
    return every === undefined ? Number.POSITIVE_INFINITY : Math.max(1, this.#lastStep + every - globalStep);
  }

  async afterRun({ globalStep, session }: RunContext): Promise<void> {
    const every = this.#everySteps;
    if (every !== undefined && globalStep - this.#lastStep >= every) await this.#push(session);
  }

  async poll({ session }: RunContext): Promise<void> {
    const { everySecs } = this.#options;
    if (this.#client!.asked) await this.#client!.resend();
    if (everySecs !== undefined && this.#clock.now() - this.#lastMs >= everySecs * 1000) await this.#push(session);
  }

  /** What was learnt last is told too. */
  async end(session: Session): Promise<void> {
    if (session.globalStep > this.#lastStep) await this.#push(session);
  }

  get #everySteps(): number | undefined {
    const { everySteps, everySecs } = this.#options;
    return everySteps ?? (everySecs === undefined ? 1 : undefined);
  }

  async #push(session: Session): Promise<void> {
    this.#lastStep = session.globalStep;
    this.#lastMs = this.#clock.now();
    const config = await this.#refreshed();
    if (config === undefined) return;
    const { responses } = await this.#client!.push(config);
    this.#options.onPush?.({ responses, sequence: this.#client!.sequence, step: session.globalStep });
  }

  /** Who serves, asked again after a while. Where nobody can tell, it is as it was. */
  async #refreshed(): Promise<ClientConfig | undefined> {
    const { refreshInterval = REFRESH_SECS, timeoutInMs = TIMEOUT_MS } = this.#options;
    const nowMs = this.#clock.now();
    if (this.#config !== undefined && nowMs - this.#refreshedMs < refreshInterval * 1000) return this.#config;
    try {
      const { model: modelName, targets } = await this.#backend.getSyncTargets(this.#subGraph);
      this.#config = { modelName, signatureName: 'hashtable_assign', targets, timeoutInMs };
      this.#refreshedMs = nowMs;
    } catch (error) {
      // At first it is a slip of who set it up, later maybe a server that is away for a while.
      if (this.#config === undefined) throw error;
      log.warn(`Error occurred when synchronizing parameter: ${messageOf(error)}`, { target: this.#subGraph });
    }
    return this.#config;
  }
}

/** ML_OPTION for a number that has to be above 0 and is not. */
export function checkAboveZero<N extends string>(
  where: string,
  options: { readonly [K in N]?: number },
  names: readonly N[],
): void {
  for (const name of names) {
    const value = options[name];
    if (value === undefined || value > 0) continue;
    throw new MonolithError('ML_OPTION', { where, option: name, reason: `${name} is above 0, not ${value}` });
  }
}
