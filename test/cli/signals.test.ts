import { join } from 'node:path';
import t from 'tap';
import { eventsOf, runCli, treeOf } from './run-cli.js';
import { runHere } from './run-here.js';

const ENDLESS = ['--steps', '2000000000'];
const SMALL = ['--data', 'reference', '--batch-size', '16', '--threads', '2'];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  t.test(`the first ${signal} saves the step at hand and is a success`, async (t) => {
    const cwd = t.testdir();
    const args = ['train', '--json', ...SMALL, '--model-dir', 'd'];
    let sent = false;
    const ended = await runCli([...args, ...ENDLESS], {
      cwd,
      during: (child, printed) => {
        if (!sent && printed.includes('"progress"')) sent = child.kill(signal);
      },
    });
    t.equal(ended.code, 0);
    t.equal(ended.err, 'saving and stopping, Ctrl-C again to stop at once\n');
    const done = eventsOf(ended.out).at(-1)!;
    const checkpoint = `d/model.ckpt-${done.step}`;
    t.match(done, { event: 'done', interrupted: true, checkpoint });
    const next = eventsOf((await runHere([...args, '--steps', '5'], { cwd })).out);
    t.match(next[0], { event: 'start', start_step: done.step, restored: checkpoint });
    t.match(next.at(-1), { event: 'done', step: (done.step as number) + 5, interrupted: false });
  });
}

t.test('a signal before the first step ends the run with nothing saved', async (t) => {
  const cwd = t.testdir();
  let sent = false;
  const ended = await runCli(['train', '--json', '--model-dir', 'd', ...ENDLESS], {
    cwd,
    during: (child, printed) => {
      // The data set is still being made when the start is told.
      if (!sent && printed.includes('"start"')) sent = child.kill('SIGINT');
    },
  });
  t.equal(ended.code, 0);
  const done = eventsOf(ended.out).at(-1)!;
  t.equal(done.interrupted, true);
  const saved = Object.keys(treeOf(join(cwd, 'd'))).filter((name) => name.includes('ckpt-'));
  t.same(saved.length === 0, done.step === 0, `stopped at step ${done.step}`);
});
