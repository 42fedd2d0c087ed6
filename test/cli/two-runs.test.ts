import { join } from 'node:path';
import t from 'tap';
import { eventsOf, runCli, treeOf } from './run-cli.js';
import { runHere } from './run-here.js';

const ARGS = ['train', '--json', '--data', 'reference', '--batch-size', '16', '--threads', '1', '--model-dir', 'd'];
const ENDLESS = ['--steps', '2000000000'];

t.test('a second run in one model directory is refused and names the first, which saves as ever', async (t) => {
  const cwd = t.testdir();
  let second: ReturnType<typeof runHere> | undefined;
  let firstPid: number | undefined;
  const first = await runCli([...ARGS, ...ENDLESS], {
    cwd,
    during: (child, printed) => {
      if (second !== undefined || !printed.includes('"progress"')) return;
      firstPid = child.pid;
      second = runHere([...ARGS, '--steps', '5'], { cwd });
      second.finally(() => child.kill('SIGTERM'));
    },
  });
  const refused = await second!;
  t.equal(refused.code, 1);
  t.match(refused.err, new RegExp(`^error ML_DIR: model directory d cannot be used: process ${firstPid} on host `));
  t.match(eventsOf(refused.out), [{ event: 'error', code: 'ML_DIR', fields: { pid: firstPid } }]);
  t.equal(first.code, 0);
  const done = eventsOf(first.out).at(-1)!;
  t.match(done, { event: 'done', interrupted: true, checkpoint: `d/model.ckpt-${done.step}` });
  t.notOk(Object.keys(treeOf(join(cwd, 'd'))).some((name) => name.startsWith('monolith.lock')));
  t.match(eventsOf((await runHere([...ARGS, '--steps', '1'], { cwd })).out)[0], { start_step: done.step });
});
