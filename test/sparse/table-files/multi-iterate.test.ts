import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { EntryDumpCodec } from '../../../src/io/entry-dump.js';
import type { DumpSegment } from '../../../src/io/optimizer-dump.js';
import { tfSnappyDecode } from '../../../src/io/snappy.js';
import { PARTITIONS } from '../../../src/memory/table-layout.js';
import { iterateTable, saveAsTensor } from '../../../src/sparse/files/iterate-table.js';
import { featureStat } from '../../../src/sparse/files/multi-meta.js';
import { restoreMultiTable } from '../../../src/sparse/files/restore-multi-table.js';
import { saveMultiTable } from '../../../src/sparse/files/save-multi-table.js';
import { faultyFileSystem } from '../../checkpoint/helpers.js';
import { sampleRows, TestTable } from './fixture.js';

const SGD: readonly DumpSegment[] = [{ dim: 1, optimizer: 'sgd' }];
const ADAM: readonly DumpSegment[] = [{ dim: 2, optimizer: 'adam' }];
const quick = () => ({ fileSystem: faultyFileSystem({ at: Number.POSITIVE_INFINITY, mode: 'once' }) });

async function makeTables(): Promise<{ name: string; table: TestTable }[]> {
  const [slot0, slot1, slot2] = [
    await TestTable.create({ segments: SGD }),
    await TestTable.create({ segments: ADAM, banks: 2 }),
    await TestTable.create({ segments: ADAM }),
  ];
  slot0.put(sampleRows(2, SGD));
  slot1.put(sampleRows(4, ADAM));
  slot2.put(sampleRows(3000, ADAM));
  return [
    { name: 'slot2', table: slot2 },
    { name: 'slot0', table: slot0 },
    { name: 'slot1', table: slot1 },
  ];
}

t.test('tables go into one set of files and come back, unknown ones are skipped, missing ones told', async (t) => {
  const dir = t.testdir({});
  const base = join(dir, 'MonolithMultiHashTable_');
  const tables = await makeTables();
  const saved = await saveMultiTable(tables, base, { ...quick(), nshards: 2 });
  t.equal(saved.rows, 3006);
  t.same(readdirSync(dir), [
    'MonolithMultiHashTable_-00000-of-00002',
    'MonolithMultiHashTable_-00001-of-00002',
    'MonolithMultiHashTable_.meta-00000-of-00002',
    'MonolithMultiHashTable_.meta-00001-of-00002',
  ]);
  t.same(
    [...(await featureStat(base))],
    [
      ['slot0', 2],
      ['slot1', 4],
      ['slot2', 3000],
    ],
  );
  t.equal(
    readFileSync(`${base}.meta-00000-of-00002`).subarray(0, 25).toString('hex'),
    '090000000000000037f971390a05736c6f74301001bc8af709',
  );
  const [slot0, slot2, slot3] = [
    await TestTable.create({ segments: SGD }),
    await TestTable.create({ segments: ADAM }),
    await TestTable.create({ segments: SGD }),
  ];
  slot2.put(sampleRows(1, ADAM, 77));
  const kept = slot2.rows()[0]!;
  slot3.put(sampleRows(1, SGD));
  const restored = await restoreMultiTable(
    [
      { name: 'slot0', table: slot0 },
      { name: 'slot2', table: slot2 },
      { name: 'slot3', table: slot3 },
    ],
    base,
  );
  t.same(restored.skipped, ['slot1']);
  t.match(restored.warnings, [/slot3/]);
  t.same(slot0.rows(), tables[1]!.table.rows());
  // Tables are not cleared: id 77 of the sample is one of the 3000 as well, and has the values of the files now.
  t.same(slot2.rows(), tables[0]!.table.rows());
  t.ok(slot2.rows().some(({ id }) => id === kept.id));
  t.equal(slot3.rows().length, 1);
});

t.test('damage leaves all tables as they were', async (t) => {
  const base = join(t.testdir({}), 'multi');
  await saveMultiTable(await makeTables(), base, quick());
  const data = `${base}-00000-of-00001`;
  const intact = readFileSync(data);
  const table = await TestTable.create({ segments: SGD });
  const target = [{ name: 'slot0', table }];
  for (const change of [
    (bytes: Buffer) => bytes.subarray(0, bytes.length - 3),
    (bytes: Buffer) => bytes.subarray(0, 2),
    (bytes: Buffer) => Buffer.concat([bytes, bytes]),
    (bytes: Buffer) => {
      bytes[bytes.length - 30]! ^= 4;
      return bytes;
    },
    () => Buffer.alloc(0),
  ]) {
    writeFileSync(data, change(Buffer.from(intact)));
    await t.rejects(restoreMultiTable(target, base), { code: 'ML_CKPT_CORRUPT', fields: { file: data } });
    t.same(table.rows(), []);
  }
  writeFileSync(data, intact);
  const meta = `${base}.meta-00000-of-00001`;
  writeFileSync(meta, readFileSync(meta).subarray(0, 30));
  await t.rejects(restoreMultiTable(target, base), { message: /Read table metadata failed!/, fields: { file: meta } });
  t.ok(tfSnappyDecode(intact).length > 100_000, 'the stream is that of TensorFlow');
});

t.test('rows are given in portions, each once over all shards', async (t) => {
  const table = await TestTable.create({ segments: SGD, banks: 2 });
  table.put(sampleRows(260, SGD));
  const codec = new EntryDumpCodec(SGD);
  const idOf = (dump: Uint8Array) => {
    const row = codec.makeRow();
    codec.decode(dump, row);
    return row.id;
  };
  const wanted = table.rows().map(({ id }) => id);
  for (const nshards of [1, 10]) {
    for (const limit of [1, 7, 1000]) {
      const found = [...iterateTable(table, { nshards, limit })].flat().map(idOf);
      t.same(
        found.toSorted((a, b) => (a < b ? -1 : 1)),
        wanted,
      );
    }
  }
  let buckets = 0;
  for (let p = 0; p < PARTITIONS; p++) buckets += table.image.bucketsOf(p);
  const all = saveAsTensor(table, 0, 1);
  t.equal(all.dumps.length, 260);
  t.equal(all.newOffset, (buckets + 1) * 4, 'a completed pass stores (length + 1) * 4');
  const first = saveAsTensor(table, 0, 1, 100);
  const second = saveAsTensor(table, 0, 1, 1000, first.newOffset);
  t.same([...first.dumps, ...second.dumps], all.dumps);
  t.same(saveAsTensor(table, 0, 1, 5, second.newOffset).dumps, []);
  t.throws(() => saveAsTensor(table, 2, 2), { code: 'ML_CKPT_SHARDS' });
});
