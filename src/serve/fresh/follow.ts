/**
 * @file A served model that follows a training: deltas are applied in their order, a few rows at a time between two
 * batches. One that is lost, comes again or in another order is noticed; where one is missing, a whole version is asked
 * for and taken.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import type { ServeMetrics } from '../online/serve-metrics.js';
import type { ServedModel } from '../online/served-model.js';
import type { ServedVersion } from '../online/served-version.js';
import { applyDelta } from './apply-delta.js';
import { type Delta, deltasIn, type FreshState, freshState, RESEND_FILE, readDelta } from './delta-files.js';
import { rowsOf } from './sync-target.js';

export type FollowEvent =
  | {
      readonly event: 'delta';
      readonly model: string;
      readonly sequence: number;
      readonly step: number;
      readonly rows: number;
      readonly ms: number;
    }
  | { readonly event: 'behind'; readonly model: string; readonly sequence: number; readonly reason: string };

export interface FollowOptions {
  readonly metrics?: ServeMetrics;
  readonly log?: (event: FollowEvent) => void;
}

/**
 * Keeps a served model as a training leaves it.
 *
 * ```ts
 * const taste = await ServedModel.open('taste', 'export/taste');
 * const follower = new Follower(taste);
 * follower.start(200);
 * ```
 */
export class Follower {
  readonly #model: ServedModel;
  readonly #options: FollowOptions;
  readonly #states = new WeakMap<ServedVersion, FreshState>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(model: ServedModel, options: FollowOptions = {}) {
    this.#model = model;
    this.#options = options;
  }

  /** Looks for deltas every so many milliseconds. */
  start(pollMs: number): void {
    this.#timer = setInterval(() => void this.refresh(), pollMs);
    this.#timer.unref();
  }

  /** The newest delta that answers have; null of a version that no training keeps fresh. */
  get sequence(): number | null {
    return this.#state(this.#model.current)?.sequence ?? null;
  }

  /** Applies the deltas that are there. One look at a time. */
  refresh(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { dir, name } = this.#model;
    const { metrics, log } = this.#options;
    try {
      for (const { sequence, file } of deltasIn(dir)) {
        if (this.#closed) return;
        const version = this.#model.current;
        const state = this.#state(version);
        if (state === null) return;
        if (sequence <= state.sequence) continue;
        if (sequence > state.sequence + 1) {
          const reason = `after delta ${state.sequence} comes ${sequence}`;
          throw new MonolithError('ML_RELOAD', { version: version.version, model: name, reason });
        }
        const start = performance.now();
        const delta = await version.use(() => this.#apply(version, state, file));
        if (delta === null) continue;
        const rows = rowsOf(delta);
        metrics?.add('monolith_deltas_total', { model: name, result: 'applied' });
        metrics?.set('monolith_delta_sequence', { model: name }, sequence);
        log?.({ event: 'delta', model: name, sequence, step: delta.step, rows, ms: performance.now() - start });
      }
    } catch (error) {
      await this.#behind(messageOf(error));
    }
  }

  /** Takes a newer whole version, or asks the training for one. */
  async #behind(reason: string): Promise<void> {
    const { dir, name, current } = this.#model;
    const { metrics, log } = this.#options;
    metrics?.add('monolith_deltas_total', { model: name, result: 'refused' });
    log?.({ event: 'behind', model: name, sequence: this.sequence ?? 0, reason });
    await this.#model.refresh();
    if (this.#model.current !== current) return;
    try {
      await writeFile(join(dir, RESEND_FILE), '');
    } catch (cause) {
      // The folder is gone, or may not be written: the next look tells it again.
      log?.({ event: 'behind', model: name, sequence: this.sequence ?? 0, reason: messageOf(cause) });
    }
  }

  #state(version: ServedVersion): FreshState | null {
    let state: FreshState | null | undefined = this.#states.get(version);
    if (state === undefined) {
      state = freshState(version.model.dir);
      if (state !== null) this.#states.set(version, state);
    }
    return state;
  }

  /** Null where the delta was of a version that is not the one in use any more. */
  async #apply(version: ServedVersion, state: FreshState, file: string): Promise<Delta | null> {
    const { model } = version;
    const delta = await readDelta(file, model.portableTables);
    if (delta.run !== state.run || delta.sequence !== state.sequence + 1) {
      const wanted = `${state.sequence + 1} of ${state.run}`;
      const reason = `the file is delta ${delta.sequence} of run ${delta.run}, not ${wanted}`;
      throw new MonolithError('ML_RELOAD', { version: version.version, model: this.#model.name, reason });
    }
    if (version !== this.#model.current) return null;
    await applyDelta(model, delta);
    this.#states.set(version, { run: delta.run, sequence: delta.sequence });
    return delta;
  }
}
