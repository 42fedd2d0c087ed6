import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { crc32c, maskCrc } from '../../src/base/crc32c.js';
import { MonolithError } from '../../src/base/errors.js';
import { encodeHeader, sliceKey } from '../../src/io/bundle-format.js';
import { compareBytes, readSstable, SstableWriter } from '../../src/io/sstable.js';
import { type BundleTensor, readTensorBundle, sortedByName, writeTensorBundle } from '../../src/io/tensor-bundle.js';
import { bytesOf, hexOf, parityCase } from './parity.js';

const DATA = '.data-00000-of-00001';
const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value));
const golden: BundleTensor[] = [
  { name: 'v1', dtype: 'float32', shape: [2], data: Float32Array.of(20, 30) },
  { name: 's', dtype: 'string', shape: [2], data: [text('k1'), text('')] },
  { name: 'global_step', dtype: 'int64', shape: [], data: BigInt64Array.of(0n) },
  { name: 'v0', dtype: 'float32', shape: [], data: Float32Array.of(10) },
];

t.test('a bundle has the golden bytes and reads back', async (t) => {
  type Expected = { index_hex: string; data_hex: string };
  const { expected } = parityCase<unknown, Expected>('tensor_bundle', 'index and data bytes');
  const prefix = join(t.testdir(), 'model.ckpt-0');
  await writeTensorBundle(prefix, golden);
  t.equal(hexOf(readFileSync(`${prefix}.index`)), expected.index_hex);
  t.equal(hexOf(readFileSync(`${prefix}${DATA}`)), expected.data_hex);
  t.same(readTensorBundle(prefix), sortedByName(golden));
});

t.test('keys of slices have the golden bytes', async (t) => {
  type Input = { name: string; slices: [number, number][][] };
  const { input, expected } = parityCase<Input, string[]>('tensor_bundle', 'slice key bytes');
  t.same(
    input.slices.map((slices) => hexOf(sliceKey(input.name, slices))),
    expected,
  );
  const encoded = (value: number): string => hexOf(sliceKey('', [[value, 0]])).slice(10, -2);
  t.same([0, 2, 5, -1, 63, 64, -64, -65, 8191, 8192].map(encoded), [
    '80',
    '82',
    '85',
    '7f',
    'bf',
    'c040',
    '40',
    '3fbf',
    'dfff',
    'e02000',
  ]);
});

const value = (dtype: 'float32' | 'int32' | 'int64' | 'float64' | 'uint8' | 'bool', count: number) => {
  const size = { minLength: count, maxLength: count };
  switch (dtype) {
    case 'float32':
      return fc.float32Array({ ...size, noNaN: true });
    case 'float64':
      return fc.float64Array({ ...size, noNaN: true });
    case 'int32':
      return fc.int32Array(size);
    case 'int64':
      return fc.bigInt64Array(size);
    default:
      return fc.uint8Array({ ...size, max: 1 });
  }
};
const shape = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 });
const tensor: fc.Arbitrary<Omit<BundleTensor, 'name'>> = fc.oneof(
  fc.tuple(fc.constantFrom('float32', 'int32', 'int64', 'float64', 'uint8', 'bool'), shape).chain(([dtype, dims]) =>
    fc.record({
      dtype: fc.constant(dtype),
      shape: fc.constant(dims),
      data: value(
        dtype,
        dims.reduce((a, b) => a * b, 1),
      ),
    }),
  ),
  fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 4 }).map((data) => {
    return { dtype: 'string' as const, shape: [data.length], data };
  }),
);
const bundle = fc
  .dictionary(
    fc.string({ minLength: 1, unit: 'grapheme' }).filter((name) => !name.startsWith('\0')),
    tensor,
    { maxKeys: 6 },
  )
  .map((named) => Object.entries(named).map(([name, rest]) => ({ name, ...rest })));

t.test('any tensors come back from a bundle', async (t) => {
  const dir = t.testdir();
  await fc.assert(
    fc.asyncProperty(bundle, async (tensors) => {
      const home = mkdtempSync(join(dir, 'x'));
      await writeTensorBundle(join(home, 'b'), tensors);
      assert.deepEqual(readTensorBundle(join(home, 'b')), sortedByName(tensors));
      rmSync(home, { recursive: true });
    }),
    { numRuns: 40 },
  );
});

t.test('flipped bits and cuts of a bundle are coded errors or harmless, never other values', async (t) => {
  const prefix = join(t.testdir(), 'b');
  await writeTensorBundle(prefix, golden);
  const truth = JSON.stringify(readTensorBundle(prefix), (_, v) => (typeof v === 'bigint' ? String(v) : v));
  const check = (what: string): void => {
    try {
      const found = JSON.stringify(readTensorBundle(prefix), (_, v) => (typeof v === 'bigint' ? String(v) : v));
      if (found !== truth) t.fail(`${what} gave other values`);
    } catch (error) {
      if (!(error instanceof MonolithError)) t.fail(`${what}: ${error}`);
    }
  };
  for (const file of [`${prefix}.index`, `${prefix}${DATA}`]) {
    const whole = new Uint8Array(readFileSync(file));
    for (let at = 0; at < whole.length; at++) {
      const damaged = whole.slice();
      damaged[at]! ^= 1 << (at % 8);
      writeFileSync(file, damaged);
      check(`${file} byte ${at}`);
    }
    for (let cut = 0; cut < whole.length; cut++) {
      writeFileSync(file, whole.subarray(0, cut));
      t.throws(() => readTensorBundle(prefix), MonolithError, `${file} cut at ${cut}`);
    }
    writeFileSync(file, whole);
  }
  t.equal(
    JSON.stringify(readTensorBundle(prefix), (_, v) => (typeof v === 'bigint' ? String(v) : v)),
    truth,
  );
});

t.test('messages of the reference are kept', async (t) => {
  const prefix = join(t.testdir(), 'b');
  await writeTensorBundle(prefix, golden);
  const { BundleReader } = await import('../../src/io/tensor-bundle.js');
  t.throws(() => new BundleReader(prefix).read('nope'), { message: /Key nope not found in checkpoint/ });
  const data = new Uint8Array(readFileSync(`${prefix}${DATA}`));
  data[data.length - 1]! ^= 1;
  writeFileSync(`${prefix}${DATA}`, data);
  t.throws(() => new BundleReader(prefix).read('v1'), {
    message: /Checksum does not match: stored \w+ vs. calculated/,
  });
  writeFileSync(`${prefix}.index`, new Uint8Array(48));
  t.throws(() => new BundleReader(prefix), { message: /not an sstable \(bad magic number\)/ });
});

t.test('a bundle for newer readers is refused', async (t) => {
  const prefix = join(t.testdir(), 'b');
  const headers = { '08011a0408011002': /needs a reader/, '08011a0508011a0101': /forbids readers/, '': /0 data files/ };
  for (const [hex, message] of Object.entries(headers)) {
    const table = new SstableWriter();
    table.add(new Uint8Array(0), bytesOf(hex));
    writeFileSync(`${prefix}.index`, table.finish());
    t.throws(() => readTensorBundle(prefix), { code: 'ML_BUNDLE', message });
  }
});

t.test('a big-endian bundle is swapped after its checksum', async (t) => {
  const prefix = join(t.testdir(), 'b');
  const data = bytesOf('3f800000');
  writeFileSync(`${prefix}${DATA}`, data);
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(maskCrc(crc32c(data)));
  const table = new SstableWriter();
  table.add(new Uint8Array(0), bytesOf('080110011a020801'));
  table.add(text('x'), bytesOf(`08011200280435${hexOf(crc)}`));
  writeFileSync(`${prefix}.index`, table.finish());
  t.same(readTensorBundle(prefix)[0]?.data, Float32Array.of(1));
});

t.test('two tensors of one name and values that do not fill the shape are refused, and nothing is left', async (t) => {
  const prefix = join(t.testdir(), 'b');
  const one = golden[0]!;
  await t.rejects(writeTensorBundle(prefix, [one, one]), { code: 'ML_CKPT_WRITE', message: /same name: v1/ });
  await t.rejects(writeTensorBundle(prefix, [{ ...one, shape: [3] }]), { code: 'ML_CKPT_WRITE' });
  t.throws(() => readFileSync(`${prefix}.index`), { code: 'ENOENT' });
});

t.test('a sorted table of several blocks comes back in order', async (t) => {
  const entries = Array.from({ length: 5000 }, (_, i) => {
    return { key: text(`variable/${String(i).padStart(6, '0')}`), value: new Uint8Array(150).fill(i) };
  });
  entries.push({ key: text('w'), value: new Uint8Array(600_000).fill(7) });
  const table = new SstableWriter();
  table.add(new Uint8Array(0), encodeHeader(1));
  for (const { key, value } of entries) table.add(key, value);
  t.throws(() => table.add(text('a'), new Uint8Array(0)), RangeError);
  const found = readSstable(table.finish(), 'table');
  t.equal(found.length, entries.length + 1);
  t.ok(entries.every((entry, i) => compareBytes(entry.key, found[i + 1]!.key) === 0));
  t.ok(entries.every((entry, i) => compareBytes(entry.value, found[i + 1]!.value) === 0));
});

t.test('a snappy block of a table is read', async (t) => {
  const table = new SstableWriter();
  table.add(text('k'), text('v'));
  const plain = table.finish();
  // The first block has 13 bytes: one entry of 5 and two words. As snappy it is a size, one literal, and the bytes.
  const block = plain.subarray(0, 13);
  const stored = Buffer.from([13, 12 << 2, ...block, 1]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(maskCrc(crc32c(stored)));
  const index = new SstableWriter();
  index.add(text('l'), Uint8Array.of(0, 15));
  const indexBlock = index.finish().subarray(0, 4 + 2 + 8 + 5);
  const footer = Buffer.alloc(48);
  footer.set([0, 0, 20, indexBlock.length - 5]);
  plain.subarray(-8).forEach((byte, i) => {
    footer[40 + i] = byte;
  });
  const file = Buffer.concat([stored, crc, indexBlock, footer]);
  t.same(
    readSstable(file, 'table').map(({ key, value }) => [hexOf(key), hexOf(value)]),
    [[hexOf(text('k')), hexOf(text('v'))]],
  );
});
