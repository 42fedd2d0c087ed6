/** @file Ids made for a bucket, as whoever floods a table would make them: the hash of ids run backwards. */
import { SECRET_HIGH, SECRET_LOW } from '../../src/memory/secret.js';

/** What memories of this process mix by where nobody outside is to see the order. */
export const SECRET = (BigInt(SECRET_HIGH) << 32n) | BigInt(SECRET_LOW);
const MASK_64 = (1n << 64n) - 1n;

/** Inverse of an odd number modulo 2^64, by Newton's iteration. */
function inverse(odd: bigint): bigint {
  let x = odd;
  for (let i = 0; i < 6; i++) x = (x * (2n - odd * x)) & MASK_64;
  return x;
}

const UNDO_FIRST = inverse(0xff51afd7ed558ccdn);
const UNDO_SECOND = inverse(0xc4ceb9fe1a85ec53n);
const UNDO_SECRET = inverse(SECRET);

/** The key whose 64-bit mix is `mixed`; `undo` is the inverse of what it is multiplied with first. */
export function keyOfMix(mixed: bigint, undo = UNDO_FIRST): bigint {
  let x = mixed & MASK_64;
  x ^= x >> 33n;
  x = (x * UNDO_SECOND) & MASK_64;
  x ^= x >> 33n;
  x = (x * undo) & MASK_64;
  return BigInt.asIntN(64, x ^ (x >> 33n));
}

/**
 * The `index`-th key whose low 32 bits by the secret are `low` (the last two count as 1): a bucket of a set of touched
 * ids, which whoever does not know the secret cannot make ids for.
 */
export function keyWithHash(low: number, index: number): bigint {
  return keyOfMix((BigInt(index) << 32n) | BigInt((low | 3) >>> 0), UNDO_SECRET);
}

/**
 * `count` ids whose hashes differ in bits 40 to 57 alone: one partition and one bucket, whatever the size of a table.
 */
export function idsOfOneBucket(count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => keyOfMix((5n << 58n) | (BigInt(i) << 40n)));
}

/**
 * As many that fill bucket after bucket of a partition, four each: all are in their first bucket, and no bucket has a
 * gap.
 */
export function idsWithoutGaps(count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => keyOfMix((5n << 58n) | (BigInt(i & 3) << 40n) | BigInt(i >> 2)));
}

/**
 * The longest run of places that are taken, those at the end going on at the begin: the most that a probe may visit.
 */
export function longestRun(count: number, isTaken: (place: number) => boolean): number {
  let [run, longest] = [0, 0];
  for (let i = 0; i < 2 * count && longest < count; i++) {
    run = isTaken(i % count) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}
