import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { MersenneTwister } from '../../src/base/random.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { contentOf, sampleSnapshot, temporaries } from '../checkpoint/helpers.js';
import { type CliEvent, eventsOf, killAfterSaves, runCli, treeOf } from '../cli/run-cli.js';
import { runHere } from '../cli/run-here.js';
import { missing } from '../requirement.js';
import { FAULTS, SEED } from './rounds.js';

const KILLS = 14 * FAULTS;
/** Runs that make one training: each is killed at a random moment, the last is not. A plain run has all ways. */
const RUNS = 2;
const SAVE_EVERY = 3;
const TRAIN = ['train', '--json', '--batch-size', '16', '--threads', '1', '--deterministic'];
const DEMO = ['--data', 'reference', '--vocab', '100'];
/** Evaluations come between saves, and those that are the best so far are kept. */
const TABLE = ['--data', 'rows.csv', '--label', 'clicked', '--early-stop', '0', '--no-report'];
const ARGS = [...TRAIN, '--save-every', String(SAVE_EVERY)];
/** Each training is cut in another way. */
const WAYS = [
  [...DEMO, '--prefetch', '2', '--postpush'],
  DEMO,
  [...TABLE, '--prefetch', '1'],
  [...DEMO, '--prefetch', '1'],
  TABLE,
  [...DEMO, '--postpush'],
  [...TABLE, '--prefetch', '2', '--postpush'],
];

t.setTimeout(600_000 * FAULTS);

const stepOf = (event: CliEvent | undefined): number => (event?.step as number | undefined) ?? 0;

/** Trains and is killed some time after its start or after a save. The last save it told of. */
async function killedRun(cwd: string, args: readonly string[], random: MersenneTwister): Promise<number> {
  const saves = random.nextBounded(4);
  const delayMs = random.nextBounded(saves === 0 ? 900 : 30);
  const ended = await runCli([...args, '--steps', '1000000000'], {
    cwd,
    during: killAfterSaves(saves, delayMs),
  });
  if (ended.code !== null) throw new Error(`it was not killed: ${ended.err}`);
  return stepOf(eventsOf(ended.out).findLast((event) => event.event === 'checkpoint'));
}

t.test('a run killed at random moments loses nothing that was saved, and ends as one that was not', async (t) => {
  const cwd = t.testdir({ 'rows.csv': csvRows(400) });
  t.comment(`seed ${SEED}`);
  const random = new MersenneTwister(SEED);
  let [kills, trainings] = [0, 0];
  for (; kills < KILLS; trainings++) {
    const dir = `killed-${trainings}`;
    const argsOf = (name: string) => [...ARGS, ...WAYS[trainings % WAYS.length]!, '--model-dir', name];
    let saved = 0;
    for (let run = 0; run < RUNS; run++, kills++) {
      const told = await killedRun(cwd, argsOf(dir), random);
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
    const ended = await runHere([...argsOf(dir), '--steps', String(last - saved)], { cwd });
    t.equal(ended.code, 0, ended.err);
    const start = eventsOf(ended.out).find(({ event }) => event === 'start');
    t.equal(start?.start_step, saved);
    const whole = await runHere([...argsOf(`whole-${trainings}`), '--steps', String(last)], { cwd });
    t.equal(whole.code, 0, whole.err);
    const [found, expected] = [dir, `whole-${trainings}`].map((name) => ofStep(join(cwd, name), last));
    t.ok(Object.keys(expected!).length >= 5);
    t.same(found, expected, `seed ${SEED}: step ${last} has the bytes of a run that was never interrupted`);
    t.same(temporaries(join(cwd, dir)), [], 'the last save removed what killed ones left');
    const kept = Object.keys(treeOf(join(cwd, dir))).filter((name) => /^[^/]*\.index$/.test(name));
    t.ok(kept.length <= 5, 'old checkpoints are deleted as ever, those that a killed save dropped too');
  }
  t.comment(`${kills} kills of ${trainings} trainings: ${kills} went on from their newest save, 0 were lost`);
});

/** Users who like every third item. */
function csvRows(count: number): string {
  const random = new MersenneTwister(1);
  const lines = Array.from({ length: count }, () => {
    const [user, item] = [random.nextBounded(40), random.nextBounded(20)];
    return `u${user},i${item},${random.nextBounded(1000) / 10},${(user + item) % 3 === 0 ? 1 : 0}`;
  });
  return ['user,item,price,clicked', ...lines, ''].join('\n');
}

/** Files of the checkpoint of `step`, with their digests. */
function ofStep(dir: string, step: number): Record<string, string> {
  return Object.fromEntries(Object.entries(treeOf(dir)).filter(([name]) => name.startsWith(`model.ckpt-${step}.`)));
}

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
