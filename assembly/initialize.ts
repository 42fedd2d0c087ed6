// The initializer stream of the reference: MT19937, one generator per worker, default seed 5489, never seeded again.
//
// Generator, 2500 bytes: | 0 .. 623 state words | 624 index of the next word |

const WORDS: i32 = 624;
const SHIFT: i32 = 397;

export function seedMt(generator: usize, seed: u32): void {
  let word = seed;
  store<u32>(generator, word);
  for (let i = 1; i < WORDS; i++) {
    word = 1812433253 * (word ^ (word >> 30)) + <u32>i;
    store<u32>(generator + (<usize>i << 2), word);
  }
  store<i32>(generator + (<usize>WORDS << 2), WORDS);
}

function refill(generator: usize): void {
  for (let i = 0; i < WORDS; i++) {
    const next = i + 1 == WORDS ? 0 : i + 1;
    const far = i + SHIFT < WORDS ? i + SHIFT : i + SHIFT - WORDS;
    const bits = (load<u32>(generator + (<usize>i << 2)) & 0x80000000) |
      (load<u32>(generator + (<usize>next << 2)) & 0x7fffffff);
    const mixed = load<u32>(generator + (<usize>far << 2)) ^ (bits >> 1) ^ (bits & 1 ? 0x9908b0df : 0);
    store<u32>(generator + (<usize>i << 2), mixed);
  }
}

/** The next word, uniform in [0, 2^32). */
export function nextMt(generator: usize): u32 {
  const at = generator + (<usize>WORDS << 2);
  let index = load<i32>(at);
  if (index >= WORDS) {
    refill(generator);
    index = 0;
  }
  store<i32>(at, index + 1);
  let word = load<u32>(generator + (<usize>index << 2));
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680;
  word ^= (word << 15) & 0xefc60000;
  return word ^ (word >> 18);
}

/** dst[i] = x * (maxval - minval) + minval, x a word as a float in [0, 1). */
export function fillUniformMtF32(generator: usize, dst: usize, n: i32, minval: f32, maxval: f32): void {
  const range: f32 = maxval - minval;
  for (let i = 0; i < n; i++, dst += 4) {
    // A word near 2^32 rounds up to 1 as a float; the largest float below 1 stands for it.
    const x = min<f32>(<f32>nextMt(generator) / 4294967296, 0.99999994);
    store<f32>(dst, x * range + minval);
  }
}
