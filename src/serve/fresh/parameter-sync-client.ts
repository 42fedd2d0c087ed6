/**
 * @file Pushes what a training learnt to whoever serves it (native_training, ParameterSyncClient).
 *
 * All targets get the same deltas in the same order. One that is new, that failed, or that asks for it gets everything.
 */
import { MonolithError, messageOf } from '../../base/errors.js';
import { log } from '../../base/log.js';
import type { Session } from '../../runtime/session/session.js';
import type { EstimatorModel } from '../../train/estimator/estimator-model.js';
import type { Delta } from './delta-files.js';
import { DeltaSource } from './delta-source.js';
import type { ClientConfig, PushResponse, PushResult, SyncTarget } from './sync-target.js';

/** The limit of everything, and of what changed where nobody says one. */
const WHOLE_MS = 60_000;
const PUSH_MS = 1000;
/** Status codes of gRPC. */
const [DEADLINE_EXCEEDED, FAILED_PRECONDITION, INTERNAL] = [4, 9, 13];

interface Held {
  readonly address: string;
  readonly target: SyncTarget;
  /** Whether it lacks something that no later delta has. */
  behind: boolean;
}

/** Makes the target of an address. */
export type OpenTarget = (address: string) => SyncTarget;

/** Pushes what the steps of one session change; ParameterSyncHook calls it while a training runs. */
export class ParameterSyncClient {
  readonly #source: DeltaSource;
  readonly #open: OpenTarget;
  #held: readonly Held[] = [];

  /** The graph of the session was told to record its touched rows. ML_EXPORT for a model that cannot be served. */
  constructor(session: Session, model: EstimatorModel, open: OpenTarget) {
    this.#source = new DeltaSource(session, model);
    this.#open = open;
  }

  /** The newest delta. */
  get sequence(): number {
    return this.#source.sequence;
  }

  /** Whether a target asks for everything. */
  get asked(): boolean {
    return this.#held.some(({ target }) => target.asks);
  }

  /** Pushes what changed since the last call. A target that fails is told of, and gets everything the next time. */
  async push({ targets, timeoutInMs = PUSH_MS }: ClientConfig): Promise<PushResult> {
    this.#keep(targets);
    if (this.#held.length === 0) return { responses: [] };
    const delta = await this.#next();
    const responses: PushResponse[] = [];
    for (const held of this.#held) responses.push(await this.#pushTo(held, delta, timeoutInMs));
    return { responses };
  }

  /** Sends everything to those that ask for it. */
  async resend(): Promise<void> {
    for (const held of this.#held) if (held.target.asks) await this.#pushTo(held, null, PUSH_MS);
  }

  /** Where nobody has anything yet, there is no delta to tell. */
  async #next(): Promise<Delta | null> {
    if (this.#held.some(({ behind }) => !behind)) return this.#source.next();
    await this.#source.forget();
    return null;
  }

  #keep(addresses: readonly string[]): void {
    const known = new Map(this.#held.map((held) => [held.address, held]));
    this.#held = [...new Set(addresses)].map(
      (address) => known.get(address) ?? { address, target: this.#open(address), behind: true },
    );
  }

  async #pushTo(held: Held, delta: Delta | null, timeoutMs: number): Promise<PushResponse> {
    const { address, target } = held;
    let [updateNum, bytes] = [0, 0];
    try {
      if (delta !== null && !held.behind) {
        const pushed = await within(timeoutMs, (signal) => target.push(delta, signal));
        [updateNum, bytes] = [pushed.rows, pushed.bytes];
      }
      if (held.behind || delta === null || target.asks) {
        const pushed = await this.#source.whole((all) => within(WHOLE_MS, (signal) => target.whole(all, signal)));
        updateNum += pushed.rows;
      }
      held.behind = false;
      return { statusCode: 0, errorMessage: '', target: address, updateNum, bytes };
    } catch (error) {
      held.behind = true;
      const errorMessage = messageOf(error);
      log.warn(`Error occurred when synchronizing parameter: ${errorMessage}`, { target: address });
      return { statusCode: codeOf(error), errorMessage, target: address, updateNum: 0, bytes: 0 };
    }
  }
}

async function within<T>(timeoutMs: number, body: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await body(signal);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new MonolithError('ML_DEADLINE', { what: 'a push of parameters', timeoutMs }, { cause });
  }
}

function codeOf(error: unknown): number {
  if (!(error instanceof MonolithError)) return INTERNAL;
  if (error.code === 'ML_DEADLINE') return DEADLINE_EXCEEDED;
  return error.code === 'ML_MODEL' ? FAILED_PRECONDITION : INTERNAL;
}
