import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { RecordReader } from '../../src/io/record-reader.js';
import { SnappyRecordReader } from '../../src/io/snappy-record-reader.js';
import { BundleReader, type BundleTensor, readTensorBundle, sortedByName } from '../../src/io/tensor-bundle.js';
import { files } from './fixture.js';

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));

/** The bytes of a tensor's values; of strings one list per string. */
const raw = ({ data }: Pick<BundleTensor, 'data'>) =>
  ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
    : data.map((each) => Buffer.from(each).toString('base64'));

for (const { what, files: written, tensors } of files.bundles) {
  t.test(`a bundle that TensorFlow wrote is read: ${what}`, async (t) => {
    const dir = t.testdir();
    for (const [name, text] of Object.entries(written)) writeFileSync(join(dir, name), bytesOf(text));
    const prefix = join(dir, 'model.ckpt-1');
    const reader = new BundleReader(prefix);
    if (reader.names().includes('half')) {
      t.throws(() => reader.read('half'), { code: 'ML_BUNDLE', message: /half has element type 19.* not supported/ });
      t.same(raw(reader.read('x')), tensors[0]!.data, 'and what stands beside it is read');
      return;
    }
    const found = readTensorBundle(prefix);
    t.same(
      found.map((tensor) => ({ name: tensor.name, dtype: tensor.dtype, shape: tensor.shape, data: raw(tensor) })),
      sortedByName(tensors),
    );
  });
}

t.test('records that TensorFlow wrote are read, plain and in a snappy stream', async (t) => {
  const dir = t.testdir();
  const path = (kind: keyof typeof files.records) => {
    writeFileSync(join(dir, kind), bytesOf(files.records[kind]));
    return join(dir, kind);
  };
  const copied: string[] = [];
  for (const each of new RecordReader(path('plain'))) copied.push(Buffer.from(each).toString('base64'));
  t.same(copied, files.payloads);
  const snappy = new SnappyRecordReader(path('snappy'));
  const streamed: string[] = [];
  for (let each = snappy.next(); each !== null; each = snappy.next()) {
    streamed.push(Buffer.from(each).toString('base64'));
  }
  snappy.close();
  t.same(streamed, files.payloads);
  t.throws(() => new RecordReader(path('gzip')).next(), { code: 'ML_RECORD' }, 'gzip is refused and not misread');
});
