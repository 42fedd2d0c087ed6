/**
 * @file The table under test, in one memory that all tables of the bench use in turn, and the threads that work on it.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Arena } from '../src/memory/arena.js';
import { createSharedMemory } from '../src/memory/shared-memory.js';
import {
  APPLY_SLICE_BYTES,
  HEAP,
  HEAP_HEADER_BYTES,
  LOOKUP_SCRATCH_BYTES,
  PARTITIONS,
} from '../src/memory/table-layout.js';
import { Views } from '../src/memory/views.js';
import { instantiateKernels } from '../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../src/runtime/backends/wasm/load-kernels.js';
import type { WasmKernels } from '../src/runtime/backends/wasm/wasm-kernels.js';
import { TableMemory } from '../src/runtime/tables/table-memory.js';
import type { TableConfig } from '../src/sparse/config/table-config.js';
import { HashTable } from '../src/sparse/table/hash-table.js';
import { type IdLanes, splitByOwner } from './table-ids.js';
import type { PoolBatch, TableJob, TableSpan, TableThread, TableWorkerData, UpdateBatch } from './table-worker.js';

export const BAG = 4;
const THREADS = 2;
const NULL_PAGE_BYTES = 65536;
const BUILD_CHUNK = 65536;

export interface Measured {
  /** CPU time per id; of two threads, that of the slower one over the ids of both. */
  readonly ns: number;
  readonly wallNs: number;
  /** Sum of squares of what was pooled last. */
  readonly checksum: number;
}
/** Batches of one distribution in shared memory. */
interface Placed {
  readonly pool: readonly PoolBatch[];
  readonly poolIds: number;
  /** Unique ids, all of them and by owner. */
  readonly updates: readonly UpdateBatch[];
  readonly owned: readonly [readonly UpdateBatch[], readonly UpdateBatch[]];
  readonly updateIds: number;
}
/** What a thread is told but where to meet and with what memory. */
type Work = TableJob extends infer J ? (J extends TableJob ? Omit<J, 'meetAt' | 'thread'> : never) : never;

export class TableSystem {
  readonly #memory: WebAssembly.Memory;
  readonly #module: WebAssembly.Module;
  readonly #views: Views;
  readonly #kernels: WasmKernels;
  readonly #workers: readonly Worker[];
  readonly #gate = new Int32Array(new SharedArrayBuffer(4));
  readonly #arenaBytes: number;
  #heapBegin = 0;
  #arena!: Arena;
  #table!: HashTable;
  #threads: TableThread[] = [];
  #placed = new Map<string, Placed>();
  #gradients = 0;
  #timeSec = 0;

  private constructor(memory: WebAssembly.Memory, module: WebAssembly.Module, arenaBytes: number) {
    this.#memory = memory;
    this.#module = module;
    this.#views = new Views(memory.buffer as SharedArrayBuffer);
    this.#kernels = instantiateKernels(module, memory);
    this.#arenaBytes = arenaBytes;
    const workerData: TableWorkerData = { module, memory, gate: this.#gate };
    this.#workers = Array.from(
      { length: THREADS },
      () => new Worker(new URL('./table-worker.js', import.meta.url), { workerData, execArgv: [] }),
    );
  }

  static async create(bytes: number, arenaBytes: number): Promise<TableSystem> {
    return new TableSystem(createSharedMemory(bytes), await compileKernels(), arenaBytes);
  }

  /** Makes the table in place of the one before. */
  build(config: TableConfig, ids: IdLanes, batchIdsMax: number): void {
    const { u8, u32, f32 } = this.#views;
    // Nothing was written beyond the top of the heap, and a heap takes what is there for zeros.
    u8.fill(0, 0, this.#heapBegin === 0 ? 0 : this.#heapTop);
    this.#arena = new Arena('bench', NULL_PAGE_BYTES, this.#arenaBytes);
    this.#placed.clear();
    const heap = this.#arenaBytes;
    this.#heapBegin = heap + Math.ceil(HEAP_HEADER_BYTES / 64) * 64;
    u32[heap / 4 + HEAP.top] = this.#heapBegin;
    // The last page stays out: the end of 4 GiB is no u32.
    u32[heap / 4 + HEAP.end] = this.#memory.buffer.byteLength - 65536;
    const bank = { memory: this.#memory, views: this.#views, kernels: this.#kernels, heap };
    this.#table = HashTable.create(TableMemory.of(this.#module, bank), config, { seed: 0, badGradients: 'skip' });
    this.#threads = Array.from({ length: THREADS }, () => this.#thread(batchIdsMax));
    const floats = batchIdsMax * this.#table.dim;
    this.#gradients = this.#arena.alloc(floats * 4, 'gradients');
    for (let i = 0; i < floats; i++) f32[this.#gradients / 4 + i] = ((i % 201) - 100) * 1e-4;
    this.#insert(ids);
  }

  #insert(ids: IdLanes): void {
    const mark = this.#arena.mark();
    const at = this.#arena.alloc(BUILD_CHUNK * 8, 'ids');
    const rows = this.#arena.alloc(BUILD_CHUNK * 4, 'rows');
    for (let from = 0; from < ids.length; from += BUILD_CHUNK * 2) {
      const chunk = ids.subarray(from, from + BUILD_CHUNK * 2);
      this.#views.u32.set(chunk, at / 4);
      const count = chunk.length / 2;
      const done = this.#kernels.tableUpsert(this.#table.address, at, count, rows, 0);
      if (done < count) throw new Error(`the heap is full after ${from / 2 + done} rows`);
    }
    this.#arena.release(mark);
  }

  #thread(idsMax: number): TableThread {
    const alloc = (bytes: number) => this.#arena.alloc(bytes, 'thread');
    return {
      scratch: alloc(LOOKUP_SCRATCH_BYTES),
      order: alloc(idsMax * 4),
      offsets: alloc((PARTITIONS + 1) * 4),
      rows: alloc(idsMax * 4),
      slots: alloc(idsMax * 4),
      merged: alloc(idsMax * 4),
      record: alloc(APPLY_SLICE_BYTES),
    };
  }

  get #heapTop(): number {
    return this.#views.u32[this.#arenaBytes / 4 + HEAP.top]!;
  }

  get rows(): number {
    return this.#table.size;
  }

  /** What the index and the rows take of the heap, retired blocks and the rest of the last ones included. */
  get heapBytes(): number {
    return this.#heapTop - this.#heapBegin;
  }

  /** Puts batches into memory, to be named by `name` from then on. */
  place(name: string, pool: readonly IdLanes[], updates: readonly IdLanes[]): void {
    const bags = pool[0]!.length / 2 / BAG;
    const splits = this.#arena.alloc((bags + 1) * 4, 'splits');
    for (let r = 0; r <= bags; r++) this.#views.u32[splits / 4 + r] = r * BAG;
    const out = this.#arena.alloc(bags * this.#table.dim * 4, 'out');
    const total = (batches: readonly IdLanes[]) => batches.reduce((sum, ids) => sum + ids.length / 2, 0);
    const put = (ids: IdLanes): UpdateBatch => {
      const at = this.#arena.alloc(ids.byteLength, 'batch');
      this.#views.u32.set(ids, at / 4);
      return { ids: at, count: ids.length / 2 };
    };
    const halves = updates.map(splitByOwner);
    this.#placed.set(name, {
      pool: pool.map((ids) => ({ ids: put(ids).ids, splits, bags, out })),
      poolIds: total(pool),
      updates: updates.map(put),
      owned: [halves.map(([first]) => put(first)), halves.map(([, second]) => put(second))],
      updateIds: total(updates),
    });
  }

  /** Pools all batches; two threads take half of the bags each. */
  async pool(name: string, threads: 1 | 2): Promise<Measured> {
    const { pool, poolIds } = this.#placed.get(name)!;
    const { address: table, dim } = this.#table;
    const work = Array.from({ length: threads }, (_, t): Work => {
      const batches = pool.map(({ ids, splits, bags, out }) => {
        const [from, end] = [t, t + 1].map((n) => Math.floor((bags * n) / threads)) as [number, number];
        return {
          ids: ids + from * BAG * 8,
          splits: splits + from * 4,
          bags: end - from,
          out: out + from * dim * 4,
        };
      });
      return { kind: 'pool', table, dim, batches };
    });
    const measured = await this.#run(work, poolIds);
    const { out, bags } = pool[0]!;
    let checksum = 0;
    for (const value of this.#views.f32.subarray(out / 4, out / 4 + bags * dim)) checksum += value * value;
    return { ...measured, checksum };
  }

  /** Finds and steps the rows of all batches; two threads own half of the partitions each. */
  async update(name: string, threads: 1 | 2, kind: 'update' | 'train' = 'update'): Promise<Measured> {
    const { updates, owned, updateIds } = this.#placed.get(name)!;
    const { address: table, dim } = this.#table;
    const timeSec = ++this.#timeSec;
    const work = Array.from({ length: threads }, (_, t): Work => {
      const [first, end] = [t, t + 1].map((n) => (PARTITIONS * n) / threads) as [number, number];
      const batches = threads === 1 ? updates : owned[t]!;
      return { kind, table, dim, batches, first, end, gradients: this.#gradients, timeSec };
    });
    return { ...(await this.#run(work, updateIds, updateIds)), checksum: 0 };
  }

  /** The same in the way of a training step: find, deal to the owners of partitions, apply. */
  train(name: string, threads: 1 | 2): Promise<Measured> {
    return this.update(name, threads, 'train');
  }

  async #run(work: readonly Work[], ids: number, steppedExpected = 0): Promise<{ ns: number; wallNs: number }> {
    const meetAt = Atomics.load(this.#gate, 0) + work.length;
    const spans = await Promise.all(
      work.map(async (one, t) => {
        const worker = this.#workers[t]!;
        const answer = once(worker, 'message');
        worker.postMessage({ ...one, meetAt, thread: this.#threads[t]! } satisfies TableJob);
        const [span] = (await answer) as [TableSpan];
        return span;
      }),
    );
    const stepped = spans.reduce((sum, span) => sum + span.stepped, 0);
    if (stepped !== steppedExpected) throw new Error(`${stepped} rows were stepped, not ${steppedExpected}`);
    const wallMs = Math.max(...spans.map((s) => s.endMs)) - Math.min(...spans.map((s) => s.beginMs));
    return { ns: (Math.max(...spans.map((s) => s.cpuMs)) * 1e6) / ids, wallNs: (wallMs * 1e6) / ids };
  }

  async close(): Promise<void> {
    const exits = this.#workers.map((worker) => once(worker, 'exit'));
    for (const worker of this.#workers) worker.postMessage('end');
    await Promise.all(exits);
  }
}
