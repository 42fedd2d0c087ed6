import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { assetDir, checkpointPrefix, checkpointsIn, stepOfPrefix } from '../../src/checkpoint/names.js';
import { retain } from '../../src/checkpoint/retention.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import type { DenseValue, Snapshot, TableRow, TableSegment } from '../../src/checkpoint/snapshot.js';
import { stateCountOf, weightCountOf } from '../../src/io/optimizer-dump.js';
import { readTensorBundle } from '../../src/io/tensor-bundle.js';
import { parityCase } from '../io/parity.js';
import { contentOf, makeTable, sampleSnapshot, treeOf } from './helpers.js';

t.test('a saved snapshot is the latest checkpoint and loads as it was', async (t) => {
  const dir = join(t.testdir(), 'runs', 'ffm');
  t.equal(await latestCheckpoint(dir), null, 'no directory yet');
  const snapshot = sampleSnapshot(5);
  const saved = await saveCheckpoint(dir, snapshot);
  t.equal(saved.path, join(dir, 'model.ckpt-5'));
  t.same(saved.warnings, []);
  const files = treeOf(dir);
  t.same(Object.keys(files).sort(), [
    'checkpoint',
    'model.ckpt-5.assets/MonolithHashTable_bias-00000-of-00001',
    'model.ckpt-5.assets/MonolithHashTable_user-0-x-00000-of-00001',
    'model.ckpt-5.assets/monolith_model.json',
    'model.ckpt-5.data-00000-of-00001',
    'model.ckpt-5.index',
  ]);
  const sizes = Object.entries(files).map(([name, hex]) => (name === 'checkpoint' ? 0 : hex.length / 2));
  t.equal(
    saved.bytes,
    sizes.reduce((a, b) => a + b),
  );
  t.equal(await latestCheckpoint(dir), saved.path);
  const loaded = await loadCheckpoint(saved.path, { expect: snapshot });
  t.same(contentOf(loaded), contentOf(snapshot));
  const step = readTensorBundle(saved.path).find(({ name }) => name === 'global_step');
  t.same(step, { name: 'global_step', dtype: 'int64', shape: [], data: BigInt64Array.of(5n) });
});

t.test('equal snapshots give byte-equal directories, and a loaded checkpoint saves to the same bytes', async (t) => {
  const dir = t.testdir({ a: {}, b: {}, c: {} });
  const first = await saveCheckpoint(join(dir, 'a'), sampleSnapshot(1));
  await saveCheckpoint(`${join(dir, 'b')}/`, sampleSnapshot(1));
  t.same(treeOf(join(dir, 'a')), treeOf(join(dir, 'b')));
  await saveCheckpoint(join(dir, 'c'), await loadCheckpoint(first.path));
  t.same(treeOf(join(dir, 'a')), treeOf(join(dir, 'c')));
});

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const segments: fc.Arbitrary<TableSegment[]> = fc.array(
  fc.record(
    { dim: fc.integer({ min: 1, max: 5 }), optimizer: fc.constantFrom('sgd', 'adagrad', 'ftrl') },
    { noNullPrototype: true },
  ),
  { minLength: 1, maxLength: 3 },
);
const floats = (count: number) => fc.float32Array({ minLength: count, maxLength: count, noNaN: true });
const table = segments.chain((shape) =>
  fc
    .array(
      fc.record({
        id: int64,
        weights: floats(weightCountOf(shape)),
        state: floats(stateCountOf(shape)),
        lastUpdateSec: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      }),
      { maxLength: 5 },
    )
    .map((rows) => ({ shape, rows })),
);
const denseValue: fc.Arbitrary<DenseValue> = fc.oneof(
  fc
    .float32Array({ noNaN: true })
    .map((data) => ({ name: 'f', dtype: 'float32' as const, shape: [data.length], data })),
  fc.bigInt64Array().map((data) => ({ name: 'l', dtype: 'int64' as const, shape: [1, data.length], data })),
  fc.int32Array().map((data) => ({ name: 'i', dtype: 'int32' as const, shape: [data.length, 1], data })),
);

t.test('any snapshot survives save and load', async (t) => {
  const home = t.testdir();
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.array(denseValue, { maxLength: 3 }),
      fc.array(table, { maxLength: 3 }),
      async (step, dense, tables) => {
        const snapshot: Snapshot = {
          step,
          modelName: 'any',
          dense: dense.map((value, i) => ({ ...value, name: `v${i}/é` })),
          tables: tables.map(({ shape, rows }, i) => makeTable(`table_${i}`, shape, rows)),
        };
        const dir = mkdtempSync(join(home, 'x'));
        const { path } = await saveCheckpoint(dir, snapshot);
        assert.deepEqual(contentOf(await loadCheckpoint(path)), contentOf(snapshot));
        rmSync(dir, { recursive: true });
      },
    ),
    { numRuns: 25 },
  );
});

t.test('rows are streamed: one object serves all of them, and a loop may stop early', async (t) => {
  const dir = t.testdir();
  const row: TableRow = { id: 0n, weights: Float32Array.of(0), state: new Float32Array(0), lastUpdateSec: 0 };
  function* rows(): Generator<TableRow> {
    for (let i = 0; i < 100_000; i++) {
      row.id = BigInt(i);
      row.weights[0] = i;
      yield row;
    }
  }
  const big = { name: 't', segments: [{ dim: 1, optimizer: 'sgd' as const }], rowCount: 100_000, rows };
  const { path } = await saveCheckpoint(dir, { ...sampleSnapshot(1), tables: [big] });
  const loaded = (await loadCheckpoint(path)).tables[0]!;
  let count = 0;
  for (const { id, weights } of loaded.rows()) {
    if (id !== BigInt(count) || weights[0] !== count) t.fail(`row ${count}`);
    count++;
  }
  t.equal(count, 100_000);
  for (const { id } of loaded.rows()) {
    t.equal(id, 0n);
    break;
  }
  if (process.platform === 'linux') {
    const open = readdirSync('/proc/self/fd').length;
    for (const _ of loaded.rows()) break;
    t.equal(readdirSync('/proc/self/fd').length, open, 'no file stays open');
  }
});

t.test('old checkpoints beyond keep are deleted, and only those', async (t) => {
  const dir = t.testdir({ 'model.ckpt-12.note': 'not a checkpoint of ours', 'other.txt': '' });
  for (const step of [1, 2, 3]) t.same((await saveCheckpoint(dir, sampleSnapshot(step), { keep: 3 })).deleted, []);
  t.same((await saveCheckpoint(dir, sampleSnapshot(10), { keep: 3 })).deleted, [join(dir, 'model.ckpt-1')]);
  t.same((await saveCheckpoint(dir, sampleSnapshot(11), { keep: 1 })).deleted.length, 3);
  t.same(checkpointsIn(dir), [join(dir, 'model.ckpt-11')]);
  t.same(
    readdirSync(dir).filter((name) => !name.startsWith('model.ckpt-11.')),
    ['checkpoint', 'model.ckpt-12.note', 'other.txt'],
  );
  await saveCheckpoint(dir, sampleSnapshot(12), { keep: 0 });
  t.equal(
    readFileSync(join(dir, 'checkpoint'), 'utf8'),
    'model_checkpoint_path: "model.ckpt-12"\nall_model_checkpoint_paths: "model.ckpt-12"\n',
  );
  t.same(checkpointsIn(dir).length, 2);
  await t.rejects(saveCheckpoint(dir, sampleSnapshot(13), { keep: -1 }), { code: 'ML_CKPT_WRITE' });
});

t.test('names, rotation and messages match the reference', async (t) => {
  type Names = { prefix: string; asset_dir: string; step_of_prefix: number; step_of_name_without_dash: number };
  const names = parityCase<{ basename: string; step: number }, Names>('save_utils', 'helper names');
  const prefix = checkpointPrefix(names.input.basename, names.input.step);
  t.same(
    {
      prefix,
      asset_dir: assetDir(prefix),
      step_of_prefix: stepOfPrefix(prefix),
      step_of_name_without_dash: stepOfPrefix(names.input.basename),
    },
    names.expected,
  );
  const suffix = parityCase<{ base: string; step: number }, { plain: string; padded: string }>(
    'save_utils',
    'global step suffix',
  );
  t.equal(checkpointPrefix(suffix.input.base, suffix.input.step), suffix.expected.plain);
  t.equal(checkpointPrefix(suffix.input.base, suffix.input.step, true), suffix.expected.padded);

  type Rotation = { max_to_keep: number; saves: string[] };
  const rotation = parityCase<Rotation, { last: string[][] }>('save_utils', 'rotation of two, same name saved again');
  let listed: readonly string[] = [];
  const seen = rotation.input.saves.map((save) => {
    listed = retain(listed, save, rotation.input.max_to_keep).listed;
    return listed;
  });
  t.same(seen, rotation.expected.last);

  type Exempt = { exempt: string[]; max_to_keep: number; save_sequence: number[] };
  const exempt = parityCase<Exempt, Record<string, number[]>>('save_utils', 'exempt checkpoints do not count');
  listed = [];
  for (const step of exempt.input.save_sequence) {
    listed = retain(listed, `ckpt-${step}`, exempt.input.max_to_keep, exempt.input.exempt).listed;
    const expected = exempt.expected[`after_${step}`];
    if (expected !== undefined) t.same(listed.map(stepOfPrefix), expected);
  }

  type Refused = { path: string };
  const invalid = parityCase<Refused, { error_starts_with: string }>(
    'save_utils',
    'restore from a path that is no checkpoint',
  );
  const error = await loadCheckpoint(invalid.input.path).catch((cause: unknown) => cause);
  t.match(error, { code: 'ML_CKPT_PATH' });
  t.ok(error instanceof Error && error.message.startsWith(invalid.expected.error_starts_with));
});

t.test('a directory that was moved still has its checkpoints', async (t) => {
  const dir = t.testdir();
  const state = parityCase<unknown, { state_file: string }>('save_utils', 'relative paths survive a directory move');
  t.match(state.expected.state_file, /^model_checkpoint_path: "[^/]+"\n/);
  await saveCheckpoint(join(dir, 'one'), sampleSnapshot(4));
  renameSync(join(dir, 'one'), join(dir, 'two'));
  const latest = await latestCheckpoint(join(dir, 'two'));
  t.equal(latest, join(dir, 'two', 'model.ckpt-4'));
  t.equal((await loadCheckpoint(latest!)).step, 4);
});

t.test('missing entries of the state file are forgotten at the next save', async (t) => {
  const dir = t.testdir();
  for (const step of [1, 2, 3]) await saveCheckpoint(dir, sampleSnapshot(step));
  for (const name of readdirSync(dir)) {
    if (name.startsWith('model.ckpt-1.')) rmSync(join(dir, name), { recursive: true });
  }
  await saveCheckpoint(dir, sampleSnapshot(4));
  const text = readFileSync(join(dir, 'checkpoint'), 'utf8');
  t.same([...text.matchAll(/paths: "model.ckpt-(\d)"/g)].map(([, step]) => step).join(''), '234');
});

t.test('saving a step again changes nothing when it is equal, replaces it when it is not or is damaged', async (t) => {
  const dir = t.testdir();
  await saveCheckpoint(dir, sampleSnapshot(1));
  const { path } = await saveCheckpoint(dir, sampleSnapshot(2));
  const before = treeOf(dir);
  await saveCheckpoint(dir, sampleSnapshot(2));
  t.same(treeOf(dir), before);
  writeFileSync(`${path}.data-00000-of-00001`, 'damaged');
  const repaired = await saveCheckpoint(dir, sampleSnapshot(2));
  t.equal(repaired.path, join(dir, 'model.ckpt-02'), 'never over what is listed');
  t.same(repaired.deleted, [path]);
  const again = await saveCheckpoint(dir, sampleSnapshot(2, 9));
  t.equal(again.path, path, 'the plain name is free again');
  t.same(contentOf(await loadCheckpoint((await latestCheckpoint(dir))!)), contentOf(sampleSnapshot(2, 9)));
  t.same(Object.keys(treeOf(dir)), Object.keys(before));
});
