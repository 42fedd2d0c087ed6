import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { DirLock, LOCK_FILE } from '../../src/checkpoint/dir-lock.js';
import { formatOwner, type LockOwner, thisOwner } from '../../src/checkpoint/lock-owner.js';
import { keepModelDir } from '../../src/checkpoint/model-dir-turns.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { smallSession } from '../train/ffm-run.js';
import { quick, sampleSnapshot } from './helpers.js';

const CHILD = fileURLToPath(new URL('lock-child.js', import.meta.url));
const linux = process.platform === 'linux' ? {} : { skip: 'start times are read from /proc' };

/** A process of its own that answers each line with one. */
class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(t: Test, dir: string) {
    const env = { ...process.env, NODE_OPTIONS: '' };
    this.process = spawn(process.execPath, [CHILD, dir], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    t.teardown(() => this.process.kill('SIGKILL'));
    this.#lines = createInterface(this.process.stdout!)[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    return String((await this.#lines.next()).value);
  }

  ask(command: string): Promise<string> {
    this.process.stdin!.write(`${command}\n`);
    return this.line();
  }

  async kill(): Promise<void> {
    const closed = once(this.process, 'close');
    this.process.kill('SIGKILL');
    await closed;
  }
}

async function child(t: Test, dir: string): Promise<Child> {
  const started = new Child(t, dir);
  if ((await started.line()) !== 'ready') throw new Error('the process did not start');
  return started;
}

/** A process id that nobody has: of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '0']).pid;

/** Leaves a lock in `dir` as another owner would have, last touched `silentSec` ago. */
function plant(dir: string, change: Partial<LockOwner>, silentSec = 0): void {
  const path = join(dir, LOCK_FILE);
  writeFileSync(path, formatOwner({ ...thisOwner(), ...change }));
  const touched = Date.now() / 1000 - silentSec;
  utimesSync(path, touched, touched);
}

t.test('a lock is refused to others while its owner lives, and names it', async (t) => {
  const dir = t.testdir();
  const other = await child(t, dir);
  t.equal(await other.ask('take'), 'held');
  t.throws(() => DirLock.take(dir), {
    code: 'ML_DIR',
    message: new RegExp(`process ${other.process.pid} on host ${hostname()} trains or saves there since 20`),
    fields: { dir, pid: other.process.pid, host: hostname() },
    hint: /wait for it, stop it, or use another directory/,
  });
  await t.rejects(saveCheckpoint(dir, sampleSnapshot(1)), { code: 'ML_DIR' });
  t.same(readdirSync(dir), [LOCK_FILE], 'and leaves nothing');
  t.equal(await other.ask('release'), 'released');
  const lock = DirLock.take(dir);
  t.equal(await other.ask('take'), `ML_DIR ${process.pid}`);
  lock.release();
  t.same(readdirSync(dir), []);
});

t.test('the lock of a killed process is no hindrance', async (t) => {
  const dir = t.testdir();
  const other = await child(t, dir);
  t.equal(await other.ask('take'), 'held');
  await other.kill();
  t.ok(existsSync(join(dir, LOCK_FILE)));
  await saveCheckpoint(dir, sampleSnapshot(1));
  t.notOk(readdirSync(dir).some((name) => name.startsWith(LOCK_FILE)));
});

t.test('a process that ends by itself takes its lock with it', async (t) => {
  const dir = t.testdir();
  const other = await child(t, dir);
  t.equal(await other.ask('take'), 'held');
  const closed = once(other.process, 'close');
  other.process.stdin!.end();
  await closed;
  t.same(readdirSync(dir), []);
});

t.test('an owner is gone when its process is, or when another one has its id now', linux, async (t) => {
  const dir = t.testdir();
  const gone: [string, Partial<LockOwner>, number?][] = [
    ['no such process', { pid: deadPid() }],
    ['a process that started at another time', { pid: process.ppid, start: '1' }],
    ['before the last boot, and silent', { boot: 'another', pid: process.ppid }, 60],
    ['in another name space of process ids, and silent', { space: 'pid:[1]', pid: process.ppid }, 60],
  ];
  for (const [what, change, silentSec] of gone) {
    plant(dir, change, silentSec);
    const lock = DirLock.take(dir);
    t.equal(JSON.parse(readFileSync(join(dir, LOCK_FILE), 'utf8')).pid, process.pid, what);
    lock.release();
    t.same(readdirSync(dir), [], what);
  }
});

t.test('an owner that cannot be looked up is not overruled, and the hint says how to', linux, async (t) => {
  const dir = t.testdir();
  plant(dir, { host: 'far-away' }, 90);
  t.throws(() => DirLock.take(dir), {
    code: 'ML_DIR',
    message: /on host far-away/,
    hint: /last sign of life is (90|91) seconds old; if it is gone for good, delete .*monolith\.lock and try again/,
  });
  plant(dir, { space: 'pid:[1]' });
  t.throws(() => DirLock.take(dir), { code: 'ML_DIR', hint: /if it is gone, try again in 30 seconds, or delete/ });
  writeFileSync(join(dir, LOCK_FILE), '');
  t.throws(() => DirLock.take(dir), { code: 'ML_DIR', message: /is new and cannot be read/ });
  utimesSync(join(dir, LOCK_FILE), 1, 1);
  DirLock.take(dir).release();
  t.same(readdirSync(dir), [], 'an old one without content is overruled');
});

t.test('of processes that start in the same instant exactly one gets the lock', async (t) => {
  const dir = t.testdir();
  const children = await Promise.all(Array.from({ length: 5 }, () => child(t, dir)));
  const dead = deadPid();
  for (let round = 0; round < 21; round++) {
    // None, one that is stale, and one that is stale whose successor is too: killed before it was renamed.
    const { id } = thisOwner();
    if (round % 3 > 0) plant(dir, { id, pid: dead });
    if (round % 3 > 1) writeFileSync(join(dir, `${LOCK_FILE}.${id}`), formatOwner({ ...thisOwner(), pid: dead }));
    const answers = await Promise.all(children.map((one) => one.ask('take')));
    const winner = children[answers.indexOf('held')];
    t.equal(answers.filter((text) => text === 'held').length, 1, `round ${round}: ${answers.join(', ')}`);
    t.equal(answers.filter((text) => text === `ML_DIR ${winner?.process.pid}`).length, 4, 'the others name it');
    await Promise.all(children.map((one) => one.ask('release')));
    const left = readdirSync(dir).filter((name) => name !== `${LOCK_FILE}.${id}`);
    t.same(left, [], `round ${round}`);
    // The successor that was planted is out of reach now; a save removes such files once they are old.
    rmSync(join(dir, `${LOCK_FILE}.${id}`), { force: true });
  }
});

t.test('in one process saves take turns, and a second run is refused', async (t) => {
  const dir = t.testdir();
  const saves = [1, 2, 3].map((step) => saveCheckpoint(dir, sampleSnapshot(step), quick()));
  const kept = await keepModelDir(dir);
  t.same(
    (await Promise.all(saves)).map(({ warnings }) => warnings),
    [[], [], []],
  );
  await t.rejects(keepModelDir(join(dir, '.')), { code: 'ML_DIR', message: /another run of this process/ });
  await saveCheckpoint(dir, sampleSnapshot(4), quick());
  await kept.release();
  await kept.release();
  await (await keepModelDir(dir)).release();
  t.notOk(existsSync(join(dir, LOCK_FILE)));
});

t.test('a run whose lock was taken from it does not save, one whose lock is missing takes it again', async (t) => {
  const dir = t.testdir();
  const kept = await keepModelDir(dir);
  rmSync(join(dir, LOCK_FILE));
  await saveCheckpoint(dir, sampleSnapshot(1), quick());
  t.ok(existsSync(join(dir, LOCK_FILE)));
  plant(dir, { host: 'far-away' });
  await t.rejects(saveCheckpoint(dir, sampleSnapshot(2), quick()), { code: 'ML_DIR', message: /far-away/ });
  await kept.release();
  t.ok(existsSync(join(dir, LOCK_FILE)), "another's lock is left alone");
  t.notOk(existsSync(join(dir, 'model.ckpt-2.index')));
});

t.test('a lock that could not be removed does not keep its own process out', async (t) => {
  const dir = t.testdir();
  const path = join(dir, LOCK_FILE);
  const lock = DirLock.take(dir);
  renameSync(path, `${path}-aside`);
  mkdirSync(path);
  lock.release();
  rmSync(path, { recursive: true });
  renameSync(`${path}-aside`, path);
  const other = await child(t, dir);
  t.equal(await other.ask('take'), `ML_DIR ${process.pid}`, 'others cannot tell');
  DirLock.take(dir).release();
  t.same(readdirSync(dir), []);
});

t.test('what stands in the place of a lock and is none is named', async (t) => {
  for (const plantAt of [(path: string) => mkdirSync(path), (path: string) => symlinkSync('nowhere', path)]) {
    const dir = t.testdir();
    plantAt(join(dir, LOCK_FILE));
    t.throws(() => DirLock.take(dir), { code: 'ML_DIR', hint: `${join(dir, LOCK_FILE)} is no lock: remove it` });
  }
});

t.test('a trainer has its directory from create to close', async (t) => {
  const dir = t.testdir();
  const options = { model: buildFfm(), session: smallSession(), modelDir: dir, steps: 1 };
  const trainer = await LocalTrainer.create(options);
  const other = await child(t, dir);
  t.equal(await other.ask('take'), `ML_DIR ${process.pid}`);
  await t.rejects(LocalTrainer.create({ ...options, model: buildFfm() }), { code: 'ML_DIR' });
  await trainer.close();
  t.equal(await other.ask('take'), 'held');
  await t.rejects(LocalTrainer.create({ ...options, model: buildFfm() }), {
    code: 'ML_DIR',
    fields: { pid: other.process.pid },
  });
  await other.ask('release');
  const settings = { rate: Number.NaN };
  await t.rejects(LocalTrainer.create({ ...options, settings }), { code: 'ML_CKPT_WRITE', message: /settings\.rate/ });
  writeFileSync(join(dir, 'checkpoint'), 'garbage');
  await t.rejects(LocalTrainer.create({ ...options, model: buildFfm() }), { code: 'ML_CKPT_CORRUPT' });
  const left = ['checkpoint', 'meta_graph_for_debugging.pb', 'monolith_checkpoint'];
  t.same(readdirSync(dir), left, 'a trainer that could not be made keeps nothing');
});
