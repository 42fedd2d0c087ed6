/**
 * @file The memories that tables live in: one or more banks, each a WebAssembly memory with a heap.
 *
 * One memory ends at 4 GiB, so a large table is spread: partition p lives wholly in bank p % banks, and each bank is
 * worked on by kernels of its own. Banks are reserved at the start, as address space; their pages cost nothing until
 * rows are written. Nothing above knows which bank a row is in, but for whoever routes ids.
 */

import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { WasmModule } from '../../base/wasm-types.js';
import { Arena } from '../../memory/arena.js';
import { createSharedMemory, MEMORY_BYTES_MAX, NULL_PAGE_BYTES } from '../../memory/shared-memory.js';
import {
  HEAP,
  HEAP_BLOCK_MAX,
  HEAP_HEADER_BYTES,
  PARTITIONS,
  TABLE_BYTES_MIN,
  type WhenFull,
} from '../../memory/table-layout.js';
import { Views } from '../../memory/views.js';
import { instantiateKernels } from '../backends/wasm/instantiate-kernels.js';
import { attachBanks, type TableBank, type TableMemoryHandle } from './table-banks.js';

/** How the tables of a session meet trouble, unless a table is told otherwise. */
export interface TablePolicy {
  /** Default: fail. */
  readonly whenFull?: WhenFull;
  /** A gradient that is NaN or infinite fails the step, or its row is left alone and counted. Default: the latter. */
  readonly badGradients?: 'fail' | 'skip';
}

export interface TableMemoryOptions {
  /** Bytes that keys, rows, optimizer state and slack may take, over all banks. */
  readonly budgetBytes: number;
  /** Bytes of one memory. Default: 4 GiB, the most there can be. */
  readonly bankBytes?: number;
  /** Compiled kernels. Default: the plain ones. */
  readonly module?: WasmModule;
}

/** Room beside the tables of a bank, with what its users need: admission filters, sets of touched ids. */
export interface TableRegion extends Omit<TableBank, 'heap'> {
  readonly arena: Arena;
}

/** The kernels; who only imports the package loads none. */
const compiledKernels = async () => (await import('../backends/wasm/load-kernels.js')).compileKernels();

/** The memory that tables live in: one bank or several, within a budget. */
export class TableMemory {
  readonly banks: readonly TableBank[];
  readonly #module: WasmModule;

  private constructor(module: WasmModule, banks: readonly TableBank[]) {
    this.#module = module;
    this.banks = banks;
  }

  static async create(options: TableMemoryOptions): Promise<TableMemory> {
    checkOptions('TableMemory.create', options, ['budgetBytes', 'bankBytes', 'module']);
    const { budgetBytes, bankBytes = MEMORY_BYTES_MAX, module = await compiledKernels() } = options;
    const room = bankBytes - NULL_PAGE_BYTES;
    const count = Math.ceil(budgetBytes / room);
    if (!(bankBytes > NULL_PAGE_BYTES && bankBytes <= MEMORY_BYTES_MAX)) {
      const free = `${NULL_PAGE_BYTES} to ${MEMORY_BYTES_MAX} are possible, fewer`;
      throw new MonolithError('ML_MEMORY', { name: 'one memory of tables', bytes: bankBytes, free });
    }
    if (!(budgetBytes >= TABLE_BYTES_MIN) || count > PARTITIONS) {
      const free = `${TABLE_BYTES_MIN} to ${PARTITIONS * room}`;
      const hint = `budgetBytes is from ${free}`;
      throw new MonolithError('ML_MEMORY', { name: 'tables', bytes: budgetBytes, free }, { hint });
    }
    const share = Math.ceil(budgetBytes / count / 64) * 64;
    const banks = Array.from({ length: count }, () => {
      const memory = createSharedMemory(Math.min(bankBytes, NULL_PAGE_BYTES + share));
      const views = new Views(memory.buffer);
      layHeapOut(views, NULL_PAGE_BYTES, memory.buffer.byteLength);
      return { memory, views, kernels: instantiateKernels(module, memory), heap: NULL_PAGE_BYTES };
    });
    return new TableMemory(module, banks);
  }

  /** The one bank of a session: the heap half of its memory. */
  static of(module: WasmModule, bank: TableBank): TableMemory {
    return new TableMemory(module, [bank]);
  }

  get handle(): TableMemoryHandle {
    return { module: this.#module, banks: this.banks.map(({ memory, heap }) => ({ memory, heap })) };
  }

  /** The same banks, as another thread works on them. */
  static attach(handle: TableMemoryHandle): TableMemory {
    return new TableMemory(handle.module, attachBanks(handle));
  }

  /**
   * Takes `bytes` of the first bank for something else than tables; they count against its budget and are not given
   * back.
   *
   * ```ts
   * const filter = createFilter({ ...memory.region(1 << 20), type: 'sliding_hash_filter', capacity: 10_000 });
   * ```
   */
  region(bytes: number, name = 'region'): TableRegion {
    const { memory, views, kernels, heap } = this.banks[0]!;
    const at = bytes > 0 && bytes <= HEAP_BLOCK_MAX ? kernels.heapAlloc(heap, bytes) >>> 0 : 0;
    if (at === 0) {
      const free = views.u32[heap / 4 + HEAP.end]! - views.u32[heap / 4 + HEAP.top]!;
      throw new MonolithError('ML_MEMORY', { name, bytes, free }, { hint: 'give tables more memory' });
    }
    return { memory, views, kernels, arena: new Arena(name, at, at + bytes) };
  }

  /** Bytes that heaps have handed out at the most: blocks that were given back count, as they are used again. */
  get usedBytes(): number {
    return this.banks.reduce((sum, { views, heap }) => sum + views.u32[heap / 4 + HEAP.top]! - heap, 0);
  }

  /**
   * Says for all threads whether a step runs: its threads take no locks, so that nobody else may work on tables then.
   */
  setInStep(runs: boolean): void {
    for (const { views, heap } of this.banks) Atomics.store(views.u32, heap / 4 + HEAP.inStep, runs ? 1 : 0);
  }

  /** ML_TABLE_BUSY while a step runs. */
  refuseDuringStep(table: string): void {
    const { views, heap } = this.banks[0]!;
    if (Atomics.load(views.u32, heap / 4 + HEAP.inStep) === 0) return;
    throw new MonolithError('ML_TABLE_BUSY', { table }, { hint: 'await what the session runs first' });
  }

  /** Bank that partition `partition` of every table lives in. */
  bankOf(partition: number): number {
    return partition % this.banks.length;
  }
}

/** Writes an empty heap from `heap` to `end`, both multiples of 64. */
export function layHeapOut({ u32 }: Views, heap: number, end: number): void {
  u32[heap / 4 + HEAP.top] = Math.ceil((heap + HEAP_HEADER_BYTES) / 64) * 64;
  u32[heap / 4 + HEAP.end] = Math.min(end, 2 ** 32 - 64);
}
