/**
 * @file Sessions that evaluate or predict with a checkpoint. One of each kind stays open between calls, and takes over
 * a newer checkpoint when nobody uses it; who is at work with an older one goes on with that.
 */
import { MonolithError } from '../../base/errors.js';
import { restoreSession } from '../../checkpoint/restore-session.js';
import type { Mode } from '../../graph/mode.js';
import { Session, type SessionOptions } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import { type BuiltModel, buildIn, type EstimatorModel } from './estimator-model.js';

/** What is wanted of a session. */
export interface ReadingOptions {
  readonly mode: Exclude<Mode, 'train'>;
  readonly batchSize: number;
  /** Prefix of the checkpoint. */
  readonly checkpoint: string;
}

/** Longest time that a timer takes. */
const TIMEOUT_MAX = 2 ** 31 - 1;

/** A session in use. */
export interface Reading {
  readonly session: Session;
  readonly model: BuiltModel;
  /** Global step of the checkpoint; null when it has none. */
  readonly step: number | null;
  release(): Promise<void>;
}

interface Open {
  readonly session: Session;
  readonly model: BuiltModel;
  checkpoint: string;
  step: number | null;
  users: number;
  /** Whether others may come to use it. */
  isCurrent: boolean;
  /** Ends it when nobody has come for a while. */
  idle: NodeJS.Timeout | undefined;
}

export class ReadingSessions {
  readonly #model: EstimatorModel;
  readonly #idleSeconds: number;
  readonly #optionsFor: (batchSize: number) => SessionOptions;
  /** By mode and size of a batch. */
  readonly #current = new Map<string, Open>();
  readonly #all = new Set<Session>();
  /** Ends of what was asked for last: sessions are opened and restored one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(model: EstimatorModel, idleSeconds: number, optionsFor: (batchSize: number) => SessionOptions) {
    this.#model = model;
    this.#idleSeconds = idleSeconds;
    this.#optionsFor = optionsFor;
  }

  /** A session that has this checkpoint, until it is released. */
  use(options: ReadingOptions): Promise<Reading> {
    const result = this.#turn.then(async () => {
      if (this.#closed) throw new MonolithError('ML_CLOSED', { what: 'the estimator' });
      const open = await this.#opened(options);
      open.users++;
      clearTimeout(open.idle);
      return { session: open.session, model: open.model, step: open.step, release: () => this.#release(open) };
    });
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #opened({ mode, batchSize, checkpoint }: ReadingOptions): Promise<Open> {
    const key = `${mode} ${batchSize}`;
    const found = this.#current.get(key);
    if (found?.checkpoint === checkpoint) return found;
    if (found !== undefined && found.users === 0) return this.#renew(key, found, checkpoint);
    if (found !== undefined) found.isCurrent = false;
    const model = buildIn(this.#model, mode);
    const session = await Session.create(model.graph, this.#optionsFor(batchSize));
    this.#all.add(session);
    try {
      const { step } = await restoreSession(session, checkpoint, { mode: 'subset' });
      const open = { session, model, checkpoint, step, users: 0, isCurrent: true, idle: undefined };
      this.#current.set(key, open);
      return open;
    } catch (error) {
      await this.#end(session);
      throw error;
    }
  }

  async #end(session: Session): Promise<void> {
    this.#all.delete(session);
    await session.close();
  }

  /** A restore that fails leaves the session as it was. */
  async #renew(key: string, open: Open, checkpoint: string): Promise<Open> {
    try {
      const { step } = await restoreSession(open.session, checkpoint, { mode: 'subset' });
      return Object.assign(open, { checkpoint, step });
    } catch (error) {
      this.#current.delete(key);
      await this.#end(open.session);
      throw error;
    }
  }

  async #release(open: Open): Promise<void> {
    open.users--;
    if (open.users > 0) return;
    if (open.isCurrent && !this.#closed && !isCrowded(open.session) && this.#idleSeconds > 0) this.#endLater(open);
    else await this.#drop(open);
  }

  /** The threads of a session keep the process alive: a program that forgets to close its estimator ends after this. */
  #endLater(open: Open): void {
    if (this.#idleSeconds * 1000 > TIMEOUT_MAX) return;
    const drop = () => {
      // Taken in turn, so that nobody is handed a session that is being closed.
      this.#turn = this.#turn.then(async () => {
        if (open.users === 0) await this.#drop(open);
      });
    };
    open.idle = setTimeout(drop, this.#idleSeconds * 1000).unref();
  }

  async #drop(open: Open): Promise<void> {
    for (const [key, current] of this.#current) if (current === open) this.#current.delete(key);
    await this.#end(open.session);
  }

  /** Ends all of them: who is at work with one gets ML_CLOSED. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn;
    for (const { idle } of this.#current.values()) clearTimeout(idle);
    this.#current.clear();
    for (const session of [...this.#all]) await this.#end(session);
  }
}

/** Whether inputs that were opened in the session have left too little of its memory for more of them. */
function isCrowded(session: Session): boolean {
  const { arena } = coreOf(session);
  return arena.free < arena.used;
}
