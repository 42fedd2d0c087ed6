import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { crc32c, crcHex } from '../../src/base/crc32c.js';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import type { Manifest } from '../../src/checkpoint/manifest.js';
import { formatManifest, parseManifest } from '../../src/checkpoint/manifest-text.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { runProgram } from '../../src/cli/program.js';
import { writeTensorBundle } from '../../src/io/tensor-bundle.js';
import { quick, sampleSnapshot } from '../checkpoint/helpers.js';
import { FakeIo } from './fake-io.js';
import { inspect, USER_FILE } from './inspect-helpers.js';

const EVIL = 'w\x1b]0;owned\x07\x1b[2J\x9b31m\r\nhint: run this\u202e';
// Line breaks are ours; nothing else that a terminal obeys may come out.
const RAW = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e]/u;

/** A checkpoint whose manifest was changed, with a checksum that fits. */
async function withManifest(dir: string, change: (manifest: Manifest) => Manifest): Promise<string> {
  const { path } = await saveCheckpoint(dir, sampleSnapshot(1), quick());
  const file = join(`${path}.assets`, 'monolith_model.json');
  writeFileSync(file, formatManifest(change(parseManifest(readFileSync(file, 'utf8'), file))));
  return path;
}

t.test('names from files reach the terminal escaped: in text, JSON and errors', async (t) => {
  const dir = t.testdir({ plain: {}, bundle: {} });
  const evil = { ...sampleSnapshot(1), modelName: EVIL };
  const [first, ...rest] = evil.dense;
  await saveCheckpoint(
    join(dir, 'plain'),
    { ...evil, dense: [{ ...first!, name: EVIL }, ...rest], tables: [{ ...evil.tables[0]!, name: EVIL }] },
    quick(),
  );
  for (const args of [[], ['--json'], ['--slots'], ['--id', '7'], ['--table', 'x'], ['--table', 'x', '--verbose']]) {
    const { out, err } = await inspect(join(dir, 'plain'), ...args);
    t.ok(out + err !== '');
    t.notMatch(out + err, RAW, args.join(' '));
  }
  t.match((await inspect(join(dir, 'plain'))).out, 'w\\u001b]0;owned\\u0007');
  t.equal(JSON.parse((await inspect(join(dir, 'plain'), '--json')).out).model, EVIL, 'JSON still means the name');

  await writeTensorBundle(join(dir, 'bundle/model.ckpt-1'), [
    { name: EVIL, dtype: 'int32', shape: [1], data: Int32Array.of(1) },
  ]);
  const data = join(dir, 'bundle/model.ckpt-1.data-00000-of-00001');
  writeFileSync(data, Buffer.alloc(4));
  const damaged = await inspect(join(dir, 'bundle/model.ckpt-1'));
  t.match(damaged, { code: 1, out: '', err: /ML_CKPT_CORRUPT.*owned/ });
  t.notMatch(damaged.err, RAW);
  t.equal(damaged.err.match(/^hint: /gm)?.length, 1, 'a name cannot add a hint');

  const state = join(dir, 'state');
  mkdirSync(state);
  writeFileSync(join(state, 'checkpoint'), 'model_checkpoint_path: "\\033[2Jx"\n');
  const missing = await inspect(state);
  t.match(missing, { code: 1, err: /\\u001b\[2Jx/ });
  t.notMatch(missing.err, RAW);
});

t.test('what a trace file says reaches the terminal escaped', async (t) => {
  const dir = t.testdir();
  const event = { ph: 'X', pid: 1, tid: 1, ts: 1, dur: 1, name: EVIL, cat: EVIL };
  writeFileSync(join(dir, 'trace.json'), JSON.stringify([event, { ...event, ph: 'C', args: { [EVIL]: 1 } }]));
  for (const args of [[], ['--json']]) {
    const io = new FakeIo();
    t.equal(await runProgram(['trace', join(dir, 'trace.json'), ...args], io), 0);
    t.notMatch(io.out.text, RAW, args.join());
  }
});

t.test('a manifest that names files outside of its checkpoint is refused: nothing of them is read', async (t) => {
  const home = t.testdir({ outside: {} });
  const secret = join(home, 'outside', 'secret-00000-of-00001');
  cpSync(
    join(
      (await saveCheckpoint(join(home, 'a'), sampleSnapshot(1), quick())).path,
      `../model.ckpt-1.assets/${USER_FILE}`,
    ),
    secret,
  );
  const bytes = readFileSync(secret);
  const described = { bytes: bytes.length, crc32c: crcHex(crc32c(bytes)) };
  const changes: Record<string, (manifest: Manifest) => Manifest> = {
    'a table file': (manifest) => ({
      ...manifest,
      tables: manifest.tables.map((table, i) =>
        i === 0 ? { ...table, files: ['../../outside/secret-00000-of-00001'] } : table,
      ),
      files: [...manifest.files, { suffix: '.assets/../../outside/secret-00000-of-00001', ...described }],
    }),
    'a filter': (manifest) => ({
      ...manifest,
      filters: [{ name: '../../outside/secret', files: ['../../outside/secret-00000-of-00001'] }],
      files: [...manifest.files, { suffix: '.assets/../../outside/secret-00000-of-00001', ...described }],
    }),
    'a filter with one file too many': (manifest) => ({
      ...manifest,
      filters: [{ name: 'hash_filter_0', files: ['hash_filter_0-00000-of-00001', 'hash_filter_0/../../../x'] }],
    }),
    'a file of nobody': (manifest) => ({
      ...manifest,
      files: [...manifest.files, { suffix: '.assets/../../outside/x', ...described }],
    }),
  };
  for (const [name, change] of Object.entries(changes)) {
    const path = await withManifest(join(home, name), change);
    await t.rejects(loadCheckpoint(path), { code: 'ML_CKPT_CORRUPT' }, name);
    for (const args of [[], ['--quick'], ['--id', '7']]) {
      t.match(await inspect(path, ...args), { code: 1, out: '', err: /ML_CKPT_CORRUPT/ }, `inspect ${name} ${args}`);
    }
  }
});

t.test('a hostile checkpoint that is saved again writes nothing outside of its directory', async (t) => {
  const home = t.testdir({ target: { x: 'stolen' }, deep: { target: {} } });
  const path = await withManifest(join(home, 'hostile'), (manifest) => ({
    ...manifest,
    filters: [{ name: 'hash_filter_0', files: ['hash_filter_0-00000-of-00001', 'hash_filter_0/../../../target/x'] }],
    files: [
      ...manifest.files,
      { suffix: '.assets/hash_filter_0-00000-of-00001', bytes: 1, crc32c: crcHex(crc32c(Buffer.from('x'))) },
    ],
  }));
  writeFileSync(`${path}.assets/hash_filter_0-00000-of-00001`, 'x');
  const saved = await loadCheckpoint(path)
    .then((loaded) => saveCheckpoint(join(home, 'deep/copy'), loaded))
    .catch((thrown: unknown) => thrown);
  t.match(saved, { code: 'ML_CKPT_CORRUPT' });
  t.same(readdirSync(join(home, 'deep')), ['target']);
  t.same(readdirSync(join(home, 'deep/target')), []);
});

t.test('a table name with separators stays a file name', async (t) => {
  const home = t.testdir();
  const [first] = sampleSnapshot(1).tables;
  const snapshot = { ...sampleSnapshot(1), tables: [{ ...first!, name: '../../../x/..' }] };
  const { path } = await saveCheckpoint(join(home, 'a'), snapshot, quick());
  const copy = await saveCheckpoint(join(home, 'b'), await loadCheckpoint(path), quick());
  t.same(readdirSync(`${copy.path}.assets`).sort(), ['..-..-..-x-..-00000-of-00001', 'monolith_model.json']);
  t.same(readdirSync(home).sort(), ['a', 'b']);
});
