import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { MersenneTwister } from '../../src/base/random.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { contentOf, sampleSnapshot, temporaries } from '../checkpoint/helpers.js';
import { type CliEvent, eventsOf, killAfterSaves, runCli, treeOf } from '../cli/run-cli.js';
import { missing } from '../requirement.js';
import { FAULTS, SEED } from './rounds.js';

const KILLS = 20 * FAULTS;
/** Runs that make one training: each is killed at a random moment, the last is not. */
const RUNS = 10;
const SAVE_EVERY = 3;
const TRAIN = ['train', '--json', '--data', 'reference', '--vocab', '100', '--batch-size', '16', '--threads', '1'];
const ARGS = [...TRAIN, '--deterministic', '--save-every', String(SAVE_EVERY), '--model-dir'];

t.setTimeout(600_000 * FAULTS);

const stepOf = (event: CliEvent | undefined): number => (event?.step as number | undefined) ?? 0;

/** Trains in `dir` and is killed some time after its start or after a save. The last save it told of. */
async function killedRun(cwd: string, dir: string, random: MersenneTwister): Promise<number> {
  const saves = random.nextBounded(4);
  const delayMs = random.nextBounded(saves === 0 ? 900 : 30);
  const ended = await runCli([...ARGS, dir, '--steps', '1000000000'], {
    cwd,
    during: killAfterSaves(saves, delayMs),
  });
  if (ended.code !== null) throw new Error(`it was not killed: ${ended.err}`);
  return stepOf(eventsOf(ended.out).findLast((event) => event.event === 'checkpoint'));
}

t.test('a run killed at random moments loses nothing that was saved, and ends as one that was not', async (t) => {
  const cwd = t.testdir();
  t.comment(`seed ${SEED}`);
  const random = new MersenneTwister(SEED);
  let [kills, trainings] = [0, 0];
  for (; kills < KILLS; trainings++) {
    const dir = `killed-${trainings}`;
    let saved = 0;
    for (let run = 0; run < RUNS; run++, kills++) {
      const told = await killedRun(cwd, dir, random);
      const latest = await latestCheckpoint(join(cwd, dir)).catch((thrown: unknown) => {
        // Killed before its first save: there is nothing yet, and nothing else may be wrong.
        if (saved > 0 || told > 0) throw thrown;
        return null;
      });
      const step = latest === null ? 0 : (await loadCheckpoint(latest)).step;
      t.ok(
        step >= told && step >= saved,
        `seed ${SEED}, kill ${kills}: at ${step}, told ${told}, saved ${saved} before`,
      );
      saved = step;
    }
    const last = saved + 2 * SAVE_EVERY;
    const ended = await runCli([...ARGS, dir, '--steps', String(last - saved)], { cwd });
    t.equal(ended.code, 0, ended.err);
    t.match(eventsOf(ended.out)[0], { event: 'start', start_step: saved });
    const whole = await runCli([...ARGS, `whole-${trainings}`, '--steps', String(last)], { cwd });
    t.equal(whole.code, 0, whole.err);
    const [found, expected] = [dir, `whole-${trainings}`].map((name) => ofStep(join(cwd, name), last));
    t.ok(Object.keys(expected!).length >= 5);
    t.same(found, expected, `seed ${SEED}: step ${last} has the bytes of a run that was never interrupted`);
    t.same(temporaries(join(cwd, dir)), []);
  }
  t.comment(`${kills} kills of ${trainings} trainings: ${kills} went on from their newest save, 0 were lost`);
});

/** Files of the checkpoint of `step`, with their digests. */
function ofStep(dir: string, step: number): Record<string, string> {
  return Object.fromEntries(Object.entries(treeOf(dir)).filter(([name]) => name.startsWith(`model.ckpt-${step}.`)));
}

t.test('a second process in the directory is refused, and the first loses nothing', async (t) => {
  const cwd = t.testdir();
  let second: Promise<{ code: number | null; out: string }> | undefined;
  const first = await runCli([...ARGS, 'd', '--steps', '1000000000'], {
    cwd,
    during: (child, printed) => {
      if (second !== undefined || !printed.includes('"checkpoint"')) return;
      second = runCli([...ARGS, 'd', '--steps', '3'], { cwd });
      void second.finally(() => child.kill('SIGTERM'));
    },
  });
  const refused = await second!;
  t.equal(refused.code, 1);
  t.match(eventsOf(refused.out).at(-1), { event: 'error', code: 'ML_DIR' });
  const saved = eventsOf(first.out).filter((event) => event.event === 'checkpoint');
  const loaded = await loadCheckpoint((await latestCheckpoint(join(cwd, 'd')))!);
  t.equal(loaded.step, stepOf(saved.at(-1)), 'the last step it told of is the latest');
  const third = await runCli([...ARGS, 'd', '--steps', '3'], { cwd });
  t.match(eventsOf(third.out)[0], { event: 'start', start_step: loaded.step }, 'and the directory is free again');
});

t.test('on a disk that is really full, the checkpoint before stays', async (t) => {
  const dir = join(t.testdir({ disk: {} }), 'disk');
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', dir]).status !== 0) {
    return t.plan(0, missing('root', 'a small file system cannot be mounted'));
  }
  try {
    await fillUp(t, join(dir, 'm'));
  } finally {
    t.equal(spawnSync('umount', ['-l', dir]).status, 0);
  }
});

async function fillUp(t: Test, model: string): Promise<void> {
  let saved = 0;
  for (let step = 1; ; step++) {
    const error = await saveCheckpoint(model, sampleSnapshot(step, 150 * step), { keep: 1 }).catch((e: unknown) => e);
    if (error instanceof Error) {
      t.match(error, { code: 'ML_CKPT_WRITE', message: /ENOSPC/, hint: /free some disk space/ });
      break;
    }
    saved = step;
  }
  t.ok(saved > 0, `${saved} saves fitted`);
  const latest = await loadCheckpoint((await latestCheckpoint(model))!);
  t.same(contentOf(latest), contentOf(sampleSnapshot(saved, 150 * saved)));
  t.same(temporaries(model), []);
  t.same((await saveCheckpoint(model, sampleSnapshot(saved + 1), { keep: 1 })).warnings, [], 'a smaller one fits');
}
