import fc from 'fast-check';
import t from 'tap';
import { mix64, mix64BigInt, partitionOfHash } from '../../src/memory/hash.js';

t.test('the hash of known ids is the published one', async (t) => {
  t.equal(mix64BigInt(0n), 0n);
  t.equal(mix64BigInt(1n), 0xb456bcfc34c2cb2cn);
  t.equal(mix64BigInt(-1n), mix64BigInt(0xffffffffffffffffn), 'the bit pattern is what counts');
});

t.test('two lanes and bigint hash alike', async () => {
  const out = new Uint32Array(2);
  fc.assert(
    fc.property(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), (id) => {
      mix64(Number(BigInt.asIntN(32, id)), Number(BigInt.asIntN(32, id >> 32n)), out);
      return ((BigInt(out[1]!) << 32n) | BigInt(out[0]!)) === mix64BigInt(id);
    }),
    { numRuns: 2000 },
  );
});

t.test('a partition is the top bits of the hash', async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), fc.integer({ min: 0, max: 31 }), (hash, bits) => {
      const expected = Number(hash >> (64n - BigInt(bits)));
      return partitionOfHash(Number(hash >> 32n), 2 ** bits) === expected;
    }),
  );
});
