import { readFileSync } from 'node:fs';
import t from 'tap';
import { MAIN, runCli } from './run-cli.js';

t.test('the entry point starts with the line that names node', async (t) => {
  t.match(readFileSync(MAIN, 'utf8'), /^#!\/usr\/bin\/env node\n/);
});

t.test('help, version and doctor work', async (t) => {
  const cwd = t.testdir();
  t.match(await runCli(['--help'], { cwd }), {
    code: 0,
    out: /Usage: monolith[\s\S]*Examples:\n {2}monolith /,
    err: '',
  });
  t.match(await runCli(['--version'], { cwd }), { code: 0, out: /^\d+\.\d+\.\d+\n$/, err: '' });
  t.match(await runCli(['doctor'], { cwd }), { code: 0, out: /training works on this machine\n$/ });
});

t.test('what a command fails with is the exit code of the process, in one sentence and a hint', async (t) => {
  const cwd = t.testdir();
  t.match(await runCli(['train', '--stepz', '5'], { cwd }), {
    code: 2,
    out: '',
    err: /^error ML_FLAG: --stepz: unknown flag\nhint: .*--steps.*\n$/,
  });
  t.match(await runCli(['trace', 'missing.json'], { cwd }), {
    code: 1,
    out: '',
    err: /^error ML_TRACE_READ: .+\nhint: .+\n$/,
  });
});

t.test('help into a reader that closes at once is no error', async (t) => {
  const ended = await runCli(['train', '--help'], {
    cwd: t.testdir(),
    during: (child) => child.stdout?.destroy(),
  });
  t.match(ended, { code: 0, err: '' });
});
