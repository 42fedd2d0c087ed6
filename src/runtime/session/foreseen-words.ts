/**
 * @file What follows the global step, for several steps at once: learning rates and the like of each step, written down
 * before the first of them.
 *
 * ```
 * record of a command, u32 words:  | 0 count | then for each word: memory, index in u32, value |
 * ```
 * Memory 0 is the session's, others are banks. Every thread writes the words of a command before it runs it, all of
 * them the same ones: nobody reads them before it wrote them, and nobody is at the command before.
 */
import type { Arena } from '../../memory/arena.js';
import { COMMAND_CAPACITY, FORESEEN } from '../../memory/control-layout.js';
import type { Views } from '../../memory/views.js';
import type { StepWord } from '../compile/compile-environment.js';

export class ForeseenWords {
  readonly #views: Views;
  readonly #arena: Arena;
  readonly #banks: readonly { readonly views: Views }[];
  #base = 0;
  #recordWords = 0;

  constructor(views: Views, arena: Arena, banks: readonly { readonly views: Views }[]) {
    this.#views = views;
    this.#arena = arena;
    this.#banks = banks;
  }

  /**
   * The records of `count` steps: `follow` brings the words up to a step, which is done once for each, in order. The
   * words are those of the first step afterwards.
   */
  write(words: readonly StepWord[], count: number, follow: (step: number) => void): number[] {
    this.#reserve(words.length);
    const { u32 } = this.#views;
    const places = words.map(({ views, address }) => ({
      of: views.u32,
      index: address / 4,
      memory: this.#memory(views),
    }));
    const records = Array.from({ length: count }, (_, step) => {
      follow(step);
      const at = this.#base / 4 + step * this.#recordWords;
      const entries = places.flatMap(({ of, index, memory }) => [memory, index, of[index]!]);
      u32.set([places.length, ...entries], at);
      return at * 4;
    });
    const first = this.#base / 4 + FORESEEN.entries + FORESEEN.value;
    places.forEach(({ of, index }, i) => {
      of[index] = u32[first + i * FORESEEN.entryWords]!;
    });
    return records;
  }

  #memory(views: Views): number {
    if (views.buffer === this.#views.buffer) return 0;
    return 1 + this.#banks.findIndex((bank) => bank.views.buffer === views.buffer);
  }

  #reserve(words: number): void {
    const recordWords = FORESEEN.entries + FORESEEN.entryWords * words;
    if (recordWords <= this.#recordWords) return;
    this.#recordWords = recordWords;
    this.#base = this.#arena.alloc(recordWords * 4 * COMMAND_CAPACITY, 'words of steps ahead');
  }
}
