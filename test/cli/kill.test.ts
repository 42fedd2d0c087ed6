import { join } from 'node:path';
import t from 'tap';
import { MersenneTwister } from '../../src/base/random.js';
import { type CliEvent, eventsOf, killAfterSaves, runCli, treeOf } from './run-cli.js';

const KILLS = 5;
const ARGS = ['train', '--json', '--data', 'reference', '--batch-size', '16', '--threads', '1', '--model-dir', 'd'];

/** Saves after every step until it is killed: some checkpoints after the first, and some time after that one. */
async function killedRun(cwd: string, saves: number, delayMs: number): Promise<readonly CliEvent[]> {
  const ended = await runCli([...ARGS, '--steps', '2000000000', '--save-every', '1'], {
    cwd,
    during: killAfterSaves(saves, delayMs),
  });
  if (ended.code !== null) throw new Error(`was not killed: ${ended.err}`);
  return eventsOf(ended.out);
}

t.test('a run killed while it saves goes on from its newest whole checkpoint', async (t) => {
  const cwd = t.testdir();
  const seed = Date.now() & 0xffffffff;
  t.comment(`seed ${seed}`);
  const random = new MersenneTwister(seed);
  let told = 0;
  for (let kill = 0; kill <= KILLS; kill++) {
    const last = kill === KILLS;
    // A save takes some milliseconds and is all this run does: a random delay falls into any part of one.
    const saves = random.nextBounded(3) + 1;
    const delayMs = random.nextBounded(40);
    const events = last
      ? eventsOf((await runCli([...ARGS, '--steps', '3'], { cwd })).out)
      : await killedRun(cwd, saves, delayMs);
    const start = events[0]!;
    t.equal(start.event, 'start', `run ${kill} started`);
    t.ok((start.start_step as number) >= told, `from ${start.start_step}, told were ${told}`);
    t.equal(start.restored, kill === 0 ? null : `d/model.ckpt-${start.start_step}`);
    told = (last ? events.at(-1)! : events.findLast((event) => event.event === 'checkpoint')!).step as number;
  }
  const names = Object.keys(treeOf(join(cwd, 'd')));
  t.ok(names.includes(`model.ckpt-${told}.index`));
  t.same(
    names.filter((name) => name.includes('tmp')),
    [],
    'the next save removed what killed ones left',
  );
  const kept = names.filter((name) => name.endsWith('.index')).length;
  t.ok(kept <= 5, 'old checkpoints are deleted as ever, those that a killed save dropped too');
});
