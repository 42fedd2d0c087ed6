/**
 * @file The secret of this process: a random number by which ids are placed where nobody outside sees the order.
 *
 * Ids come from outside, and the hash of ids is public: whoever wants to can make ids that all meet in one place. What
 * they would do by the secret nobody can compute. assembly/hash.ts reads it.
 */
import { getRandomValues } from 'node:crypto';
import type { Views } from './views.js';

/** Where every shared memory keeps it, in the page before all others. */
export const SECRET_ADDRESS = 960;

const secret = getRandomValues(new Uint32Array(2));
secret[0]! |= 1;

/** Low and high word of an odd number. */
export const SECRET_LOW = secret[0]!;
export const SECRET_HIGH = secret[1]!;

/** Puts the secret into a memory that is being made. */
export function writeSecret(buffer: SharedArrayBuffer | ArrayBuffer): void {
  new Uint32Array(buffer, SECRET_ADDRESS, 2).set(secret);
}

/** The secret of a memory, odd in any case. */
export function secretOf(m: Views): bigint {
  return m.u64[SECRET_ADDRESS / 8]! | 1n;
}
