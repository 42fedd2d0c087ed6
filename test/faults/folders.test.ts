/** What a save meets in its folder: one that may not be written, and one that goes away under it. */
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { MersenneTwister } from '../../src/base/random.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { contentOf, sampleSnapshot, temporaries } from '../checkpoint/helpers.js';
import { eventsOf, runCli } from '../cli/run-cli.js';
import { missing } from '../requirement.js';
import { FAULTS, SEED } from './rounds.js';

const ROUNDS = 40 * FAULTS;
const TRAIN = ['train', '--json', '--data', 'reference', '--batch-size', '16', '--threads', '1', '--model-dir'];

t.setTimeout(600_000 * FAULTS);

/** All at once: what is removed piece by piece may find new pieces. */
function takeAway(dir: string): void {
  if (existsSync(dir)) renameSync(dir, `${dir}-gone`);
  rmSync(`${dir}-gone`, { recursive: true, force: true });
}

t.test('in a folder that is read-only by now, the checkpoint before stays and restores', async (t) => {
  const disk = join(t.testdir({ disk: {} }), 'disk');
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]).status !== 0) {
    return t.plan(0, missing('root', 'a small file system cannot be mounted'));
  }
  try {
    const dir = join(disk, 'm');
    await saveCheckpoint(dir, sampleSnapshot(1));
    t.equal(spawnSync('mount', ['-o', 'remount,ro', disk]).status, 0);
    const error = await saveCheckpoint(dir, sampleSnapshot(2)).catch((thrown: unknown) => thrown);
    t.match(error, { message: /EROFS/, hint: /writ/ });
    t.match((error as MonolithError).code, /^ML_(CKPT_WRITE|DIR)$/);
    const run = await runCli([...TRAIN, dir, '--steps', '5'], { cwd: t.testdirName });
    t.equal(run.code, 1);
    t.match(eventsOf(run.out).at(-1), { event: 'error', code: 'ML_DIR', hint: /write/ });
    t.same(contentOf(await loadCheckpoint((await latestCheckpoint(dir))!)), contentOf(sampleSnapshot(1)));
    t.equal(spawnSync('mount', ['-o', 'remount,rw', disk]).status, 0);
    await saveCheckpoint(dir, sampleSnapshot(3));
    t.equal((await loadCheckpoint((await latestCheckpoint(dir))!)).step, 3, 'and later saves work again');
  } finally {
    t.equal(spawnSync('umount', ['-l', disk]).status, 0);
  }
});

t.test('a folder that is removed while it is saved to is told of, and the next save makes it anew', async (t) => {
  const home = t.testdir();
  const dir = join(home, 'm');
  const random = new MersenneTwister(SEED);
  let [refused, saved] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const step = round + 1;
    const saving = saveCheckpoint(dir, sampleSnapshot(step, 20)).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    const removed = new Promise<void>((resolve) => {
      setTimeout(() => {
        takeAway(dir);
        resolve();
      }, random.nextBounded(12));
    });
    const error = await saving;
    await removed;
    if (error === null) saved++;
    else {
      refused++;
      const isCoded = error instanceof MonolithError && ['ML_CKPT_WRITE', 'ML_DIR'].includes(error.code);
      t.ok(isCoded && error.hint !== undefined, `seed ${SEED}, round ${round}: ${String(error)}`);
    }
    const { path } = await saveCheckpoint(dir, sampleSnapshot(step, 20));
    t.equal((await loadCheckpoint(path)).step, step, `seed ${SEED}, round ${round}: the next save counts`);
    t.same(temporaries(dir), []);
  }
  t.comment(`${ROUNDS} removals: ${refused} saves were refused, ${saved} had come through`);
});

t.test('a training whose folder is removed goes on, and its next save is whole', async (t) => {
  const cwd = t.testdir();
  let removed = false;
  const { code, out } = await runCli([...TRAIN, 'm', '--save-every', '200', '--steps', '3000'], {
    cwd,
    during: (_child, printed) => {
      if (removed || !printed.includes('"checkpoint"')) return;
      removed = true;
      takeAway(join(cwd, 'm'));
    },
  });
  t.ok(removed);
  t.equal(code, 0, out);
  for (const { event, code: told } of eventsOf(out)) if (event === 'warning') t.equal(told, 'ML_CKPT_WRITE');
  t.equal((await loadCheckpoint((await latestCheckpoint(join(cwd, 'm')))!)).step, 3000);
});
