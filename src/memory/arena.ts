/**
 * @file Bump allocator over a range of one shared memory, used by the main thread while it lays a session out.
 *
 * Blocks are never freed one by one: a mark is taken and the arena goes back to it. Memory handed out is not cleared;
 * a fresh WebAssembly memory is zero until first written.
 */
import { MonolithError } from '../base/errors.js';

export const CACHE_LINE = 64;

export class Arena {
  readonly name: string;
  readonly begin: number;
  readonly end: number;
  #top: number;
  readonly #begins: number[] = [];

  constructor(name: string, begin: number, end: number) {
    this.name = name;
    this.begin = begin;
    this.end = end;
    this.#top = begin;
  }

  get used(): number {
    return this.#top - this.begin;
  }

  /** Where each block begins, ascending. */
  get blocks(): readonly number[] {
    return this.#begins;
  }

  get free(): number {
    return this.end - this.#top;
  }

  /** `bytes` bytes at a multiple of `align`; `what` names the block in the error when it does not fit. */
  alloc(bytes: number, what: string, align = CACHE_LINE): number {
    const at = Math.ceil(this.#top / align) * align;
    if (!Number.isSafeInteger(bytes) || bytes < 0 || at + bytes > this.end) {
      throw new MonolithError(
        'ML_MEMORY',
        { name: `${this.name}/${what}`, bytes, free: Math.max(0, this.end - at) },
        { hint: 'give the session more memory, or use a smaller batch or table' },
      );
    }
    this.#top = at + bytes;
    this.#begins.push(at);
    return at;
  }

  mark(): number {
    return this.#top;
  }

  release(mark: number): void {
    this.#top = mark;
    while (this.#begins.length > 0 && this.#begins.at(-1)! >= mark) this.#begins.pop();
  }
}
