/** @file Embedding tables outside of a session, driven by the WASM kernels or by their plain twins. */
import { Arena } from '../../src/memory/arena.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { APPLY_SLICE_BYTES, PARTITIONS } from '../../src/memory/table-layout.js';
import { Views } from '../../src/memory/views.js';
import { partitionByHash } from '../../src/runtime/backends/reference/sparse.js';
import * as reference from '../../src/runtime/backends/reference/table.js';
import { instantiateKernels } from '../../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import type { WasmKernels } from '../../src/runtime/backends/wasm/wasm-kernels.js';
import { layHeapOut, TableMemory } from '../../src/runtime/tables/table-memory.js';
import type { TableConfig } from '../../src/sparse/config/table-config.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';

const module = await compileKernels();

/** The plain twins of the table kernels, by the names of the kernels. */
function plainTableKernels(views: Views): Partial<WasmKernels> {
  const plain = Object.entries(reference).map(([name, twin]) => [
    name,
    (...args: number[]) => (twin as (m: Views, ...rest: number[]) => unknown)(views, ...args),
  ]);
  return Object.fromEntries(plain) as Partial<WasmKernels>;
}

/** One slice of an update: unique ids and a gradient row for each. */
export interface SliceGradients {
  readonly ids: readonly bigint[];
  readonly gradients: readonly (readonly number[])[];
}

export class TableFixture {
  readonly views: Views;
  readonly arena: Arena;
  readonly kernels: WasmKernels;
  readonly tables: TableMemory;
  /** Address of the header of the heap. */
  readonly heap: number;
  readonly #seed: number;
  readonly #made = new Map<TableConfig, HashTable>();

  constructor(backend: 'wasm' | 'reference', options: { seed?: number; heapBytes?: number } = {}) {
    const { seed = 0, heapBytes = 8 << 20 } = options;
    const arenaBytes = 4 << 20;
    const memory = createSharedMemory(arenaBytes + heapBytes);
    const views = new Views(memory.buffer);
    const wasm = instantiateKernels(module, memory);
    this.views = views;
    this.arena = new Arena('test', 65536, arenaBytes);
    this.kernels =
      backend === 'wasm'
        ? wasm
        : {
            ...wasm,
            ...plainTableKernels(views),
            partitionByHash: (...args) => partitionByHash(views, ...args),
          };
    layHeapOut(views, arenaBytes, arenaBytes + heapBytes);
    this.tables = TableMemory.of(module, { memory, views, kernels: this.kernels, heap: arenaBytes });
    this.heap = arenaBytes;
    this.#seed = seed;
  }

  /** As a session makes it. */
  table(config: TableConfig): HashTable {
    const made =
      this.#made.get(config) ?? HashTable.create(this.tables, config, { seed: this.#seed, badGradients: 'skip' });
    this.#made.set(config, made);
    return made;
  }

  /** Frees what `body` took from the arena. */
  #scope<T>(body: () => T): T {
    const mark = this.arena.mark();
    try {
      return body();
    } finally {
      this.arena.release(mark);
    }
  }

  /** Rows for `ids`, with `time` as the moment of their last update unless it is left out. */
  upsert(table: HashTable, ids: readonly bigint[], time?: number): number {
    return this.#scope(() => {
      const [at, rows] = [this.#putIds(ids), this.arena.alloc(ids.length * 4, 'rows')];
      const times = time === undefined ? 0 : this.arena.alloc(ids.length * 4, 'times');
      if (time !== undefined) this.views.u32.fill(time, times / 4, times / 4 + ids.length);
      return this.kernels.tableUpsert(table.address, at, ids.length, rows, times);
    });
  }

  /** Removes what is expired at `nowSec`; `days` of the slots, 36500 where none is given. */
  evict(table: HashTable, nowSec: number, days: ReadonlyMap<number, number> = new Map()): number {
    return this.#scope(() => {
      const at = this.arena.alloc(32768 * 4, 'days');
      this.views.u32.fill(36500, at / 4, at / 4 + 32768);
      for (const [slot, count] of days) this.views.u32[at / 4 + slot] = count;
      return this.kernels.tableEvict(table.address, 0, PARTITIONS, nowSec, at);
    });
  }

  /** What the update phase does, with the partitions shared out to `threads` owners one after the other. */
  apply(table: HashTable, slices: readonly SliceGradients[], options: { threads?: number; updateSec?: number } = {}) {
    const { threads = 1, updateSec = 0 } = options;
    return this.#scope(() => {
      const { arena, views, kernels } = this;
      const stride = Math.ceil(table.dim / 4) * 4;
      const records = arena.alloc(APPLY_SLICE_BYTES * Math.max(1, slices.length), 'slices');
      slices.forEach(({ ids, gradients }, index) => {
        const uids = this.#putIds(ids);
        const [order, rows, slots] = ['order', 'rows', 'slots'].map((what) => arena.alloc(ids.length * 4, what)) as [
          number,
          number,
          number,
        ];
        const offsets = arena.alloc((PARTITIONS + 1) * 4, 'offsets');
        const sums = arena.alloc(ids.length * stride * 4, 'gradients');
        gradients.forEach((gradient, row) => {
          views.f32.set(gradient, sums / 4 + row * stride);
        });
        kernels.partitionByHash(uids, ids.length, PARTITIONS, order, offsets);
        kernels.tableFind(table.address, uids, ids.length, rows, slots);
        views.u32.set([uids, order, offsets, rows, sums, stride, slots], (records + index * APPLY_SLICE_BYTES) / 4);
      });
      const merged = arena.alloc(slices.reduce((count, { ids }) => count + ids.length, 0) * 4, 'merged');
      let stepped = 0;
      for (let thread = 0; thread < threads; thread++) {
        const [first, end] = [thread, thread + 1].map((n) => Math.floor((PARTITIONS * n) / threads)) as [
          number,
          number,
        ];
        const result = kernels.tableApply(table.address, first, end, records, slices.length, merged, updateSec);
        if (result < 0) return result;
        stepped += result;
      }
      return stepped;
    });
  }

  #putIds(ids: readonly bigint[]): number {
    const at = this.arena.alloc(ids.length * 8, 'ids');
    this.views.i64.set(ids, at / 8);
    return at;
  }
}
