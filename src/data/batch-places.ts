/**
 * @file Places for batches in the memory of a session, which are used again once they are given back.
 *
 * The arena of a session only grows. A session that is kept open for one evaluation after the other would fill it with
 * batches nobody reads any more.
 */
import type { Arena } from '../memory/arena.js';
import type { SessionCore } from '../runtime/session/session-core.js';

/** Sizes between a power of two and the next: a place is at most a quarter too large. */
const STEPS = 4;
const BYTES_MIN = 1024;

export class BatchPlaces {
  readonly #arena: Arena;
  /** Free places by their size. */
  readonly #free = new Map<number, number[]>();

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  /** Those of a session: all inputs that are opened in it share them. */
  static of(core: SessionCore): BatchPlaces {
    return core.resource(BatchPlaces, () => new BatchPlaces(core.arena));
  }

  /** Bytes of a place that `bytes` fit. */
  sizeFor(bytes: number): number {
    let whole = BYTES_MIN;
    while (whole * 2 < bytes) whole *= 2;
    const step = whole / STEPS;
    return Math.max(whole, Math.ceil(bytes / step) * step);
  }

  /** A place of `size` bytes, as `sizeFor` gave it. */
  take(size: number): number {
    return this.#free.get(size)?.pop() ?? this.#arena.alloc(size, 'batch');
  }

  give(at: number, size: number): void {
    const list = this.#free.get(size);
    if (list === undefined) this.#free.set(size, [at]);
    else list.push(at);
  }

  /** What is left of the memory that places come from. */
  get freeBytes(): number {
    return this.#arena.free;
  }
}
