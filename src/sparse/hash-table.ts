/**
 * @file An embedding hash table of a session, as the main thread sees it: layout, size, lookup, iteration, restore.
 *
 * Training goes through the graph ops of embedding-ops.ts; the calls here run on the main thread between steps.
 */
import { MonolithError } from '../base/errors.js';
import {
  BLOCK,
  BLOCK_HEADER_BYTES,
  INITIALIZER,
  OPTIMIZER,
  PARTITION,
  PARTITION_BYTES,
  PARTITIONS,
  PARTITIONS_LOG2,
  ROW_HEADER_BYTES,
  ROW_UPDATE_WORD,
  SEGMENT,
  SEGMENT_WORDS,
  SEGMENTS,
  TABLE,
  tableBytes,
} from '../memory/table-layout.js';
import type { CompileEnvironment } from '../runtime/lowering.js';
import { type SegmentConfig, stateFloats, type TableConfig, tableDim } from './table-config.js';

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
    this.dim = tableDim(config);
    this.stateFloats = config.segments.reduce((sum, s) => sum + stateFloats(s.optimizer, s.dim), 0);
    this.#rowBytes = Math.ceil((ROW_HEADER_BYTES + (this.dim + this.stateFloats) * 4) / 16) * 16;
    const { arena, views } = session;
    this.address = arena.alloc(tableBytes(config.segments.length), `${config.name}/table`);
    this.#partitions = arena.alloc(PARTITION_BYTES * PARTITIONS, `${config.name}/partitions`);
    const zeroRow = arena.alloc(this.#rowBytes, `${config.name}/zero row`) + ROW_HEADER_BYTES;
    const words = views.u32.subarray(this.address / 4);
    words[TABLE.partitionsLog2] = PARTITIONS_LOG2;
    words[TABLE.dim] = this.dim;
    words[TABLE.stateFloats] = this.stateFloats;
    words[TABLE.rowBytes] = this.#rowBytes;
    words[TABLE.segments] = config.segments.length;
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
    let weightOffset = 0;
    let stateOffset = 0;
    this.config.segments.forEach((segment, index) => {
      const at = this.address / 4 + SEGMENTS + index * SEGMENT_WORDS;
      u32[at + SEGMENT.dim] = segment.dim;
      u32[at + SEGMENT.weightOffset] = weightOffset;
      u32[at + SEGMENT.stateOffset] = stateOffset;
      const { initializer, optimizer } = segment;
      u32[at + SEGMENT.initializer] = INITIALIZER[initializer.kind];
      if (initializer.kind === 'uniform') f32.set([initializer.minval, initializer.maxval], at + SEGMENT.initialA);
      if (initializer.kind === 'constant') f32[at + SEGMENT.initialA] = initializer.value;
      u32[at + SEGMENT.optimizer] = OPTIMIZER[optimizer.kind];
      f32[at + SEGMENT.learningRate] = optimizer.learningRate;
      if (optimizer.kind !== 'sgd') f32[at + SEGMENT.stateInitial] = optimizer.initialAccumulatorValue;
      if (optimizer.kind === 'adagrad') f32[at + SEGMENT.parameters] = optimizer.weightDecayFactor;
      if (optimizer.kind === 'ftrl') f32.set([optimizer.beta, optimizer.l1, optimizer.l2], at + SEGMENT.parameters);
      this.#followRate(segment, at + SEGMENT.learningRate);
      weightOffset += segment.dim;
      stateOffset += stateFloats(optimizer, segment.dim);
    });
  }

  #followRate({ learningRateFn }: SegmentConfig, word: number): void {
    if (learningRateFn === undefined) return;
    const { f32 } = this.#session.views;
    this.#session.onStep((globalStep) => {
      f32[word] = learningRateFn(globalStep);
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
      kernels.tableFind(this.address, idsAt, chunk.length, rowsAt);
      for (let i = 0; i < chunk.length; i++) {
        const row = views.u32[rowsAt / 4 + i]! / 4;
        out.set(views.f32.subarray(row, row + this.dim), (start + i) * this.dim);
      }
    }
    return out;
  }

  /** Every row, in the order of its id: the same for any history of inserts. The views stay good until rows are added. */
  *rows(): Generator<TableRowView> {
    const { u32, i64, f32 } = this.#session.views;
    for (const row of this.#sortedRowAddresses()) {
      const weights = (row + ROW_HEADER_BYTES) / 4;
      yield {
        id: i64[row / 8]!,
        lastUpdateSec: u32[row / 4 + ROW_UPDATE_WORD]!,
        weights: f32.subarray(weights, weights + this.dim),
        state: f32.subarray(weights + this.dim, weights + this.dim + this.stateFloats),
      };
    }
  }

  #sortedRowAddresses(): Uint32Array {
    const { u32, i64 } = this.#session.views;
    const addresses = new Uint32Array(this.size);
    let found = 0;
    for (let p = 0; p < PARTITIONS; p++) {
      let block = u32[(this.#partitions + p * PARTITION_BYTES) / 4 + PARTITION.firstBlock]!;
      for (; block !== 0; block = u32[block / 4 + BLOCK.next]!) {
        const count = u32[block / 4 + BLOCK.rows]!;
        for (let i = 0; i < count; i++) addresses[found++] = block + BLOCK_HEADER_BYTES + i * this.#rowBytes;
      }
    }
    return addresses.sort((a, b) => (i64[a / 8]! < i64[b / 8]! ? -1 : 1));
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
    const { idsAt, rowsAt } = this.#stage(BigInt64Array.from(chunk, (row) => row.id));
    if (kernels.tableUpsert(this.address, idsAt, chunk.length, rowsAt) < chunk.length) {
      throw new MonolithError('ML_MEMORY', {
        name: this.config.name,
        bytes: this.#rowBytes * chunk.length,
        free: 'too few',
      });
    }
    chunk.forEach((row, index) => {
      const weights = views.u32[rowsAt / 4 + index]! / 4;
      views.f32.set(row.weights, weights);
      views.f32.set(row.state, weights + this.dim);
      views.u32[weights - ROW_HEADER_BYTES / 4 + ROW_UPDATE_WORD] = row.lastUpdateSec;
    });
  }

  /** Room for a chunk of ids and their row addresses. */
  #stage(ids: BigInt64Array): { idsAt: number; rowsAt: number } {
    const { arena, views } = this.#session;
    if (this.#scratch === 0) this.#scratch = arena.alloc(RESTORE_CHUNK * 12, `${this.config.name}/scratch`);
    views.i64.set(ids, this.#scratch / 8);
    return { idsAt: this.#scratch, rowsAt: this.#scratch + RESTORE_CHUNK * 8 };
  }
}
