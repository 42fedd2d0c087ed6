import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import t from 'tap';
import { Dataset } from '../../../src/data/dataset.js';
import { ExampleRows, exampleRow } from '../../../src/data/files/example-row.js';
import type { FileOptions } from '../../../src/data/files/file-rows.js';
import { frame, framedRecords } from '../../../src/data/files/framing.js';
import { hadoopSnappy } from '../../../src/data/files/hadoop-snappy.js';
import { placeOf } from '../../../src/data/files/place.js';
import { zstdPieces } from '../../../src/data/files/zstd-pieces.js';
import { EXAMPLE, EXAMPLE_BATCH } from '../../../src/io/example-messages.js';
import { INSTANCE } from '../../../src/io/instance-messages.js';
import { frameRecord } from '../../../src/io/record-writer.js';
import { snappyCompress } from '../../../src/io/snappy-writer.js';
import { decodeTfExample, encodeTfExample } from '../../../src/io/tf-example.js';

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A record with its frame. */
function recordOf(payload: Uint8Array): Buffer {
  const record = Buffer.alloc(payload.length + 16);
  record.set(payload, 12);
  frameRecord(record, new DataView(record.buffer, record.byteOffset), 0, payload.length);
  return record;
}

const read = async (file: string, options: FileOptions) =>
  (await all(Dataset.from(file, options))).map((row) => ({ ...row }));

t.test('framed files hold examples, batches of them, or instances', async (t) => {
  const dir = t.testdir({});
  const fid = { fidV1List: { value: BigInt64Array.of(18014398509482084n) } };
  const lineId = { uid: 7n, reqTime: 1600000000n, actions: [1], preActions: [], specialStrategies: [] };
  const example = {
    namedFeature: [{ name: 'user', feature: fid, id: 0, sortedId: 0 }],
    label: Float32Array.of(1),
    instanceWeight: 0.5,
    lineId,
  };
  const write = (name: string, payload: Uint8Array, options = {}) => {
    const file = join(dir, name);
    writeFileSync(file, Buffer.concat([frame(payload, options), frame(payload, options)]));
    return file;
  };
  const expected = { label: 1, instance_weight: 0.5, user: fid.fidV1List.value, uid: 7n, req_time: 1600000000n };
  const examples = await read(write('a.pb', EXAMPLE.encode(example)), { format: 'framed', dataType: 'Example' });
  t.match(examples, [expected, expected]);
  const batch = EXAMPLE_BATCH.encode({
    batchSize: 2,
    namedFeatureList: [
      { name: 'item', type: 0, id: 1, feature: [fid, { floatList: { value: Float32Array.of(3) } }] },
      { name: 'user', type: 1, id: 0, feature: [fid] },
      { name: '__LABEL__', type: 0, id: 2, feature: [{ floatList: { value: Float32Array.of(1) } }, {}] },
    ],
  });
  const framing = { lagrangexHeader: true, sortId: false };
  const options = { format: 'framed', dataType: 'exampl_ebatch', framing } as const;
  const expanded = await read(write('b.pb', batch, { ...framing, source: 'datasource_inst' }), options);
  t.equal(expanded.length, 4);
  t.match(expanded[1], { item: 3, user: fid.fidV1List.value, data_source_key: 1561460736 });
  const uneven = EXAMPLE_BATCH.encode({
    batchSize: 3,
    namedFeatureList: [{ name: 'item', type: 0, id: 1, feature: [fid] }],
  });
  const bad = write('c.pb', uneven, framing);
  await t.rejects(read(bad, options), { code: 'ML_DATA', message: /item has 1 values for 3 examples/ });
  const instance = INSTANCE.encode({ fid: BigInt64Array.of(18014398509482084n), label: Float32Array.of(0, 1) });
  const instances = await read(write('d.pb', instance), { format: 'framed' });
  t.match(instances[0], { fc_slot_1: BigInt64Array.of(18014398509482084n), label: Float32Array.of(0, 1) });
  t.throws(() => Dataset.from(bad, { format: 'framed', dataType: 'exmple' }), { code: 'ML_OPTION' });
});

t.test('a framed file that is cut gives its whole records, then an error', async (t) => {
  const one = frame(Buffer.from('payload'));
  const file = Buffer.concat([one, one]);
  for (const size of [1, 7, 1000]) {
    const found: string[] = [];
    await t.rejects(
      (async () => {
        for await (const { payload } of framedRecords(inPieces(file.subarray(0, -2), size))) {
          found.push(Buffer.from(payload).toString());
        }
      })(),
      { message: 'truncated record' },
    );
    t.same(found, ['payload']);
  }
  t.equal(
    (await all(framedRecords(inPieces(file.subarray(0, one.length + 9), 5)))).length,
    1,
    'a cut header is the end',
  );
  const beef = Buffer.concat([Buffer.alloc(8), Buffer.from('fefefefe00000000', 'hex')]);
  await t.rejects(all(framedRecords(inPieces(beef, 100))), { message: 'DEADBEEF value found' });
  const dir = t.testdir({});
  writeFileSync(join(dir, 'cut.pb'), Buffer.concat([frame(Buffer.from('a')), file.subarray(0, -2)]));
  const options = { format: 'framed', dataType: 'plaintext', badRows: 'skip' } as const;
  const rows = Dataset.from(join(dir, 'cut.pb'), options);
  t.same(
    (await all(rows)).map((row) => row.text),
    ['a', 'payload'],
  );
  t.equal(rows.findings.badRows, 1);
});

t.test('snappy as Hadoop writes it, and zstd on every Node.js', async (t) => {
  const text = Buffer.from('user,x\n'.repeat(400));
  const chunks = [text.subarray(0, 1000), text.subarray(1000)].map((part) => snappyCompress(part));
  const u32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const block = [u32(text.length), ...chunks.flatMap((chunk) => [u32(chunk.length), chunk])];
  const stream = Buffer.concat([...block, ...block]);
  const decoded = await all(hadoopSnappy(inPieces(stream, 33)));
  t.equal(Buffer.concat(decoded).toString(), text.toString().repeat(2));
  await t.rejects(all(hadoopSnappy(inPieces(stream.subarray(0, -3), 33))), { code: 'ML_SNAPPY' });
  const dir = t.testdir({});
  writeFileSync(join(dir, 'a.csv.snappy'), stream);
  t.equal((await all(Dataset.from(join(dir, 'a.csv.snappy')))).length, 799);
  // A frame with one raw block: magic, no window but a size of one byte, the last block of 8 bytes.
  const frameOf = (bytes: string) =>
    Buffer.concat([
      Buffer.from('28b52ffd20', 'hex'),
      Buffer.of(bytes.length, (bytes.length << 3) | 1, 0, 0),
      Buffer.from(bytes),
    ]);
  const zstd = join(dir, 'b.csv.zst');
  writeFileSync(zstd, Buffer.concat([frameOf('a,b\n1,2\n'), frameOf('3,4\n')]));
  t.equal(Buffer.concat(await all(zstdPieces(zstd))).toString(), 'a,b\n1,2\n3,4\n');
  t.same(await read(zstd, {}), [
    { a: '1', b: '2' },
    { a: '3', b: '4' },
  ]);
});

t.test('Parquet is read a row group at a time', async (t) => {
  const file = join(t.testdir({}), 'a.parquet');
  const columnData = [
    { name: 'user', data: [1n, 2n, 2n ** 60n], type: 'INT64' as const },
    { name: 'city', data: ['Rome', null, 'Oslo'], type: 'STRING' as const },
    { name: 'x', data: [0.5, 1.5, 2.5], type: 'FLOAT' as const },
  ];
  writeFileSync(file, new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2 })));
  const rows = await all(Dataset.from(file));
  t.match(rows, [
    { user: 1n, city: 'Rome', x: 0.5 },
    { user: 2n, x: 1.5 },
    { user: 2n ** 60n, city: 'Oslo', x: 2.5 },
  ]);
  t.match(placeOf(rows[2]!), /a\.parquet record 2, byte \d+/);
  writeFileSync(file, 'PAR1 but no more than this');
  await t.rejects(all(Dataset.from(file)), { code: 'ML_DATASET', message: /as Parquet/ });
});

t.test('examples of TensorFlow are read by hand as by their description, compressed too', async (t) => {
  const values = {
    ids: BigInt64Array.of(1n, -1n, 2n ** 62n, 127n, 128n, 2n ** 49n),
    floats: Float32Array.of(0.5, -2),
    one: BigInt64Array.of(5n),
    name: [Buffer.from('Ünal')],
  };
  const bytes = encodeTfExample(values);
  t.same({ ...exampleRow(bytes) }, { ids: values.ids, floats: values.floats, one: 5n, name: 'Ünal' });
  t.same(Object.keys(decodeTfExample(bytes)).sort(), Object.keys(exampleRow(bytes)).sort());
  const quick = new ExampleRows();
  const other = encodeTfExample({ ...values, name: [Buffer.from('a'), Buffer.from('b')], more: Float32Array.of(1) });
  for (const payload of [bytes, other, bytes]) t.same({ ...quick.row(payload) }, { ...exampleRow(payload) });
  for (let end = 0; end < bytes.length; end++) {
    try {
      quick.row(bytes.subarray(0, end));
    } catch (error) {
      t.ok(error instanceof RangeError, String(error));
    }
  }
  const file = join(t.testdir({}), 'a.tfrecord.gz');
  const records = Buffer.concat([recordOf(bytes), recordOf(bytes)]);
  writeFileSync(file, gzipSync(records));
  t.equal((await all(Dataset.from(file))).length, 2);
  writeFileSync(file, records.subarray(0, -3));
  await t.rejects(all(Dataset.from(file)), { code: 'ML_RECORD', fields: { record: 1, field: 'payload' } });
  const flipped = Buffer.from(records);
  flipped[20]! ^= 1;
  writeFileSync(file, flipped);
  await t.rejects(all(Dataset.from(file)), { code: 'ML_RECORD', fields: { record: 0, field: 'payload checksum' } });
});
