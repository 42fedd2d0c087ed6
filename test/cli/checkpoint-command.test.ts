import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { copyCheckpoint } from '../../src/checkpoint/copy-checkpoint.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { keepModelDir } from '../../src/checkpoint/model-dir-turns.js';
import { pruneCheckpoints } from '../../src/checkpoint/prune-checkpoints.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { runProgram } from '../../src/cli/program.js';
import { formatMonolithCheckpointState } from '../../src/io/checkpoint-state.js';
import { contentOf, faultyFileSystem, quick, sampleSnapshot, temporaries } from '../checkpoint/helpers.js';
import { FakeIo } from './fake-io.js';
import { MAIN, treeOf } from './run-cli.js';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly events: readonly Record<string, unknown>[];
}

async function run(...args: string[]): Promise<Ended> {
  const io = new FakeIo();
  const code = await runProgram(['checkpoint', ...args], io);
  const { text: out } = io.out;
  const events = args.includes('--json')
    ? out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
  return { code, out, err: io.err.text, events };
}

/** A directory with steps 1 to 4 listed, of which 2 is exempt, and step 9, which no state lists. */
async function modelDir(t: Test): Promise<string> {
  const dir = join(t.testdir(), 'm');
  await saveCheckpoint(dir, sampleSnapshot(9), { keep: 0, ...quick() });
  writeFileSync(join(dir, 'checkpoint'), 'model_checkpoint_path: "model.ckpt-1"\n');
  for (const step of [1, 2, 3, 4]) await saveCheckpoint(dir, sampleSnapshot(step), { keep: 10, ...quick() });
  const exempt = formatMonolithCheckpointState({ exemptModelCheckpointPaths: ['model.ckpt-2'] });
  writeFileSync(join(dir, 'monolith_checkpoint'), exempt);
  return dir;
}

const statuses = (events: readonly Record<string, unknown>[]) =>
  (events[0]!.checkpoints as { step: number; status: string }[]).map(({ step, status }) => [step, status]);

t.test('list tells what each checkpoint is to the directory, and changes nothing', async (t) => {
  const dir = await modelDir(t);
  const before = treeOf(dir);
  const { code, events } = await run('list', dir, '--json');
  t.equal(code, 0);
  t.same(statuses(events), [
    [1, 'listed'],
    [2, 'exempt'],
    [3, 'listed'],
    [4, 'latest'],
    [9, 'unlisted'],
  ]);
  t.match(events[0], { event: 'checkpoints', dir, trouble: null, temporaries: [] });
  t.match((events[0]!.checkpoints as unknown[])[0], { model: 'ffm', rows: 4, path: join(dir, 'model.ckpt-1') });
  const { out } = await run('list', dir);
  t.match(out.split('\n')[0], /^checkpoint +step +size +rows +model +saved +status$/);
  t.match(out, /^model\.ckpt-4 +4 .* ffm .* latest$/m);
  t.same(treeOf(dir), before);
});

t.test('list goes on where state files or manifests are damaged, and says so', async (t) => {
  const dir = await modelDir(t);
  writeFileSync(join(dir, 'model.ckpt-3.assets/monolith_model.json'), '{');
  writeFileSync(join(dir, 'checkpoint'), 'what is this');
  const { code, out } = await run('list', dir);
  t.equal(code, 0);
  t.match(out, /note: .*checkpoint is damaged: .*read ckpt error!/);
  t.match(out, /note: .*model\.ckpt-3\.assets\/monolith_model\.json is damaged/);
  const pruned = await run('prune', dir, '--yes');
  t.match(pruned, { code: 1, err: /ML_CKPT_READ[\s\S]*hint: without it nobody knows which/ });
  t.equal((await run('list', join(dir, 'no'))).code, 1);
  t.match(await run('list', join(dir, 'checkpoint')), { code: 1, err: /ML_CKPT_NONE.*it is a file/ });
  mkdirSync(join(dir, 'empty'));
  t.match(await run('list', join(dir, 'empty')), { code: 0, out: /has no checkpoints/ });
});

t.test('verify reads every byte of one checkpoint or of all', async (t) => {
  const dir = await modelDir(t);
  const before = treeOf(dir);
  const all = await run('verify', dir, '--json');
  t.equal(all.code, 0);
  t.equal(all.events.length, 5);
  t.ok(all.events.every(({ event, ok }) => event === 'verified' && ok === true));
  t.same(treeOf(dir), before, 'and changes nothing');
  const assets = join(dir, 'model.ckpt-3.assets');
  const file = join(assets, readdirSync(assets).find((name) => name.includes('-of-'))!);
  const bytes = readFileSync(file);
  bytes[20]! ^= 1;
  writeFileSync(file, bytes);
  const damaged = await run('verify', dir);
  t.equal(damaged.code, 1);
  t.match(damaged.out, /^whole {4}.*model\.ckpt-2 /m);
  t.match(damaged.out, /^damaged {2}.*model\.ckpt-3 {2}ML_CKPT_CORRUPT: .*-of-00001 is damaged/m);
  t.match(await run('verify', dir, '--latest'), { code: 0, out: /^whole .*model\.ckpt-4 [^\n]*\n$/ });
  const one = await run('verify', join(dir, 'model.ckpt-3'), '--json');
  t.match(one, { code: 1, events: [{ ok: false, trouble: { code: 'ML_CKPT_CORRUPT' } }] });
  t.match(await run('verify', file), { code: 1, err: /ML_CKPT_NONE.*files of a table/ });
});

t.test('verify shows how far it is on a terminal, and a signal ends it', async (t) => {
  const dir = await modelDir(t);
  const io = new FakeIo({ tty: true });
  io.nowMs = () => {
    io.timeMs += 1000;
    return io.timeMs;
  };
  t.equal(await runProgram(['checkpoint', 'verify', dir], io), 0);
  t.match(io.err.text, /\d+%.*KiB of .*ETA/);
  t.equal(io.signalListeners.size, 0, 'nobody listens any more');
});

t.test('verify reads a checkpoint without a manifest by its own checksums', async (t) => {
  const dir = await modelDir(t);
  rmSync(join(dir, 'model.ckpt-4.assets/monolith_model.json'));
  t.match(await run('verify', join(dir, 'model.ckpt-4')), { code: 0, out: /^whole/ });
  const data = join(dir, 'model.ckpt-4.data-00000-of-00001');
  const bytes = readFileSync(data);
  bytes[3]! ^= 8;
  writeFileSync(data, bytes);
  t.match(await run('verify', join(dir, 'model.ckpt-4')), { code: 1, out: /^damaged/ });
});

t.test('copy makes a checkpoint the latest of another directory', async (t) => {
  const dir = await modelDir(t);
  const before = treeOf(dir);
  const to = join(t.testdirName, 'deep', 'n');
  t.match(await run('copy', join(dir, 'model.ckpt-3'), to), {
    code: 0,
    out: /model\.ckpt-3 \(copied .* files\); it is the latest/,
  });
  t.same(treeOf(dir), before, 'the source stays');
  t.same(contentOf(await loadCheckpoint((await latestCheckpoint(to))!)), contentOf(sampleSnapshot(3)));
  const second = await run('copy', dir, to, '--link', '--json');
  t.match(second.events, [
    { event: 'copied', from: join(dir, 'model.ckpt-4'), path: join(to, 'model.ckpt-4'), linked: true },
  ]);
  t.equal(statSync(join(to, 'model.ckpt-4.index')).ino, statSync(join(dir, 'model.ckpt-4.index')).ino);
  t.same(statuses((await run('list', to, '--json')).events), [
    [3, 'listed'],
    [4, 'latest'],
  ]);
  t.equal((await run('verify', to)).code, 0);
  t.same(temporaries(to), []);
  t.match(await run('copy', dir, to), {
    code: 1,
    err: /ML_CKPT_WRITE.*something of that name is there[\s\S]*hint: copy to another/,
  });
  t.match(await run('copy', dir, dir), { code: 1, err: /it is in that directory/ });
});

t.test('copy spreads no damage, and a copy that fails leaves nothing', async (t) => {
  const dir = await modelDir(t);
  const to = join(t.testdirName, 'n');
  await saveCheckpoint(to, sampleSnapshot(1), quick());
  const before = treeOf(to);
  const data = join(dir, 'model.ckpt-4.data-00000-of-00001');
  const good = readFileSync(data);
  const bad = Buffer.from(good);
  bad[5]! ^= 1;
  writeFileSync(data, bad);
  t.match(await run('copy', dir, to), { code: 1, err: /ML_CKPT_CORRUPT.*data-00000-of-00001 is damaged: checksum/ });
  t.same(treeOf(to), before);
  writeFileSync(data, good);
  for (let at = 0; ; at++) {
    const fileSystem = faultyFileSystem({ at, mode: 'once' });
    const error = await copyCheckpoint(join(dir, 'model.ckpt-4'), to, { fileSystem }).catch(
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof Error)) {
      t.ok(at > 10, `${at} operations`);
      break;
    }
    t.match(error, { code: 'ML_CKPT_WRITE' }, `operation ${at}`);
    t.same((await latestCheckpoint(to))!, join(to, 'model.ckpt-1'), `operation ${at}`);
  }
});

t.test('prune lists what it would delete, and deletes it with --yes', async (t) => {
  const dir = await modelDir(t);
  const before = treeOf(dir);
  const { out } = await run('prune', dir, '--keep', '1');
  t.match(out, /would delete .*model\.ckpt-1 \(listed/);
  t.match(out, /would delete 2 checkpoints, .*; 3 kept\nnothing was deleted: --yes does it\n$/);
  t.same(treeOf(dir), before);
  const done = await run('prune', dir, '--keep', '1', '--yes', '--json');
  t.match(done.events, [
    { event: 'pruned', dry_run: false, deleted: [1, 3].map((step) => join(dir, `model.ckpt-${step}`)) },
  ]);
  t.same(statuses((await run('list', dir, '--json')).events), [
    [2, 'exempt'],
    [4, 'latest'],
    [9, 'unlisted'],
  ]);
  t.notOk(readdirSync(dir).some((name) => /model\.ckpt-[13]\./.test(name) || name.includes('pending')));
  t.match(await run('prune', dir), { code: 0, out: /nothing to delete: 3 checkpoints kept/ });
  t.equal((await run('prune', dir, '--unlisted', '--yes')).code, 0);
  t.notOk(existsSync(join(dir, 'model.ckpt-9.index')));
  t.equal((await run('verify', dir)).code, 0);
});

t.test('prune that fails half way loses nothing that stays, and the next one finishes it', async (t) => {
  const dir = await modelDir(t);
  for (let at = 0; ; at++) {
    const fileSystem = faultyFileSystem({ at, mode: 'once' });
    const error = await pruneCheckpoints(dir, { keep: 1, fileSystem }).catch((thrown: unknown) => thrown);
    t.same((await loadCheckpoint((await latestCheckpoint(dir))!)).step, 4, `operation ${at}`);
    if (!(error instanceof Error)) break;
    t.match(error, { code: 'ML_CKPT_WRITE' });
  }
  t.same(statuses((await run('list', dir, '--json')).events), [
    [2, 'exempt'],
    [4, 'latest'],
    [9, 'unlisted'],
  ]);
});

t.test('copy and prune do not touch a directory that a run has', async (t) => {
  const dir = await modelDir(t);
  const kept = await keepModelDir(dir);
  const other = (...args: string[]) => spawnSync(process.execPath, [MAIN, 'checkpoint', ...args], { encoding: 'utf8' });
  const before = treeOf(dir);
  const source = join(t.testdirName, 'source');
  await saveCheckpoint(source, sampleSnapshot(7), quick());
  for (const args of [
    ['prune', dir, '--keep', '1', '--yes'],
    ['copy', source, dir],
  ]) {
    const { status, stderr } = other(...args);
    t.equal(status, 1);
    t.match(stderr, new RegExp(`ML_DIR.*process ${process.pid} on host`));
  }
  t.equal(other('verify', dir).status, 0, 'reading needs no lock');
  t.same(treeOf(dir), before);
  await kept.release();
});

t.test('commands and flags that are not there are named', async (t) => {
  t.match(await run(), { code: 2, err: /checkpoint: needs a command\nhint: one of list, verify, copy, prune/ });
  t.match(await run('prun', 'x'), { code: 2, err: /prun: unknown command\nhint: did you mean prune\?/ });
  t.match(await run('prune', 'x', '--kep', '2'), {
    code: 2,
    err: /did you mean --keep\? see monolith checkpoint prune --help/,
  });
  t.match(await run('list'), { code: 2, err: /checkpoint list: missing required argument 'dir'/ });
  t.match(await run('prune', 'x', '--keep', '0'), { code: 2, err: /--keep: must be from 1/ });
});
