// The one hash of ids. Everything that places an id (unique tables, partitions, embedding tables) uses it, so that a
// TypeScript caller and every kernel agree on who owns what. Twin: src/memory/hash.ts.
import { SECRET_ADDRESS } from "./generated/layouts";

/**
 * Three xor-shifts by 33 around two multiplications: a bijection on 64 bits in which every output bit sees every input
 * bit.
 */
@inline
export function mix64(id: u64): u64 {
  let x = id;
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccd;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53;
  x ^= x >> 33;
  return x;
}

/** The secret of this memory, an odd number that no id was made for; src/memory/secret.ts writes it. */
@inline
export function secretOf(): u64 {
  return load<u64>(SECRET_ADDRESS) | 1;
}

/**
 * mix64 with the secret in place of its first multiplier, and as fast. Ids that were made to meet by one do not meet by
 * the other; for places that nobody sees from outside.
 */
@inline
export function mixSecretly(id: u64, secret: u64): u64 {
  let x = id;
  x ^= x >> 33;
  x *= secret;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53;
  x ^= x >> 33;
  return x;
}
