/** @file Where the tensors of a program are: their storage, and registers that point to it. */
import { misfit, type Tensor } from '../../graph/graph.js';
import type { Register } from './code.js';
import type { CompileEnvironment, Cut, FeedUse, RaggedFeed } from './compile-environment.js';
import type { Destinations } from './destinations.js';
import { ProgramCode } from './program-code.js';
import type { Schedule } from './schedule.js';
import type { Matrix, Storage } from './storage.js';

export class TensorStorage extends ProgramCode {
  readonly feeds = new Map<string, FeedUse>();
  /** Columns of feeds that are Unix seconds. */
  readonly times: Extract<Storage, { kind: 'feed' }>[] = [];
  protected readonly destinations: Destinations;
  readonly #storage = new Map<Tensor, Storage>();
  readonly #written = new Set<Tensor>();

  constructor(environment: CompileEnvironment, schedule: Schedule, destinations: Destinations, cut?: Cut) {
    super(environment, schedule, cut);
    this.destinations = destinations;
  }

  // --- of tensors that are there
  // ---------------------------------------------------------------------------------------

  storage(tensor: Tensor): Storage {
    const storage = this.#storage.get(tensor);
    if (storage === undefined) throw misfit(tensor, 'it is used before it is made');
    return storage;
  }

  /** Has the batch looked over for values of a fed tensor that are no Unix seconds. */
  noteTimes(tensor: Tensor): void {
    const storage = this.storage(tensor);
    if (storage.kind !== 'feed') throw misfit(tensor, 'times are fed');
    this.times.push(storage);
  }

  setStorage(tensor: Tensor, storage: Storage): void {
    this.#storage.set(tensor, storage);
  }

  /** A tensor as an operand; what has no row per example is one row. */
  matrix(tensor: Tensor): Matrix {
    return this.matrixOf(this.storage(tensor));
  }

  matrixOf(storage: Storage): Matrix {
    switch (storage.kind) {
      case 'slice': {
        const { base, sliceBytes, stride, columns } = storage;
        return {
          pointer: this.slice.each((slice) => base + slice * sliceBytes),
          stride: this.slice.constant(stride),
          columns,
        };
      }
      case 'feed': {
        const pointer = this.slice.each();
        this.feeds.get(storage.feed)!.registers.push({ register: pointer, offset: storage.offset });
        return { pointer, stride: this.slice.constant(storage.stride), columns: storage.columns };
      }
      case 'whole': {
        const { base, stride, columns } = storage;
        return { pointer: this.rowsFrom(base, stride * 4), stride: this.slice.constant(stride), columns };
      }
      case 'global':
      case 'partial':
      case 'replicated':
      case 'copies': {
        const { count } = storage;
        return { pointer: this.#pointerOf(storage), stride: this.slice.constant(count), columns: count };
      }
      default:
        return storage satisfies never;
    }
  }

  /** Rows of the matrix that `matrix` or `output` gives: those of the slice, or one for what has no row per example. */
  rowsOf(tensor: Tensor): Register {
    return tensor.perExample ? this.rows : this.slice.constant(1);
  }

  /** Rows and columns of the matrix that `matrix` or `output` gives, as kernels take them. */
  sizeOf(tensor: Tensor): { readonly rows: Register; readonly cols: Register } {
    return { rows: this.rowsOf(tensor), cols: this.slice.constant(tensor.columns) };
  }

  /** Address of a tensor without rows per example in slice code, or of the float with that number in it. */
  pointer(tensor: Tensor, from = 0): Register {
    const storage = this.storage(tensor);
    if (storage.kind === 'slice' || storage.kind === 'feed' || storage.kind === 'whole') {
      throw misfit(tensor, 'a value that all examples share is needed here');
    }
    return this.#pointerOf(storage, from);
  }

  #pointerOf(storage: Exclude<Storage, { kind: 'slice' | 'feed' | 'whole' }>, from = 0): Register {
    const base = storage.base + from * 4;
    if (storage.kind === 'global') return this.slice.constant(base);
    if (storage.kind === 'copies') {
      const { threadBytes } = storage;
      return this.slice.each((slice) => base + this.threadOf(slice) * threadBytes);
    }
    const { sliceBytes } = storage;
    return this.slice.each((slice) => base + slice * sliceBytes);
  }

  useFeed(tensor: Tensor, use: FeedUse): void {
    this.feeds.set(tensor.op.name, use);
  }

  ragged(tensor: Tensor): RaggedFeed {
    const ragged = this.feeds.get(tensor.op.name)?.ragged;
    if (ragged === undefined) throw misfit(tensor, 'a ragged placeholder is needed here');
    return ragged;
  }

  // --- of tensors that an op makes
  // -------------------------------------------------------------------------------------

  /** Storage for what thread code makes once for everybody. */
  allocateGlobal(tensor: Tensor): { readonly base: number; readonly count: number } {
    const count = tensor.columns;
    const storage = { kind: 'global', base: this.alloc(count * 4, tensor.name), count } as const;
    this.#storage.set(tensor, storage);
    return storage;
  }

  /** Storage for what every thread makes for itself, and the register of thread code that points to its own. */
  allocateCopies(tensor: Tensor): Register {
    const count = tensor.columns;
    const threadBytes = Math.ceil((count * 4) / 64) * 64;
    const base = this.alloc(threadBytes * this.plan.threads, tensor.name);
    this.#storage.set(tensor, { kind: 'copies', base, threadBytes, count });
    return this.threadPointer(tensor);
  }

  /** Address of a whole tensor in thread code: one that all examples share and that is no sum still to be completed. */
  threadPointer(tensor: Tensor): Register {
    const storage = this.storage(tensor);
    switch (storage.kind) {
      case 'copies':
        return this.thread.each((index) => storage.base + index * storage.threadBytes);
      case 'global':
      case 'replicated':
        return this.thread.constant(storage.base);
      default:
        throw misfit(tensor, 'a value that all examples share is needed here');
    }
  }

  /** Storage for a tensor this op makes: its own, or the place its only consumer wants it in. */
  allocate(tensor: Tensor): Storage {
    const known = this.#storage.get(tensor);
    if (known !== undefined) return known;
    const storage = this.#allocate(tensor);
    this.#storage.set(tensor, storage);
    return storage;
  }

  #allocate(tensor: Tensor): Storage {
    const place = this.destinations.of(tensor);
    if (place !== undefined) {
      const into = this.allocate(place.into);
      if (into.kind !== 'slice') throw new Error('only per-example tensors are placed');
      return { ...into, base: into.base + place.column * 4, columns: tensor.columns };
    }
    const count = tensor.columns;
    if (tensor.perExample) {
      const { base, sliceBytes } = this.perSlice(this.plan.sliceRows * count * 4, tensor.name);
      return { kind: 'slice', base, sliceBytes, stride: count, columns: count };
    }
    const { base, sliceBytes } = this.perSlice(count * 4, tensor.name);
    return { kind: tensor.spec.partial ? 'partial' : 'replicated', base, sliceBytes, count };
  }

  /** The op's output as an operand, and whether it must be added to what is there (1) or overwrite it (0). */
  output(tensor: Tensor): Matrix & { readonly accumulate: Register } {
    const { storage, adds } = this.outputStorage(tensor);
    return { ...this.matrixOf(storage), accumulate: this.slice.constant(adds ? 1 : 0) };
  }

  /** As `output`, for ops that hand addresses to their kernel in memory. */
  outputStorage(tensor: Tensor): { readonly storage: Storage; readonly adds: boolean } {
    const storage = this.allocate(tensor);
    const sum = this.destinations.sumOf(tensor);
    return { storage, adds: sum !== undefined && this.startSum(sum) };
  }

  /** Whether some placed term of the sum has been written already; afterwards it counts as written. */
  startSum(sum: Tensor): boolean {
    const started = this.#written.has(sum);
    this.#written.add(sum);
    return started;
  }

  /** Whether the tensor is written straight into `into`, at that column. */
  isPlaced(tensor: Tensor, into: Tensor, column = 0): boolean {
    const place = this.destinations.of(tensor);
    return place?.into === into && place.column === column;
  }

  /** Gives `output` the storage of `input`, if neither has a place elsewhere and nobody reads `input` later. */
  writeOver(input: Tensor, output: Tensor): void {
    const storage = this.storage(input);
    const isApart = this.destinations.of(input) === undefined && this.destinations.of(output) === undefined;
    if (isApart && storage.kind === 'slice' && this.destinations.onlyUserOf(input) !== undefined)
      this.#storage.set(output, storage);
  }
}
