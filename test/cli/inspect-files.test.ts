import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { TableSegment } from '../../src/checkpoint/snapshot.js';
import { encodeMessage } from '../../src/io/message.js';
import { HashFilterSplitMetaMessage } from '../../src/sparse/admission/filter-files.js';
import { MultiHashTableMetadataMessage } from '../../src/sparse/config/config-messages.js';
import { fidV2 } from '../../src/sparse/config/fid.js';
import { recordBytes, snappyStream } from '../io/snappy-stream.js';
import { fieldsOf, inspect, makeModelDir, payloadsOf } from './inspect-helpers.js';

t.test('files of other writers need no manifest', async (t) => {
  const dir = t.testdir();
  const cases: [string, TableSegment[], RegExp][] = [
    [
      'a',
      [
        { dim: 3, optimizer: 'adagrad' },
        { dim: 2, optimizer: 'adam' },
      ],
      /segments {2}3 adagrad \+ 2 adam$/m,
    ],
    ['b', [{ dim: 4, optimizer: 'sgd' }], /segments {2}4 sgd$/m],
    [
      'c',
      [
        { dim: 1, optimizer: 'ftrl' },
        { dim: 4, optimizer: 'sgd' },
      ],
      /segments {2}1 ftrl \+ 4 sgd$/m,
    ],
    [
      'd',
      [
        { dim: 2, optimizer: 'sgd' },
        { dim: 4, optimizer: 'sgd' },
      ],
      /segments {2}\? sgd \+ \? sgd$/m,
    ],
    ['e', [{ dim: 8, optimizer: 'movingAverage' }], /segments {2}8 without state$/m],
    ['f', [{ dim: 8, optimizer: 'adagrad', stateDim: 2 }], /segments {2}\? adagrad$/m],
    ['g', [{ dim: 1, optimizer: 'batchSoftmax' }], /segments {2}1 batchSoftmax$/m],
    [
      'h',
      [
        { dim: 5, optimizer: 'groupAdagrad' },
        { dim: 2, optimizer: 'amsgrad' },
      ],
      /5 groupAdagrad \+ 2 amsgrad$/m,
    ],
    [
      'i',
      [
        { dim: 3, optimizer: 'adagrad' },
        { dim: 2, optimizer: 'movingAverage' },
      ],
      /segments {2}\? adagrad$/m,
    ],
  ];
  for (const [name, segments, expected] of cases) {
    const payloads = payloadsOf(segments, [1n, fidV2(7, 2n), 3n]);
    writeFileSync(join(dir, `${name}-00000-of-00001`), await recordBytes(payloads));
    const shown = await inspect(join(dir, name));
    t.match(shown, { code: 0, err: '', out: expected }, name);
    t.match(shown.out, /note: there is no manifest/);
    t.match(shown.out, /rows {6}3 in 1 file.*\n.*\n {2}slots {5}2: 0 \(2 rows\), 7 \(1 row\)$/m, name);
    const { found } = await fieldsOf(join(dir, name), '--id', '3');
    t.equal(found[0].record, 2, name);
    const { weights } = found[0];
    t.same(
      weights,
      Array.from({ length: segments.reduce((sum, { dim }) => sum + dim, 0) }, (_, k) => 2 + k / 8),
      name,
    );
    const split = found[0].segments.flatMap((segment: { weights: number[] | null }) => segment.weights ?? []);
    t.same(split, expected.source.includes('\\?') ? [] : weights, `${name}: by segment where that is certain`);
    t.match((await inspect(join(dir, name), '--id', '3')).out, /weights +2( |$)/m, name);
  }
  t.match(await fieldsOf(dir), { tables: cases.map(([name]) => ({ name, rows: 3 })) }, 'a directory of tables');
});

t.test('tables that share compressed files are told apart', async (t) => {
  const dir = t.testdir();
  const a = payloadsOf([{ dim: 2, optimizer: 'adagrad' }], [1n, 2n, 3n]);
  const b = payloadsOf([{ dim: 1, optimizer: 'sgd' }], [2n, 9n]);
  const meta = (tableName: string, numEntries: number) =>
    encodeMessage(MultiHashTableMetadataMessage, { tableName, numEntries });
  const write = async (shard: number, tables: [string, Uint8Array[]][]) => {
    const suffix = `-0000${shard}-of-00002`;
    const rows = await recordBytes(tables.flatMap(([, payloads]) => payloads));
    writeFileSync(join(dir, `multi${suffix}`), snappyStream(rows, 50));
    const metas = tables.map(([name, payloads]) => meta(name, payloads.length));
    writeFileSync(join(dir, `multi.meta${suffix}`), await recordBytes(metas));
  };
  await write(0, [
    ['a', a.slice(0, 2)],
    ['b', b.slice(0, 1)],
  ]);
  await write(1, [
    ['a', a.slice(2)],
    ['b', b.slice(1)],
  ]);
  t.match(await fieldsOf(join(dir, 'multi')), {
    tables: [
      { name: 'a', rows: 3, files: 2, segments: [{ dim: 2, optimizer: 'adagrad' }] },
      { name: 'b', rows: 2, files: 2, segments: [{ dim: 1, optimizer: 'sgd' }] },
    ],
  });
  t.match(await fieldsOf(dir, '--id', '2'), {
    found: [
      { table: 'a', record: 1 },
      { table: 'b', record: 2 },
    ],
  });
  t.match(await fieldsOf(dir, '--table', 'b'), { tables: [{ name: 'b', rows: 2 }] });
  t.match(await fieldsOf(join(dir, 'multi-00001-of-00002')), { tables: [{ name: 'a', rows: 1 }, { rows: 1 }] });

  await write(1, [['a', a.slice(2)]]);
  const short = await recordBytes([meta('a', 1), meta('b', 1)]);
  writeFileSync(join(dir, 'multi.meta-00001-of-00002'), short);
  t.match(await inspect(dir), { code: 1, err: /ML_CKPT_CORRUPT.*multi-00001.*ends after 0 of 1 rows of table b/ });
  writeFileSync(join(dir, 'multi.meta-00001-of-00002'), await recordBytes([]));
  t.match(await inspect(dir), { code: 1, err: /ML_CKPT_CORRUPT.*there are more rows than/ });
  rmSync(join(dir, 'multi.meta-00001-of-00002'));
  t.match(await inspect(dir), { code: 1, err: /ML_CKPT_SHARDS: Shard 1 doesn't show up for multi\.meta/ });
});

t.test('filters are counted from their first records', async (t) => {
  const dir = await makeModelDir(t);
  for (const shard of [0, 1]) {
    const meta = { totalSize: 1000, numElements: 30 + shard, slidingHashFilterMeta: { splitNum: 2 } };
    const bytes = await recordBytes([encodeMessage(HashFilterSplitMetaMessage, meta), new Uint8Array(20)]);
    writeFileSync(join(dir, `model.ckpt-20.assets/hash_filter_0-0000${shard}-of-00002`), bytes);
  }
  t.match(await inspect(dir), { code: 0, out: /^filter hash_filter_0: 61 ids counted, 2 files, \d+ B$/m });
  t.match(await fieldsOf(dir), { filters: [{ name: 'hash_filter_0', files: 2, elements: 61, capacity: 1000 }] });
});
