/** @file Trains the model of a recipe in one way or another; what comes out are bytes to compare. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MonolithError } from '../../src/base/errors.js';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { loadBatches } from '../../src/data/resident-batches.js';
import { LocalRows, type RowStore } from '../../src/runtime/session/row-store.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { sessionRegion } from '../../src/runtime/session/session-handle.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { TouchedPairSet } from '../../src/sparse/table/touched-pair-set.js';
import { quick, treeOf } from '../checkpoint/helpers.js';
import { stream } from '../kernels/both.js';
import { withSession } from '../runtime/with-session.js';
import { buildModel, type Model, NOW_SEC, STEPS } from './model.js';
import { chosen, has, type Recipe } from './recipe.js';

/** A way to train. */
export interface Way {
  readonly threads: number;
  /** Threads after the resume; `threads` unless told. */
  readonly threadsAfter?: number;
  readonly deterministic?: boolean;
  readonly backend?: SessionOptions['backend'];
  /** Steps in groups of random length in place of one by one. */
  readonly groups?: boolean;
  /** Tables over several memories in place of one. */
  readonly banks?: boolean;
  /** Save after so many steps and go on in another session. */
  readonly resumeAt?: number;
  /** The step cut where rows come in and gradients go out: by the threads alone, or with calls in between. */
  readonly cut?: 'local' | 'served';
  /** How many the calls are made to as if they had the rows. Default: 1. */
  readonly owners?: number;
  readonly prefetch?: number;
  readonly postpush?: boolean;
  /** Save in passing after so many steps. */
  readonly saveAt?: number;
  /** Examples that a batch may have beyond those it has. */
  readonly batchRoom?: number;
  /** Buffers of ids begin with room for next to none. */
  readonly grows?: boolean;
  /** Of the session; the recipe's unless told. */
  readonly seed?: number;
}

/** What two runs must agree in. */
export interface Outcome {
  readonly losses: readonly number[];
  /** Digest of each file of the model directory. */
  readonly files: Readonly<Record<string, string>>;
  /** Ids touched, sorted, when somebody kept them and the run was not interrupted. */
  readonly touched?: string;
  /** The code of the error that ended the run, and the step. */
  readonly failed?: string;
}

const MODEL_NAME = 'random';
const TABLE_BYTES = 2 << 20;
/** Three memories for the same budget. */
const BANKS = { tableBytes: 24 << 20, bankBytes: (8 << 20) + 65536 };

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Rows of the session's own tables, asked for from outside the threads. */
const local = new LocalRows();
const served = (owners: number): RowStore => ({
  owners,
  pull: (lease) => local.pull(lease),
  push: (lease) => local.push(lease),
});

class Run {
  readonly losses: number[] = [];
  readonly #recipe: Recipe;
  readonly #model: Model;
  readonly #way: Way;

  constructor(recipe: Recipe, way: Way) {
    this.#recipe = recipe;
    this.#model = buildModel(recipe, way.grows);
    this.#way = way;
  }

  async all(dir: string): Promise<Outcome> {
    const { resumeAt, threads, threadsAfter = threads } = this.#way;
    const last = join(dir, 'last');
    let touched: string | undefined;
    try {
      if (resumeAt === undefined) {
        touched = await this.#session(threads, async (session) => {
          const set = this.#prepare(session, true);
          const { saveAt = 0 } = this.#way;
          await this.#steps(session, 0, saveAt);
          if (saveAt > 0) await this.#save(session, join(dir, 'first'));
          await this.#steps(session, saveAt, STEPS);
          await this.#save(session, last);
          return set === undefined ? undefined : [...set.stealPairs().ids].sort().join();
        });
      } else {
        const path = await this.#session(threads, async (session) => {
          this.#prepare(session, true);
          await this.#steps(session, 0, resumeAt);
          return this.#save(session, join(dir, 'first'));
        });
        await this.#session(threadsAfter, async (session) => {
          this.#prepare(session, false);
          await restoreSession(session, await loadCheckpoint(path, { expect: snapshotSession(session, MODEL_NAME) }));
          await this.#steps(session, resumeAt, STEPS);
          await this.#save(session, last);
        });
      }
    } catch (error) {
      // A table that is full and may not go on ends the run: then that is the outcome.
      if (!(error instanceof MonolithError) || chosen(this.#recipe, 'full') === undefined) throw error;
      return { losses: this.losses, files: {}, failed: `${error.code} in step ${this.losses.length}` };
    }
    const files = Object.fromEntries(Object.entries(treeOf(last)).map(([name, hex]) => [name, digest(hex)]));
    return { losses: this.losses, files, ...(touched !== undefined && { touched: digest(touched) }) };
  }

  #session<T>(threads: number, body: (session: Session) => Promise<T>): Promise<T> {
    const { deterministic = false, backend = 'wasm', banks = false, batchRoom = 0 } = this.#way;
    const { cut, owners = 1, prefetch = 0, postpush = false } = this.#way;
    const whenFull = chosen(this.#recipe, 'full');
    const { graph, batchSize } = this.#model;
    const options = {
      batchSize: batchSize + batchRoom,
      threads,
      deterministic,
      backend,
      memoryBytes: 40 << 20,
      seed: this.#way.seed ?? this.#recipe.seed,
      ...(whenFull !== undefined && { tablePolicy: { whenFull }, tableBytes: TABLE_BYTES }),
      ...(banks && BANKS),
      ...(cut !== undefined && { rows: cut === 'local' ? new LocalRows() : served(owners) }),
      prefetch,
      postpush,
    };
    return withSession(graph, options, body);
  }

  /** Tables with their rows from before, and the set that keeps touched ids. */
  #prepare(session: Session, fresh: boolean): TouchedPairSet | undefined {
    const { tables, rowsBefore } = this.#model;
    const set = has(this.#recipe, 'touched')
      ? new TouchedPairSet({ ...sessionRegion(session), capacity: 50_000, concurrencyLevel: 16 })
      : undefined;
    for (const [tableIndex, config] of tables.entries()) {
      const table = HashTable.of(session, config, set === undefined ? {} : { touchedKeys: { set, tableIndex } });
      if (!fresh) continue;
      // As often as a filter wants to see an id before it has a row.
      const times = has(this.#recipe, 'filter') ? 4 : 1;
      for (const [i, timeSec] of rowsBefore.timesSec.entries()) {
        const values = new Float32Array(table.dim).fill(0.01 * (i % 7));
        for (let time = 0; time < times; time++) table.assign(rowsBefore.ids.subarray(i, i + 1), values, { timeSec });
      }
    }
    return set;
  }

  async #steps(session: Session, from: number, to: number): Promise<void> {
    const { loss, trainOp, batches, evictAt, tables } = this.#model;
    const fetches = [loss, trainOp];
    const addresses = loadBatches(session, batches);
    const next = stream(this.#recipe.seed + 5);
    const most = this.#way.groups ? session.stepsAheadMax(fetches) : 1;
    for (let step = from; step < to; ) {
      if (step === evictAt) for (const config of tables) HashTable.of(session, config).evict(NOW_SEC);
      const limit = evictAt !== undefined && evictAt > step ? Math.min(to, evictAt) : to;
      const count = Math.max(1, Math.min(limit - step, most, 1 + Math.floor(next() * STEPS)));
      const ahead = addresses.slice(step + count, limit);
      const values = await session.runSteps(fetches, addresses.slice(step, step + count), ahead);
      for (const [value] of values) this.losses.push(value as number);
      step += count;
    }
  }

  async #save(session: Session, dir: string): Promise<string> {
    const { path } = await saveCheckpoint(dir, snapshotSession(session, MODEL_NAME), quick());
    return path;
  }
}

/** Trains and saves; the files are gone when it is done. */
export async function train(recipe: Recipe, way: Way): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-determinism-'));
  try {
    return await new Run(recipe, way).all(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** What differs between two outcomes, or undefined. */
export function difference(a: Outcome, b: Outcome): string | undefined {
  // The step at which a full memory ends a run is not promised: indexes that grow at the same time need more.
  const isFull = [a, b].some(({ failed }) => failed?.startsWith('ML_MEMORY'));
  if (isFull) {
    const both = Math.min(a.losses.length, b.losses.length);
    const step = a.losses.slice(0, both).findIndex((loss, i) => !Object.is(loss, b.losses[i]));
    return step < 0 ? undefined : `the loss of step ${step} differs`;
  }
  if (a.failed !== b.failed)
    return `one run ended with ${a.failed ?? 'success'}, the other with ${b.failed ?? 'success'}`;
  const step = a.losses.findIndex((loss, i) => !Object.is(loss, b.losses[i]));
  if (step >= 0 || a.losses.length !== b.losses.length) return `the loss of step ${step} differs`;
  const names = [...new Set([...Object.keys(a.files), ...Object.keys(b.files)])].sort();
  const files = names.filter((name) => a.files[name] !== b.files[name]);
  if (files.length > 0) return `${files.join(', ')} differ`;
  if (a.touched !== undefined && b.touched !== undefined && a.touched !== b.touched) return 'the touched ids differ';
  return undefined;
}
