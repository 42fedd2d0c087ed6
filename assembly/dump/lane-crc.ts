// CRC-32C of 16 messages at a time, a byte lane each, four bytes a step.
//
// A step is linear: the next state is the xor of what each nibble of the last state and of the next word becomes. Those
// are lookups in tables of 16 bytes, which a swizzle does for 16 messages at once: 32 of them make a step. A set of
// tables belongs to one kind of step, a word and the constant bytes behind it; constant bytes themselves add nothing,
// because only the difference to the checksum of the template is wanted (src/sparse/files/lane-tables.ts fills the
// sets).
//
// Work memory: | 0 state, 4 planes of 16 bytes | 64 words as planes | 128 words of 16 messages, for four steps |
// Set: byte of the word, low and high nibble, byte of the result: 4 x 2 x 4 tables of 16 bytes.
import { V1, V2, V3, V4, V5, V6, V7, WORD } from "../units";

const PLANES: usize = 64;
const WORDS: usize = 128;

/** Every state 0. */
@inline
export function beginLanes(work: usize): void {
  for (let i: usize = 0; i < 64; i += 16) v128.store(work + i, i32x4.splat(0));
}

/** Where the words of the next step go, one message after the other. */
@inline
export function wordsOf(work: usize): usize {
  return work + WORDS;
}

/** Bytes of four words, first bytes first. */
@inline
function bytesTogether(words: v128): v128 {
  return i8x16.shuffle(words, words, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}

/** The transposed matrix of 4 x 4 words, whose rows are a to d, to `to`, rows `stride` bytes apart. */
@inline
function transpose(a: v128, b: v128, c: v128, d: v128, to: usize, stride: usize): void {
  const ab = i32x4.shuffle(a, b, 0, 4, 1, 5), cd = i32x4.shuffle(c, d, 0, 4, 1, 5);
  const abHigh = i32x4.shuffle(a, b, 2, 6, 3, 7), cdHigh = i32x4.shuffle(c, d, 2, 6, 3, 7);
  v128.store(to, i64x2.shuffle(ab, cd, 0, 2));
  v128.store(to + stride, i64x2.shuffle(ab, cd, 1, 3));
  v128.store(to + 2 * stride, i64x2.shuffle(abHigh, cdHigh, 0, 2));
  v128.store(to + 3 * stride, i64x2.shuffle(abHigh, cdHigh, 1, 3));
}

/** Moves the states on over the 16 words at `words`, by the tables of `set`. */
export function advanceWord(set: usize, work: usize, words: usize): void {
  const planes = work + PLANES;
  transpose(
    bytesTogether(v128.load(words)), bytesTogether(v128.load(words, V1)),
    bytesTogether(v128.load(words, V2)), bytesTogether(v128.load(words, V3)), planes, 16,
  );
  const nibble = i8x16.splat(15);
  let r0 = i32x4.splat(0), r1 = r0, r2 = r0, r3 = r0;
  for (let plane: usize = 0; plane < 64; plane += 16, set += 128) {
    const x = v128.xor(v128.load(work + plane), v128.load(planes + plane));
    const low = v128.and(x, nibble), high = i8x16.shr_u(x, 4);
    r0 = v128.xor(r0, v128.xor(i8x16.swizzle(v128.load(set), low), i8x16.swizzle(v128.load(set, V4), high)));
    r1 = v128.xor(r1, v128.xor(i8x16.swizzle(v128.load(set, V1), low), i8x16.swizzle(v128.load(set, V5), high)));
    r2 = v128.xor(r2, v128.xor(i8x16.swizzle(v128.load(set, V2), low), i8x16.swizzle(v128.load(set, V6), high)));
    r3 = v128.xor(r3, v128.xor(i8x16.swizzle(v128.load(set, V3), low), i8x16.swizzle(v128.load(set, V7), high)));
  }
  v128.store(work, r0);
  v128.store(work, r1, V1);
  v128.store(work, r2, V2);
  v128.store(work, r3, V3);
}

/** Moves the states on over the word at `offset` of each of 16 rows. */
export function advanceRows(set: usize, work: usize, rows: usize, offset: usize): void {
  const words = wordsOf(work);
  for (let lane: usize = 0; lane < 64; lane += 4) {
    store<u32>(words + lane, load<u32>(<usize>load<u32>(rows + lane) + offset));
  }
  advanceWord(set, work, words);
}

/** The same over four words, the last of them by the tables of `last`. */
export function advanceRows4(set: usize, last: usize, work: usize, rows: usize, offset: usize): void {
  const words = wordsOf(work);
  for (let group: usize = 0; group < 64; group += 16) {
    transpose(
      v128.load(<usize>load<u32>(rows + group) + offset), v128.load(<usize>load<u32>(rows + group, WORD) + offset),
      v128.load(<usize>load<u32>(rows + group, 2 * WORD) + offset),
      v128.load(<usize>load<u32>(rows + group, 3 * WORD) + offset),
      words + group, 64,
    );
  }
  advanceWord(set, work, words);
  advanceWord(set, work, words + 64);
  advanceWord(set, work, words + 128);
  advanceWord(last, work, words + 192);
}

/** The states as 16 words; returns where they are. */
@inline
export function endLanes(work: usize): usize {
  const words = wordsOf(work);
  const a = v128.load(work), b = v128.load(work, V1), c = v128.load(work, V2), d = v128.load(work, V3);
  // Bytes of two planes beside each other, then pairs of those.
  const low01 = i8x16.shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const high01 = i8x16.shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const low23 = i8x16.shuffle(c, d, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const high23 = i8x16.shuffle(c, d, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  v128.store(words, i16x8.shuffle(low01, low23, 0, 8, 1, 9, 2, 10, 3, 11));
  v128.store(words, i16x8.shuffle(low01, low23, 4, 12, 5, 13, 6, 14, 7, 15), V1);
  v128.store(words, i16x8.shuffle(high01, high23, 0, 8, 1, 9, 2, 10, 3, 11), V2);
  v128.store(words, i16x8.shuffle(high01, high23, 4, 12, 5, 13, 6, 14, 7, 15), V3);
  return words;
}
