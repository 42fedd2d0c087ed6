/**
 * @file The one hash of 64-bit ids, for TypeScript callers. Twin of assembly/hash.ts: same bits for the same id.
 *
 * Written by hand because it is hot and tiny: an id is two u32 lanes here, since a bigint multiplication costs about
 * fifty times as much.
 */

const MULTIPLIER_1 = 0xff51afd7ed558ccdn;
const MULTIPLIER_2 = 0xc4ceb9fe1a85ec53n;
const LOW_1 = 0xed558ccd;
const HIGH_1 = 0xff51afd7;
const LOW_2 = 0x1a85ec53;
const HIGH_2 = 0xc4ceb9fe;

/** High 32 bits of the 64-bit product of two u32. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + (middle >>> 16) + (carry >>> 16)) >>> 0;
}

/**
 * Hash of the id whose low and high 32 bits are `low` and `high` (sign does not matter); out[0] and out[1] become the
 * low and high bits of the hash.
 */
export function mix64(low: number, high: number, out: Uint32Array): void {
  mixBy(LOW_1, HIGH_1, low, high, out);
}

/**
 * mix64 with an odd number, whose words come first, in place of its first multiplier: mixSecretly of assembly/hash.ts.
 */
export function mixBy(firstLow: number, firstHigh: number, low: number, high: number, out: Uint32Array): void {
  let lo = (low ^ (high >>> 1)) >>> 0;
  let hi = high >>> 0;
  // x ^= x >>> 33 leaves the high lane alone; each multiplication keeps the low 64 bits of the product.
  hi = (multiplyHigh(lo, firstLow) + Math.imul(lo, firstHigh) + Math.imul(hi, firstLow)) >>> 0;
  lo = (Math.imul(lo, firstLow) ^ (hi >>> 1)) >>> 0;
  hi = (multiplyHigh(lo, LOW_2) + Math.imul(lo, HIGH_2) + Math.imul(hi, LOW_2)) >>> 0;
  lo = (Math.imul(lo, LOW_2) ^ (hi >>> 1)) >>> 0;
  out[0] = lo;
  out[1] = hi;
}

/**
 * The same for one bigint, signed or not; the result is unsigned. For tests and cold paths. With a secret in place of
 * the `first` multiplier it is mixSecretly.
 *
 * ```ts
 * mix64BigInt(1n); // 0xb456bcfc34c2cb2cn
 * ```
 */
export function mix64BigInt(id: bigint, first = MULTIPLIER_1): bigint {
  let x = BigInt.asUintN(64, id);
  x ^= x >> 33n;
  x = BigInt.asUintN(64, x * first);
  x ^= x >> 33n;
  x = BigInt.asUintN(64, x * MULTIPLIER_2);
  return x ^ (x >> 33n);
}

/**
 * Owner of a hash among `partitions` (a power of two, at most 2^31): its top bits. `high` is the high lane of the hash.
 */
export function partitionOfHash(high: number, partitions: number): number {
  return partitions === 1 ? 0 : high >>> (Math.clz32(partitions) + 1);
}

/**
 * Where an id of a partition comes in the order of files: its bucket in an index of 2^bucketsLog2 buckets, then the
 * rest of the hash.
 */
export function placeInBuckets(id: bigint, bucketsLog2: number): bigint {
  const hash = mix64BigInt(id);
  const shift = BigInt(bucketsLog2);
  return BigInt.asUintN(64, hash << (64n - shift)) | (hash >> shift);
}
