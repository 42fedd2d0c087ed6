/**
 * @file An embedding hash table of a session, as the main thread sees it: layout, size, lookup, iteration, restore.
 *
 * Training goes through the graph ops of embedding-ops.ts; the calls here run on the main thread between steps.
 */
import { MonolithError } from '../base/errors.js';
import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  INITIALIZER,
  OPTIMIZER,
  PARTITION,
  PARTITION_BYTES,
  PARTITIONS,
  PARTITIONS_LOG2,
  ROW_REMOVED,
  SEGMENT,
  SEGMENT_WORDS,
  SEGMENTS,
  SLOT_ROW_BYTES,
  SLOT_TIME_BYTES,
  TABLE,
  tableBytes,
} from '../memory/table-layout.js';
import type { CompileEnvironment } from '../runtime/lowering.js';
import { rateAt } from './learning-rate.js';
import type { TableConfig } from './table-config.js';
import { planTable, type TablePlan } from './table-plan.js';

/** A row in place: the arrays are views of shared memory. */
export interface TableRowView {
  readonly id: bigint;
  readonly lastUpdateSec: number;
  readonly weights: Float32Array;
  readonly state: Float32Array;
}

const RESTORE_CHUNK = 1024;

export class HashTable {
  readonly config: TableConfig;
  readonly plan: TablePlan;
  readonly dim: number;
  readonly stateFloats: number;
  /** Address of the table's control block. */
  readonly address: number;
  readonly #session: CompileEnvironment;
  readonly #rowBytes: number;
  readonly #partitions: number;
  #scratch = 0;

  private constructor(session: CompileEnvironment, config: TableConfig) {
    this.#session = session;
    this.config = config;
    this.plan = planTable(config);
    this.dim = this.plan.dim;
    this.stateFloats = this.plan.stateFloats;
    this.#rowBytes = this.plan.rowBytes;
    const segmentCount = this.plan.segments.length;
    const { arena, views } = session;
    this.address = arena.alloc(tableBytes(segmentCount), `${config.name}/table`);
    this.#partitions = arena.alloc(PARTITION_BYTES * PARTITIONS, `${config.name}/partitions`);
    const zeroRow = arena.alloc(this.#rowBytes, `${config.name}/zero row`);
    const words = views.u32.subarray(this.address / 4);
    words[TABLE.partitionsLog2] = PARTITIONS_LOG2;
    words[TABLE.dim] = this.dim;
    words[TABLE.stateFloats] = this.stateFloats;
    words[TABLE.rowBytes] = this.#rowBytes;
    words[TABLE.segments] = segmentCount;
    words[TABLE.heap] = session.heap;
    words[TABLE.seed] = session.seed;
    words[TABLE.zeroRow] = zeroRow;
    words[TABLE.partitions] = this.#partitions;
    this.#writeSegments();
  }

  /** The table of `config` in this session, made on first use. */
  static of(session: CompileEnvironment, config: TableConfig): HashTable {
    return session.resource(config, (owner) => new HashTable(owner, config));
  }

  #writeSegments(): void {
    const { u32, f32 } = this.#session.views;
    this.plan.segments.forEach(({ dim, weightOffset, stateOffset, initializer, optimizer, rate }, index) => {
      const at = this.address / 4 + SEGMENTS + index * SEGMENT_WORDS;
      u32.set([dim, weightOffset, stateOffset, INITIALIZER[initializer.kind]], at);
      const first = initializer.kind === 'uniform' ? [initializer.minval, initializer.maxval] : [initializer.value];
      f32.set(first, at + SEGMENT.initialA);
      const { name, values, initial } = optimizer;
      if (name !== 'sgd' && name !== 'adagrad' && name !== 'ftrl') {
        throw new MonolithError('ML_OPTIMIZER', { config: name });
      }
      u32[at + SEGMENT.optimizer] = OPTIMIZER[name];
      f32[at + SEGMENT.stateInitial] = initial;
      f32.set(values, at + SEGMENT.parameters);
      f32[at + SEGMENT.learningRate] = rateAt(rate, 0);
      if (typeof rate === 'number') return;
      this.#session.onStep((globalStep) => {
        f32[at + SEGMENT.learningRate] = rate.call(globalStep);
      });
    });
  }

  get size(): number {
    const { u32 } = this.#session.views;
    let rows = 0;
    for (let p = 0; p < PARTITIONS; p++) rows += u32[(this.#partitions + p * PARTITION_BYTES) / 4 + PARTITION.rows]!;
    return rows;
  }

  /** Embeddings of `ids`, one after the other; an absent id gives zeros and is not inserted. */
  lookup(ids: BigInt64Array): Float32Array {
    const { views, kernels } = this.#session;
    const out = new Float32Array(ids.length * this.dim);
    for (let start = 0; start < ids.length; start += RESTORE_CHUNK) {
      const chunk = ids.subarray(start, start + RESTORE_CHUNK);
      const { idsAt, rowsAt } = this.#stage(chunk);
      kernels.tableFind(this.address, idsAt, chunk.length, rowsAt, 0);
      for (let i = 0; i < chunk.length; i++) {
        const row = views.u32[rowsAt / 4 + i]! / 4;
        out.set(views.f32.subarray(row, row + this.dim), (start + i) * this.dim);
      }
    }
    return out;
  }

  /** Every row, in the order of its id: the same for any history of inserts. The views stay good until rows are removed. */
  *rows(): Generator<TableRowView> {
    const { u32, i64, f32 } = this.#session.views;
    for (const slot of this.#sortedSlots()) {
      const row = u32[(slot + SLOT_ROW_BYTES) / 4]! / 4;
      yield {
        id: i64[idWord(slot)]!,
        lastUpdateSec: u32[(slot + SLOT_TIME_BYTES) / 4]!,
        weights: f32.subarray(row, row + this.dim),
        state: f32.subarray(row + this.dim, row + this.dim + this.stateFloats),
      };
    }
  }

  #sortedSlots(): Uint32Array {
    const { u32, i64 } = this.#session.views;
    const slots = new Uint32Array(this.size);
    let found = 0;
    for (let p = 0; p < PARTITIONS; p++) {
      const partition = (this.#partitions + p * PARTITION_BYTES) / 4;
      const index = u32[partition + PARTITION.index]!;
      if (index === 0) continue;
      const end = index + (u32[partition + PARTITION.mask]! + 1) * BUCKET_BYTES;
      for (let bucket = index; bucket < end; bucket += BUCKET_BYTES) {
        for (let i = 0; i < BUCKET_SLOTS; i++) {
          const slot = bucket + i * 4;
          if (u32[(slot + SLOT_ROW_BYTES) / 4]! > ROW_REMOVED) slots[found++] = slot;
        }
      }
    }
    return slots.sort((a, b) => (i64[idWord(a)]! < i64[idWord(b)]! ? -1 : 1));
  }

  /** Puts rows in, over what is there. */
  restore(rows: Iterable<TableRowView>): void {
    let chunk: TableRowView[] = [];
    for (const row of rows) {
      if (row.weights.length !== this.dim || row.state.length !== this.stateFloats) {
        throw new MonolithError('ML_CKPT_MODEL', {
          dir: this.config.name,
          reason: `row ${row.id} has ${row.weights.length}+${row.state.length} floats, not ${this.dim}+${this.stateFloats}`,
        });
      }
      // The source may hand out the same object again and again.
      chunk.push({ ...row, weights: row.weights.slice(), state: row.state.slice() });
      if (chunk.length === RESTORE_CHUNK) {
        this.#restoreChunk(chunk);
        chunk = [];
      }
    }
    this.#restoreChunk(chunk);
  }

  #restoreChunk(chunk: readonly TableRowView[]): void {
    const { views, kernels } = this.#session;
    const { idsAt, rowsAt, timesAt } = this.#stage(BigInt64Array.from(chunk, (row) => row.id));
    chunk.forEach((row, index) => {
      views.u32[timesAt / 4 + index] = row.lastUpdateSec;
    });
    if (kernels.tableUpsert(this.address, idsAt, chunk.length, rowsAt, timesAt) < chunk.length) {
      throw new MonolithError('ML_MEMORY', {
        name: this.config.name,
        bytes: this.#rowBytes * chunk.length,
        free: 'too few',
      });
    }
    chunk.forEach((row, index) => {
      const at = views.u32[rowsAt / 4 + index]! / 4;
      views.f32.set(row.weights, at);
      views.f32.set(row.state, at + this.dim);
    });
  }

  /** Room for a chunk of ids, their row addresses and times. */
  #stage(ids: BigInt64Array): { idsAt: number; rowsAt: number; timesAt: number } {
    const { arena, views } = this.#session;
    if (this.#scratch === 0) this.#scratch = arena.alloc(RESTORE_CHUNK * 16, `${this.config.name}/scratch`);
    views.i64.set(ids, this.#scratch / 8);
    const rowsAt = this.#scratch + RESTORE_CHUNK * 8;
    return { idsAt: this.#scratch, rowsAt, timesAt: rowsAt + RESTORE_CHUNK * 4 };
  }
}

/** Where the id of a slot is, counted in i64: slots are 4 bytes apart, ids 8. */
function idWord(slot: number): number {
  return (2 * slot - Math.floor(slot / BUCKET_BYTES) * BUCKET_BYTES) / 8;
}
