// The one hash of ids. Everything that places an id (unique tables, partitions, embedding tables) uses it, so that a
// TypeScript caller and every kernel agree on who owns what. Twin: src/memory/hash.ts.

/** Three xor-shifts by 33 around two multiplications: a bijection on 64 bits in which every output bit sees every input bit. */
// @ts-ignore: decorator
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
