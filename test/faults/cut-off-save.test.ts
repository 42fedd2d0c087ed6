import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { contentOf, quick, sampleSnapshot, temporaries } from '../checkpoint/helpers.js';
import { runNode } from '../run-node.js';
import { FAULTS } from './rounds.js';
import { type DiskReport, found, SCENARIOS, saveFirst } from './saves.js';

const PROGRAM = fileURLToPath(new URL('./saves.js', import.meta.url));
const run = (cwd: string, ...args: (string | number)[]) => runNode([PROGRAM, ...args.map(String)], { cwd });

t.setTimeout(600_000 * FAULTS);

/** A lock is no part of a save: what a killed process left of one is cleared away once it is old. */
const temporariesOfSaves = (dir: string) => temporaries(dir).filter((name) => !name.startsWith('monolith.lock'));

for (const [scenario, snapshot] of Object.entries(SCENARIOS)) {
  // Some operations in a plain run, of which the first scenario has more, and all of them in a deep one.
  const stride = FAULTS > 1 ? 1 : snapshot.step === 2 ? 7 : 12;
  t.test(`cut off after an operation while ${scenario} is saved, a whole checkpoint is there`, async (t) => {
    const home = t.testdir();
    const dir = join(home, 'd');
    await saveFirst(dir);
    const counted = await run(home, dir, scenario, 'count', 0);
    t.equal(counted.code, 0, counted.err);
    const count = Number(counted.out);
    t.ok(count > 30, `${count} operations`);
    const survivors = { first: 0, second: 0 };
    for (let at = 0; at < count; at += stride) {
      rmSync(dir, { recursive: true, force: true });
      await saveFirst(dir);
      const ended = await run(home, dir, scenario, 'kill', at);
      t.equal(ended.code, null, `killed at ${at}: ${ended.err}`);
      survivors[await found(dir, scenario)]++;
      const { path } = await saveCheckpoint(dir, sampleSnapshot(3), { keep: 1, ...quick() });
      t.same(contentOf(await loadCheckpoint(path)), contentOf(sampleSnapshot(3)), `the next save after ${at}`);
      t.same(temporariesOfSaves(dir), [], `nothing is left after ${at}`);
      const indexes = readdirSync(dir).filter((name) => name.endsWith('.index'));
      t.same(indexes, ['model.ckpt-3.index'], `no checkpoint is left behind after ${at}`);
    }
    const { first, second } = survivors;
    t.ok(first > 0 && second > 0, 'kills fell before and after the moment that counts');
    t.comment(`${first + second} cuts: ${first} kept the checkpoint before, ${second} the new one, 0 were lost`);
  });

  t.test(`with a disk that is full at any operation while ${scenario} is saved, nothing is lost`, async (t) => {
    const home = t.testdir();
    // A process for each, as every one has a limit on its time.
    for (const mode of ['once', 'full']) {
      const ended = await run(home, home, scenario, mode, mode === 'once' ? stride : FAULTS > 1 ? 1 : 9);
      t.equal(ended.code, 0, ended.err);
      const { attempts, refused, saved, failures } = JSON.parse(ended.out) as DiskReport;
      t.same(failures, []);
      t.ok(refused > 0 && saved > 0);
      t.comment(
        `${attempts} full disks (${mode}): ${refused} saves refused, ${saved} came through, 0 checkpoints lost`,
      );
    }
  });
}
