/**
 * @file Numbers of FarmHash Fingerprint64. Those modulo 2^63 - 1 are what TensorFlow 2.21 says, by
 * `to_hash_bucket_fast(text, 2**63 - 1)`, and the movie lens demo of native_training.
 */
import t from 'tap';
import { fingerprint64, textId } from '../../src/data/farmhash.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A text of n letters. */
const letters = (n: number) =>
  Array.from({ length: n }, (_, i) => String.fromCharCode(33 + ((i * i * 7 + n * 13 + i) % 90))).join('');

const BY_LENGTH: Readonly<Record<number, bigint>> = {
  0: 1936946117179621456n,
  1: 6607240050319604008n,
  3: 3964425125933851772n,
  5: 4037349541653459203n,
  8: 5925883759892694378n,
  16: 2478167419364947695n,
  17: 7850520833865128602n,
  32: 3764569554252866399n,
  33: 8976751620643738300n,
  64: 1695973824321028169n,
  65: 1817703032882171304n,
  100: 245599906878174471n,
  127: 7047906335061927663n,
  128: 640505499330477981n,
  129: 1024044237699492164n,
  192: 6002646497398979785n,
  256: 282176152902539501n,
  320: 6695046346049225260n,
};

t.test('texts of all lengths have the fingerprints that TensorFlow gives them', async (t) => {
  for (const [length, wanted] of Object.entries(BY_LENGTH)) {
    t.equal(fingerprint64(bytesOf(letters(Number(length)))) % (2n ** 63n - 1n), wanted, length);
  }
});

t.test('ids of the movie lens demo', async (t) => {
  const ids = ["One Flew Over the Cuckoo's Nest (1975)", '138', '1'].map(
    (text) => fingerprint64(bytesOf(text)) % (2n ** 63n - 1n),
  );
  t.same(ids, [537471061267520758n, 3101866641240767355n, 80785766752259042n]);
});

t.test('an id is all 64 bits, signed, of the UTF-8', async (t) => {
  t.equal(textId('abc'), 2640714258260161385n);
  t.equal(textId('hello'), BigInt.asIntN(64, 13009744463427800296n));
  t.equal(textId('Amélie 2001'), 6945518215950333767n);
  t.equal(fingerprint64(bytesOf('hello world').subarray(0, 5)), 13009744463427800296n, 'a part of an array');
});
