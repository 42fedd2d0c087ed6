import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { writeFileAtomic } from '../../src/base/files/atomic-file.js';
import { type FileSystem, nodeFileSystem } from '../../src/base/files/file-system.js';
import { isTemporaryName, temporaryName } from '../../src/base/files/temporary-names.js';
import {
  formatCheckpointState,
  formatMonolithCheckpointState,
  parseCheckpointState,
  parseMonolithCheckpointState,
} from '../../src/io/checkpoint-state.js';
import { formatPbtxtDouble, parsePbtxt, quotePbtxt } from '../../src/io/pbtxt.js';
import {
  type RowRange,
  shardCountOf,
  shardFileName,
  shardRange,
  tableBaseName,
  validateShardedFiles,
} from '../../src/io/shard-files.js';
import { parityCase } from './parity.js';

t.test('the checkpoint state has the text of the reference and comes back', async (t) => {
  const state = { modelCheckpointPath: 'model.ckpt-61', allModelCheckpointPaths: ['model.ckpt-30', 'model.ckpt-61'] };
  const text =
    'model_checkpoint_path: "model.ckpt-61"\n' +
    'all_model_checkpoint_paths: "model.ckpt-30"\n' +
    'all_model_checkpoint_paths: "model.ckpt-61"\n';
  t.equal(formatCheckpointState(state), text);
  t.same(parseCheckpointState(text, 'checkpoint'), state);
  const timed = { ...state, allModelCheckpointTimestamps: [1, 1700000000.125], lastPreservedTimestamp: 1.5 };
  t.match(
    formatCheckpointState(timed),
    /timestamps: 1\.0\n.*timestamps: 1700000000\.125\nlast_preserved_timestamp: 1\.5\n$/,
  );
  t.same(parseCheckpointState(formatCheckpointState(timed), 'checkpoint'), timed);
  const bad = { ...state, allModelCheckpointTimestamps: [1] };
  t.throws(() => formatCheckpointState(bad), { message: /must match checkpoint paths/ });
});

t.test('any paths come back from a state file', async () => {
  const path = fc.string({ minLength: 1, unit: 'grapheme' });
  fc.assert(
    fc.property(path, fc.array(path, { maxLength: 4 }), (modelCheckpointPath, allModelCheckpointPaths) => {
      const state = { modelCheckpointPath, allModelCheckpointPaths };
      assert.deepEqual(parseCheckpointState(formatCheckpointState(state), 'checkpoint'), state);
    }),
  );
});

t.test('the monolith checkpoint state has the golden text and comes back', async (t) => {
  type Input = { exempt_model_checkpoint_paths: string[]; last_checkpoint_save_timestamp: number };
  const golden = parityCase<Input, { text: string }>('pbtxt', 'monolith checkpoint state text');
  const state = {
    exemptModelCheckpointPaths: golden.input.exempt_model_checkpoint_paths,
    lastCheckpointSaveTimestamp: BigInt(golden.input.last_checkpoint_save_timestamp),
    builtinHashTableType: 'MULTI_CUCKOO_HASH_MAP' as const,
  };
  t.equal(formatMonolithCheckpointState(state), golden.expected.text);
  t.same(parseMonolithCheckpointState(golden.expected.text, 'f'), state);
  t.same(parseMonolithCheckpointState('builtin_hash_table_type: 1', 'f').builtinHashTableType, 'CUCKOO_HASH_MAP');
  t.same(parseMonolithCheckpointState('', 'f'), { exemptModelCheckpointPaths: [] });
});

t.test('malformed state files are refused with file and line', async (t) => {
  const texts: Record<string, number> = {
    '': 1,
    'model_checkpoint_path: "a': 1,
    'model_checkpoint_path: "a"\nnodel_checkpoint_path: "b"\n': 2,
    'model_checkpoint_path "a"': 1,
    'model_checkpoint_path: 5': 1,
    'model_checkpoint_path: "a" }': 1,
    'model_checkpoint_path: "\\q"': 1,
    '# note\n\nmodel_checkpoint_path { x: 1': 3,
    'model_checkpoint_path: "a"\nlast_preserved_timestamp: soon': 2,
  };
  for (const [text, line] of Object.entries(texts)) {
    t.throws(() => parseCheckpointState(text, 'd/checkpoint'), {
      code: 'ML_PBTXT',
      fields: { file: 'd/checkpoint', line },
    });
  }
});

t.test('every spelling of the text format is understood', async (t) => {
  const text = `# comment
    a: 1, b: 'x' "y" ; c { d: true } e: < f: -1.5e3 > g: [1, 2] h: [] i: "\\x41\\u00e9\\303\\251é\\n\\""`;
  const fields = parsePbtxt(text, 'f').map(({ name, value }) => {
    if (value.kind === 'word') return [name, value.word];
    if (value.kind === 'string') return [name, Buffer.from(value.bytes).toString('utf8')];
    return [name, value.fields.map((field) => field.name)];
  });
  t.same(fields, [
    ['a', '1'],
    ['b', 'xy'],
    ['c', ['d']],
    ['e', ['f']],
    ['g', '1'],
    ['g', '2'],
    ['i', 'Aééé\n"'],
  ]);
  t.equal(quotePbtxt('é\'"\\\n\0'), '"\\303\\251\\\'\\"\\\\\\n\\000"');
  t.same([1, 0.5, 1e300, Number.NaN, -Infinity].map(formatPbtxtDouble), ['1.0', '0.5', '1e+300', 'nan', '-inf']);
});

t.test('no text makes the parser do anything but answer or refuse', async () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab:{}<>[]",;#\\\n 01x\'é') }), (text) => {
      try {
        parsePbtxt(text, 'f');
        return true;
      } catch (error) {
        return error instanceof MonolithError && error.code === 'ML_PBTXT';
      }
    }),
    { numRuns: 500 },
  );
});

t.test('shard names and the check of a set of shards match the reference', async (t) => {
  const names = parityCase<{ basename: string; shards: number }, string[]>('hash_table/files', 'shard file names');
  const { basename, shards } = names.input;
  t.same(
    Array.from({ length: shards }, (_, i) => shardFileName(basename, i, shards)),
    names.expected,
  );
  type Sets = { sets: [string, string[]][] };
  const accepted = parityCase<Sets, { shards: number[] }>('hash_table/files', 'accepted sets');
  t.same(
    accepted.input.sets.map(([base, files]) => validateShardedFiles(base, files).length),
    accepted.expected.shards,
  );
  const refused = parityCase<Sets, unknown>('hash_table/files', 'refused sets');
  const messages = [
    "Shard 1 doesn't show up for a/b",
    'Shard 1exceeds 1 for a/b-00001-of-00001',
    "Filename random-string doesn't belong to a/b",
    'There is no valid sharded files for a/b',
  ];
  refused.input.sets.forEach(([base, files], i) => {
    t.throws(() => validateShardedFiles(base, files), { code: 'ML_CKPT_SHARDS', message: messages[i] });
  });
  t.throws(() => validateShardedFiles('a', ['a-00000-of-00001', 'a-00001-of-00002']), {
    message: "Filename a-00001-of-00002 doesn't match nshards. 1",
  });
});

const rowsOf = ({ begin, end }: RowRange) => end - begin;

t.test('rows are split over shards without loss', async (t) => {
  t.same(
    [0, 999_999, 1_000_000, 2_500_000, 9e9].map((n) => shardCountOf(n)),
    [1, 1, 1, 2, 4],
  );
  t.equal(shardCountOf(5, 3), 3);
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 9 }), (rows, shards) => {
      const counts = Array.from({ length: shards }, (_, i) => rowsOf(shardRange(rows, i, shards)));
      assert.equal(
        counts.reduce((a, b) => a + b),
        rows,
      );
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1);
    }),
  );
  t.equal(tableBaseName('a:b/c_0'), 'a-b-c_0');
});

t.test('an atomic file replaces the old one whole and leaves no temporary name', async (t) => {
  const dir = t.testdir({ state: 'old' });
  const file = join(dir, 'state');
  await writeFileAtomic(file, 'new é');
  t.equal(readFileSync(file, 'utf8'), 'new é');
  t.same(readdirSync(dir), ['state']);
  t.match(temporaryName('x'), /^x\.tmp[0-9a-f]{32}$/);
  t.ok(isTemporaryName('checkpoint.tmp0123456789abcdef0123456789abcdef'));
  t.ok(isTemporaryName('a-00000-of-00001-tmp-1234'));
  t.notOk(isTemporaryName('a-00000-of-00001'));
});

t.test('when an atomic write fails, the old file stays, the temporary one goes and the cause is kept', async (t) => {
  const file = join(t.testdir({ state: 'old' }), 'state');
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const fail = async (): Promise<never> => {
    throw full;
  };
  const variants: Partial<FileSystem>[] = [
    { create: fail },
    { rename: fail },
    { create: async (path) => ({ ...(await nodeFileSystem.create(path)), write: fail }) },
    { create: async (path) => ({ ...(await nodeFileSystem.create(path)), sync: fail }) },
  ];
  for (const variant of variants) {
    const write = writeFileAtomic(file, 'new', { ...nodeFileSystem, ...variant });
    await t.rejects(write, { code: 'ML_CKPT_WRITE', cause: full, hint: /free some disk space/, fields: { file } });
    t.equal(readFileSync(file, 'utf8'), 'old');
    t.same(readdirSync(join(file, '..')), ['state']);
  }
  const both = { ...nodeFileSystem, rename: fail, remove: fail };
  await t.rejects(writeFileAtomic(file, 'new', both), { code: 'ML_CKPT_WRITE', cause: AggregateError });
  writeFileSync(file, 'still usable');
  t.ok(existsSync(file));
});
