/** @file Keys made for a bucket: the mixer of the touched-key set run backwards. */

const MASK_64 = (1n << 64n) - 1n;

/** Inverse of an odd number modulo 2^64, by Newton's iteration. */
function inverse(odd: bigint): bigint {
  let x = odd;
  for (let i = 0; i < 6; i++) x = (x * (2n - odd * x)) & MASK_64;
  return x;
}

const UNDO_FIRST = inverse(0xff51afd7ed558ccdn);
const UNDO_SECOND = inverse(0xc4ceb9fe1a85ec53n);

/** The key whose 64-bit mix is `mixed`. */
export function keyOfMix(mixed: bigint): bigint {
  let x = mixed & MASK_64;
  x ^= x >> 33n;
  x = (x * UNDO_SECOND) & MASK_64;
  x ^= x >> 33n;
  x = (x * UNDO_FIRST) & MASK_64;
  return BigInt.asIntN(64, x ^ (x >> 33n));
}

/** The `index`-th key whose low 32 hash bits are `low` (its last two bits count as 1). */
export function keyWithHash(low: number, index: number): bigint {
  return keyOfMix((BigInt(index) << 32n) | BigInt((low | 3) >>> 0));
}
