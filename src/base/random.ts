/**
 * @file Seeded random numbers.
 *
 * Two kinds. `MersenneTwister` is a stream: the reference's own inputs come from it, draw by draw, so it must match
 * word for word (by hand because it is tiny and no library offers the masked bounded draw). `hashU32` is a pure
 * function of its arguments: a value can be drawn for (seed, id) at any time without moving any stream.
 */

const STATE_COUNT = 624;
const SHIFT_COUNT = 397;

/** MT19937, seeded as `init_genrand(seed)`. */
export class MersenneTwister {
  readonly #state = new Uint32Array(STATE_COUNT);
  #next = STATE_COUNT;

  constructor(seed = 5489) {
    const state = this.#state;
    state[0] = seed >>> 0;
    for (let i = 1; i < STATE_COUNT; i++) {
      const before = state[i - 1]!;
      state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
  }

  /** The next word, uniform in [0, 2^32). */
  nextU32(): number {
    if (this.#next === STATE_COUNT) this.#refill();
    let word = this.#state[this.#next++]!;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  /**
   * Uniform in [0, range], both ends included: words are masked to the bits of `range` and rejected while above it.
   * A range of 0 consumes no word, as in numpy's `randint`.
   */
  nextBounded(range: number): number {
    if (range === 0) return 0;
    const mask = 0xffffffff >>> Math.clz32(range);
    for (;;) {
      const word = (this.nextU32() & mask) >>> 0;
      if (word <= range) return word;
    }
  }

  /** Leaves out the next `count` words. */
  skip(count: number): void {
    let left = count - (STATE_COUNT - this.#next);
    if (left <= 0) {
      this.#next += count;
      return;
    }
    for (; left > 0; left -= STATE_COUNT) this.#refill();
    this.#next = left + STATE_COUNT;
  }

  #refill(): void {
    const state = this.#state;
    let i = 0;
    for (; i < STATE_COUNT - SHIFT_COUNT; i++) state[i] = twist(state[i]!, state[i + 1]!, state[i + SHIFT_COUNT]!);
    const back = SHIFT_COUNT - STATE_COUNT;
    for (; i < STATE_COUNT - 1; i++) state[i] = twist(state[i]!, state[i + 1]!, state[i + back]!);
    state[i] = twist(state[i]!, state[0]!, state[i + back]!);
    this.#next = 0;
  }
}

function twist(word: number, next: number, shifted: number): number {
  const bits = (word & 0x80000000) | (next & 0x7fffffff);
  return shifted ^ (bits >>> 1) ^ (-(bits & 1) & 0x9908b0df);
}

/** A well-mixed u32 of the arguments' low 32 bits (xor, multiply, shift rounds after each). */
export function hashU32(seed: number, a: number, b = 0, c = 0): number {
  return mix(mix(mix(mix(seed ^ 0x9e3779b9) ^ a) ^ Math.imul(b, 0x85ebca6b)) ^ Math.imul(c, 0xc2b2ae35)) >>> 0;
}

/** `hashU32` as a number in [0, 1). */
export function hashUniform(seed: number, a: number, b = 0, c = 0): number {
  return hashU32(seed, a, b, c) / 0x100000000;
}

function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}
