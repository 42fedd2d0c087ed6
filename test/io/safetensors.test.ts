import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { replaceFile } from '../../src/base/files/atomic-file.js';
import { SafetensorsFile, SafetensorsWriter } from '../../src/io/safetensors.js';

const file = join(t.testdir(), 'x.safetensors');
await replaceFile(file, async (sink) => {
  const writer = await SafetensorsWriter.begin(
    sink,
    [
      { name: 'ids', dtype: 'I64', shape: [2] },
      { name: 'rows', dtype: 'F32', shape: [2, 2] },
      { name: 'none', dtype: 'F16', shape: [0, 3] },
    ],
    { step: '7' },
  );
  await writer.write(BigInt64Array.of(-1n, 2n ** 62n));
  await writer.write(Float32Array.of(1, 2, 3, 4.5));
  t.equal(writer.left, 0);
});

t.test('tensors come back by name, whole or in parts', async (t) => {
  const opened = await SafetensorsFile.open(file);
  t.teardown(() => opened.close());
  t.same(opened.metadata, { step: '7' });
  t.same(await opened.floats('rows'), Float32Array.of(1, 2, 3, 4.5));
  const second = new BigInt64Array(1);
  await opened.read('ids', 8, second);
  t.same(second, BigInt64Array.of(2n ** 62n));
  t.same(opened.spec('none', ['F16']).shape, [0, 3]);
  t.throws(() => opened.spec('ids', ['F32']), { code: 'ML_SAFETENSORS', message: /ids is I64/ });
  await t.rejects(opened.floats('other'), { code: 'ML_SAFETENSORS', message: /no tensor other/ });
  await t.rejects(opened.read('ids', 12, second), { code: 'ML_SAFETENSORS' });
});

t.test('the bytes are those of the format: a length, JSON, and the tensors in order', async (t) => {
  const bytes = readFileSync(file);
  const length = Number(bytes.readBigUInt64LE());
  t.equal(length % 8, 0);
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + length));
  t.same(header.rows, { dtype: 'F32', shape: [2, 2], data_offsets: [16, 32] });
  t.equal(bytes.length, 8 + length + 32);
});

t.test('what does not add up is refused', async (t) => {
  const good = readFileSync(file);
  const length = Number(good.readBigUInt64LE());
  const header = JSON.parse(good.toString('utf8', 8, 8 + length));
  const withHeader = (value: unknown) => {
    const text = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
    const head = Buffer.alloc(8);
    head.writeBigUInt64LE(BigInt(text.length));
    return Buffer.concat([head, text, good.subarray(8 + length)]);
  };
  const changed = (name: string, change: object) => withHeader({ ...header, [name]: { ...header[name], ...change } });
  const bad: [string, Buffer, RegExp][] = [
    ['an empty file', Buffer.alloc(0), /ends before its header/],
    ['a cut file', good.subarray(0, good.length - 1), /its tensors have/],
    ['no JSON', withHeader('{ '), /no JSON/],
    ['no object', withHeader('[]'), /no object/],
    ['another shape', changed('rows', { shape: [3, 2] }), /rows has 16 bytes/],
    ['a negative size', changed('rows', { shape: [-1] }), /rows has no shape/],
    ['an unknown type', changed('rows', { dtype: 'BF16' }), /rows has a type/],
    ['a hole', changed('rows', { data_offsets: [20, 36] }), /does not begin where/],
    ['no place', changed('rows', { data_offsets: [0] }), /rows has no place/],
  ];
  for (const [what, bytes, message] of bad) {
    writeFileSync(`${file}.bad`, bytes);
    await t.rejects(SafetensorsFile.open(`${file}.bad`), { code: 'ML_SAFETENSORS', message }, what);
  }
  await t.rejects(SafetensorsFile.open(`${file}.gone`), { code: 'ML_SAFETENSORS' });
});
