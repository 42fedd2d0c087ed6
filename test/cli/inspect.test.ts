import { cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import type { TableSegment } from '../../src/checkpoint/snapshot.js';
import { runProgram } from '../../src/cli/program.js';
import { EntryDumpCodec } from '../../src/io/entry-dump.js';
import { encodeMessage } from '../../src/io/message.js';
import { MultiHashTableMetadataMessage } from '../../src/sparse/config-messages.js';
import { fidV2 } from '../../src/sparse/fid.js';
import { HashFilterSplitMetaMessage } from '../../src/sparse/filter-files.js';
import { quick, sampleSnapshot } from '../checkpoint/helpers.js';
import { recordBytes, snappyStream } from '../io/snappy-stream.js';
import { FakeIo } from './fake-io.js';
import { runCli } from './run-cli.js';

const USER = 'MonolithHashTable_user:0/x';
/** Bytes of a row of that table on disk. */
const RECORD = 76;
const USER_FILE = 'MonolithHashTable_user-0-x-00000-of-00001';

async function inspect(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = new FakeIo();
  const code = await runProgram(['inspect', ...args], io);
  return { code, out: io.out.text, err: io.err.text };
}

const fieldsOf = async (...args: string[]) => JSON.parse((await inspect(...args, '--json')).out);

/** A model directory with checkpoints of steps 10 and 20. */
async function makeModelDir(t: Test): Promise<string> {
  const dir = join(t.testdir(), 'm');
  await saveCheckpoint(dir, sampleSnapshot(10), quick());
  await saveCheckpoint(dir, sampleSnapshot(20, 5), quick());
  return dir;
}

/** Rows of a table as payloads; weights and state count up from `base`. */
function payloadsOf(segments: readonly TableSegment[], ids: readonly bigint[], timeSec = 1_700_000_000): Uint8Array[] {
  const codec = new EntryDumpCodec(segments);
  return ids.map((id, i) => {
    const row = { ...codec.makeRow(), id, lastUpdateSec: timeSec + i };
    row.weights.forEach((_, k) => {
      row.weights[k] = i + k / 8;
    });
    row.state.forEach((_, k) => {
      row.state[k] = 100 + i + k / 8;
    });
    const bytes = new Uint8Array(codec.maxBytes);
    return bytes.slice(0, codec.encode(row, bytes, new DataView(bytes.buffer), 0));
  });
}

t.test('a model directory shows its newest checkpoint', async (t) => {
  const dir = await makeModelDir(t);
  const { code, out, err } = await inspect(dir);
  t.equal(code, 0, err);
  t.equal(err, '');
  t.equal(
    out,
    `checkpoint ${dir}/model.ckpt-20 (step 20, model ffm)
5 dense variables, 36 B
  b            float32 []
  global_step  int64   []
  k            int32   [0]
  n            int64   [1]
  w            float32 [2, 2]
table ${USER}
  segments  1 ftrl + 2 adagrad
  rows      5 in 1 file, ${5 * RECORD} B, ${RECORD}.0 bytes each
  updated   2023-11-14T22:13:20Z to 2023-11-14T22:13:24Z
  slots     2: 16384 (3 rows), 16383 (2 rows)
table MonolithHashTable_bias
  segments  1 sgd
  rows      1 in 1 file, 38 B, 38.0 bytes each
  updated   no time was kept
  slots     1: 0 (1 row)
`,
  );
});

t.test('whatever part of a checkpoint is named, it is found', async (t) => {
  const dir = await makeModelDir(t);
  for (const [path, step] of [
    [`${dir}/`, 20],
    [join(dir, 'checkpoint'), 20],
    [join(dir, 'model.ckpt-10'), 10],
    [join(dir, 'model.ckpt-10.index'), 10],
    [join(dir, 'model.ckpt-10.data-00000-of-00001'), 10],
    [join(dir, 'model.ckpt-10.assets'), 10],
    [join(dir, 'model.ckpt-10.assets/monolith_model.json'), 10],
  ] as const) {
    t.match(await fieldsOf(path), { step, has_manifest: true, tables: [{ name: USER }, { rows: 1 }] }, path);
  }
  rmSync(join(dir, 'checkpoint'));
  t.match(await inspect(dir), { code: 0, out: /model\.ckpt-20 .*\nnote: .* no file "checkpoint"/ });

  const assets = join(dir, 'model.ckpt-20.assets');
  for (const path of [join(assets, 'MonolithHashTable_user-0-x'), join(assets, USER_FILE)]) {
    const fields = await fieldsOf(path);
    t.match(fields, { step: 20, dense: [], tables: [{ name: USER, rows: 5, files: 1 }] }, path);
    t.equal(fields.tables.length, 1);
  }
});

t.test('JSON has everything', async (t) => {
  const dir = await makeModelDir(t);
  const fields = await fieldsOf(dir);
  t.same(fields.tables[0], {
    name: USER,
    segments: [
      { dim: 1, optimizer: 'ftrl' },
      { dim: 2, optimizer: 'adagrad' },
    ],
    rows: 5,
    bytes: 5 * RECORD,
    files: 1,
    oldest_sec: 1_700_000_000,
    newest_sec: 1_700_000_004,
    bytes_per_row: RECORD,
    slot_count: 2,
    slots: [
      { slot: 16384, rows: 3 },
      { slot: 16383, rows: 2 },
    ],
  });
  t.same(fields.dense.at(-1), { name: 'w', dtype: 'float32', shape: [2, 2], bytes: 16 });
  t.same((await fieldsOf(dir, '--slots', '--top', '1')).tables[0].slots, [{ slot: 16384, rows: 3 }]);
});

t.test('--quick leaves the rows unread', async (t) => {
  const dir = await makeModelDir(t);
  truncateSync(join(dir, 'model.ckpt-20.assets', USER_FILE), 100);
  t.match(await inspect(dir, '--quick'), { code: 0, out: /rows {6}5 in 1 file/ });
  t.match(await fieldsOf(dir, '--quick'), { tables: [{ rows: 5, slots: [], newest_sec: null }, {}] });
  rmSync(join(dir, 'model.ckpt-20.assets/monolith_model.json'));
  t.match(await inspect(dir, '--quick'), { code: 0, out: /rows {6}not read; 100 B in 1 file/ });
});

t.test('--table and --slots narrow it down', async (t) => {
  const dir = await makeModelDir(t);
  for (const name of [USER, 'MonolithHashTable_user-0-x']) {
    const { out } = await inspect(dir, '--table', name);
    t.match(out, /table MonolithHashTable_user/);
    t.notMatch(out, /bias|dense/);
  }
  t.match(await inspect(dir, '--slots', '--top', '1', '--table', USER), {
    code: 0,
    out: / slot +rows +share\n +16384 +3 +60\.0%\n {2}and 1 slot more; --top 2 shows all\n$/,
  });
  t.match(await inspect(dir, '--table', 'MonolithHashTable_bais'), {
    code: 2,
    err: /--table: there is no table "MonolithHashTable_bais"\nhint: did you mean MonolithHashTable_bias\?/,
  });
  t.match(await inspect(dir, '--table', 'zz', '--quick'), { code: 2, err: /hint: there are MonolithHashTable_user/ });
});

t.test('--id shows the row of an id from every table that has it', async (t) => {
  const dir = await makeModelDir(t);
  const id = -(2n ** 62n + 1n);
  const { code, out } = await inspect(dir, '--id', String(id));
  t.equal(code, 0);
  t.equal(
    out,
    `id ${id} (slot 16383, signature 281474976710655)
table ${USER}
  record    1 of ${dir}/model.ckpt-20.assets/${USER_FILE}
  updated   2023-11-14T22:13:21Z
  segment   1 ftrl
    weights   21
    zero      18.875
    norm      19
  segment   2 adagrad
    weights   21.125 21.25
    norm      18.75 18.625
`,
  );
  const unsigned = BigInt.asUintN(64, id);
  for (const text of [String(unsigned), `0x${unsigned.toString(16)}`]) {
    t.match(await fieldsOf(dir, '--id', text), {
      event: 'row',
      id: String(id),
      slot: 16383,
      found: [{ table: USER, record: 1, last_update_sec: 1_700_000_001, segments: [{ weights: [21] }, { dim: 2 }] }],
    });
  }
  t.match(await inspect(dir, '--id', '12'), {
    code: 1,
    out: /^id 12 .* is in no table, of 2 that were read\n$/,
    err: '',
  });
  t.match(await fieldsOf(dir, '--id', '12'), { event: 'row', found: [] });
  for (const bad of ['zz', '1.5', '0x', String(2n ** 64n), '1e3']) {
    t.match(await inspect(dir, '--id', bad), { code: 2, err: /--id: must/ }, bad);
  }
});

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

t.test('damage is told with file and record, and nothing half-read is shown', async (t) => {
  const dir = await makeModelDir(t);
  const assets = join(dir, 'model.ckpt-20.assets');
  const file = join(assets, USER_FILE);
  const whole = readFileSync(file);
  const put = (change: (bytes: Buffer) => Uint8Array) => writeFileSync(file, change(Buffer.from(whole)));
  const flip = (at: number) => (bytes: Buffer) => {
    bytes[at]! ^= 1;
    return bytes;
  };
  const cases: [string, (bytes: Buffer) => Uint8Array, RegExp][] = [
    ['a flipped payload', flip(RECORD * 2 + 30), /record 2, payload checksum/],
    ['a flipped length', flip(RECORD), /record 1, length checksum/],
    ['a cut record', (bytes) => bytes.subarray(0, RECORD * 3 + 5), /record 3, length: file ends/],
    ['a missing record', (bytes) => bytes.subarray(0, RECORD * 4), /size: has 304 bytes, 380 were written/],
    ['a row twice', (bytes) => Buffer.concat([bytes.subarray(0, RECORD), bytes.subarray(0, RECORD * 4)]), /checksum/],
  ];
  for (const [name, change, reason] of cases) {
    put(change);
    const ended = await inspect(dir);
    t.match(
      ended,
      { code: 1, out: '', err: /ML_CKPT_CORRUPT: checkpoint file .*user-0-x-00000-of-00001 is damaged/ },
      name,
    );
    t.match(ended.err, reason, name);
    t.match(ended.err, /hint: --quick shows/, name);
  }
  put((bytes) => bytes);
  const other = payloadsOf([{ dim: 9, optimizer: 'sgd' }], [1n]);
  const mixed = t.testdir({ 'x-00000-of-00001': '' });
  const rows = [...payloadsOf([{ dim: 2, optimizer: 'sgd' }], [1n, 2n]), ...other];
  writeFileSync(join(mixed, 'x-00000-of-00001'), await recordBytes(rows));
  t.match(await inspect(mixed), { code: 1, err: /x-00000-of-00001 is damaged: record 2/ }, 'a row of another shape');
  writeFileSync(join(mixed, 'x-00000-of-00001'), await recordBytes([Uint8Array.of(0xff, 0xff)]));
  t.match(await inspect(mixed), { code: 1, err: /x-00000-of-00001 is damaged: record 0/ }, 'not a row at all');
  writeFileSync(join(mixed, 'x-00000-of-00003'), await recordBytes(rows));
  t.match(await inspect(mixed), { code: 1, err: /ML_CKPT_SHARDS/ }, 'shards of two sets');
});

t.test('dense values are verified too, and a missing table file is told', async (t) => {
  const dir = await makeModelDir(t);
  const data = join(dir, 'model.ckpt-20.data-00000-of-00001');
  const bytes = readFileSync(data);
  bytes[0]! ^= 1;
  writeFileSync(data, bytes);
  t.match(await inspect(dir), { code: 1, err: /ML_CKPT_CORRUPT.*data-00000-of-00001.*[Cc]hecksum/ });
  const copy = `${dir}-copy`;
  cpSync(join(dir), copy, { recursive: true });
  rmSync(join(copy, 'model.ckpt-20.assets', USER_FILE));
  t.match(await inspect(copy), { code: 1, err: /ML_CKPT_CORRUPT.*user-0-x-00000-of-00001 is damaged: .*missing/ });
});

t.test('a place without a checkpoint is told, with what to try', async (t) => {
  const dir = await makeModelDir(t);
  const top = join(dir, '..');
  mkdirSync(join(top, 'empty'));
  writeFileSync(join(top, 'text'), 'hello');
  const cases: [string, RegExp][] = [
    [join(top, 'empty'), /the directory is empty\nhint: monolith train --model-dir/],
    [top, /no file in this directory is part of one\nhint: try .*\/m$/m],
    [join(top, 'text'), /the file is not part of one\nhint: give a model directory/],
    [join(dir, 'model.ckpt-30'), /no such file or directory\nhint: did you mean .*model\.ckpt-\d0\?/],
    [join(top, 'x/y/z'), /no such file or directory\nhint: give a model directory/],
  ];
  for (const [path, message] of cases) {
    t.match(await inspect(path), { code: 1, out: '', err: /ML_CKPT_NONE: there is no checkpoint at / }, path);
    t.match((await inspect(path)).err, message, path);
  }
  t.match(await inspect(), { code: 2, err: /missing required argument 'checkpoint'/ });
  t.match(await inspect(dir, '--quick', '--slots'), { code: 2, err: /--quick: contradicts --slots/ });
  t.match(await inspect(dir, '--slots', '--id', '1'), { code: 2, err: /--slots: contradicts --id/ });
  t.match(await inspect(dir, '--idd', '1'), { code: 2, err: /--idd: unknown flag\nhint: did you mean --id/ });
});

t.test('as a process: help, a reader that goes away, and a file that cannot be', async (t) => {
  const dir = await makeModelDir(t);
  t.match(await runCli(['inspect', '--help'], { cwd: dir }), { code: 0, out: /Examples:\n {2}monolith inspect runs/ });
  t.match(await runCli(['inspect', '.'], { cwd: dir }), { code: 0, out: /^checkpoint model\.ckpt-20 /, err: '' });
  const gone = await runCli(['inspect', '.'], { cwd: dir, during: (child) => child.stdout?.destroy() });
  t.match(gone, { code: 0, err: '' });
});
