import t from 'tap';
import { eventsOf, runCli } from './run-cli.js';
import { runHere } from './run-here.js';

const ENDLESS = ['--steps', '2000000000'];
const SMALL = ['--data', 'reference', '--batch-size', '16', '--threads', '2'];

t.test('the second signal ends the process at once', async (t) => {
  let sent = 0;
  // Batches of one make the evaluation after the first signal long: the second one always finds it at work.
  const ended = await runCli(['train', '--batch-size', '1', '--threads', '2', ...ENDLESS], {
    cwd: t.testdir(),
    during: (child, printed) => {
      if (sent === 0 && printed.includes('step ')) sent += Number(child.kill('SIGINT'));
      if (sent === 1 && printed.includes('stopping, Ctrl-C again')) sent += Number(child.kill('SIGINT'));
    },
  });
  t.equal(sent, 2);
  t.equal(ended.code, 130);
  t.equal(ended.err, 'stopping, Ctrl-C again to stop at once\n');
  t.notMatch(ended.out, 'stopped early');
});

t.test('a reader of the output that goes away stops the run, which still saves', async (t) => {
  const cwd = t.testdir();
  const args = ['train', '--json', ...SMALL, '--model-dir', 'd'];
  const ended = await runCli([...args, ...ENDLESS, '--save-every', '1'], {
    cwd,
    during: (child) => child.stdout?.destroy(),
  });
  t.match(ended, { code: 0, err: '' });
  const next = eventsOf((await runHere([...args, '--steps', '1'], { cwd })).out);
  t.match(next[0], { event: 'start', restored: /^d\/model\.ckpt-\d+$/ });
});
