/**
 * @file Descriptors of a kernel that takes a list of them, for each thread its own: where the list is and how long lies
 * in registers of the thread.
 *
 * The list is written anew for each time; its memory stays, and grows to the longest list.
 */
import type { Arena } from '../../memory/arena.js';
import type { Code, Register } from '../compile/code.js';

/** Descriptors of a thread there is room for at first. */
const FIRST_ROOM = 16;

export class DescriptorList {
  readonly descriptors: Register;
  readonly count: Register;
  readonly #u32: Uint32Array;
  readonly #arena: Arena;
  readonly #words: number;
  /** Index in u32, by thread: the registers. */
  #lists: readonly number[] = [];
  #counts: readonly number[] = [];
  #room = 0;
  #base = 0;

  /** Of `words` each, in registers of `code`, which is laid out before anything is added. */
  constructor(code: Code, u32: Uint32Array, arena: Arena, words: number) {
    this.#u32 = u32;
    this.#arena = arena;
    this.#words = words;
    const indexes = (addresses: readonly number[]) => addresses.map((address) => address / 4);
    this.descriptors = code.cell(0, (addresses) => {
      this.#lists = indexes(addresses);
    });
    this.count = code.cell(0, (addresses) => {
      this.#counts = indexes(addresses);
    });
  }

  clear(): void {
    for (const at of this.#counts) this.#u32[at] = 0;
  }

  /** Calls `work` with the list of each thread. */
  each(work: (descriptors: number, count: number) => void): void {
    this.#lists.forEach((list, thread) => {
      work(this.#u32[list]!, this.#u32[this.#counts[thread]!]!);
    });
  }

  /** Index in u32 of a new descriptor of the thread, for its words. */
  add(thread: number): number {
    const u32 = this.#u32;
    const count = u32[this.#counts[thread]!]!;
    if (count === this.#room) this.#grow();
    u32[this.#counts[thread]!] = count + 1;
    return u32[this.#lists[thread]!]! / 4 + count * this.#words;
  }

  /** Twice the room; what is lost by it is less than what is there. */
  #grow(): void {
    const u32 = this.#u32;
    const words = this.#words;
    const threads = this.#lists.length;
    const room = Math.max(FIRST_ROOM, 2 * this.#room);
    const base = this.#arena.alloc(room * words * 4 * threads, 'copies');
    for (let thread = 0; thread < threads; thread++) {
      const [from, to] = [this.#base + thread * this.#room * words * 4, base + thread * room * words * 4];
      u32.copyWithin(to / 4, from / 4, from / 4 + u32[this.#counts[thread]!]! * words);
      u32[this.#lists[thread]!] = to;
    }
    [this.#room, this.#base] = [room, base];
  }
}
