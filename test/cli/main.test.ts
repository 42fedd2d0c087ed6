import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const FAKE = fileURLToPath(new URL('./fake-main.js', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs node to its end; `during` sees the process once it has printed something. */
function run(
  args: string[],
  cwd: string,
  during: (child: ChildProcess, printed: string) => void = () => {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // By way of env, which takes out what tap puts in: its loaders would cost more than all the rest of the process.
    const command = ['-u', 'NODE_OPTIONS', '-u', 'MONOLITH_DEBUG', process.execPath, ...args];
    const child = spawn('env', command, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
      during(child, out + err);
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
      during(child, out + err);
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

t.test('the entry point starts with the line that names node', async (t) => {
  t.match(readFileSync(MAIN, 'utf8'), /^#!\/usr\/bin\/env node\n/);
});

t.test('help, version and doctor work', async (t) => {
  const cwd = t.testdir();
  t.match(await run([MAIN, '--help'], cwd), {
    code: 0,
    out: /Usage: monolith[\s\S]*Examples:\n {2}monolith /,
    err: '',
  });
  t.match(await run([MAIN, '--version'], cwd), { code: 0, out: /^\d+\.\d+\.\d+\n$/, err: '' });
  t.match(await run([MAIN, 'doctor'], cwd), { code: 0, out: /training works on this machine\n$/ });
});

t.test('misuse exits with 2, says why and what to do, and leaves nothing behind', async (t) => {
  const cases: [string[], RegExp, RegExp][] = [
    [['train', '--stepz', '5', '--model-dir', 'd'], /ML_FLAG: --stepz: unknown flag/, /did you mean --steps/],
    [['trian'], /ML_FLAG: trian: unknown command/, /did you mean train/],
    [['train', '--model', 'fmm', '--model-dir', 'd'], /--model: must be ffm, found "fmm"/, /did you mean ffm/],
    [['train', '--steps', '1e3', '--trace', 'x', '--model-dir', 'd'], /--steps: .*"1e3"/, /write 1000/],
  ];
  const cwd = t.testdir();
  for (const [args, message, hint] of cases) {
    const ended = await run([MAIN, ...args], cwd);
    const name = args.join(' ');
    t.match(ended, { code: 2, out: '', err: message }, name);
    t.match(ended.err, hint, name);
    t.notMatch(ended.err, / {4}at /, `${name} shows no stack`);
  }
  t.same(readdirSync(cwd), []);
});

t.test('with --json an error is one line on standard output', async (t) => {
  const ended = await run([MAIN, 'train', '--json', '--modle', 'ffm'], t.testdir());
  t.equal(ended.code, 2);
  t.match(JSON.parse(ended.out), { event: 'error', code: 'ML_FLAG', hint: /--model/, fields: { flag: '--modle' } });
});

t.test('a reader that goes away ends the run quietly', async (t) => {
  const ended = await run([FAKE, 'chatty', 'train', '--json'], t.testdir(), (child) => child.stdout?.destroy());
  t.match(ended, { code: 0, err: 'aborted by EPIPE\n' });
});

t.test('help into a reader that closes at once is no error', async (t) => {
  const ended = await run([MAIN, 'train', '--help'], t.testdir(), (child) => child.stdout?.destroy());
  t.match(ended, { code: 0, err: '' });
});

t.test('the first Ctrl-C ends the run with a result', async (t) => {
  let sent = false;
  const ended = await run(
    [FAKE, 'counting', 'train', '--json', '--steps', '2000000000'],
    t.testdir(),
    (child, printed) => {
      if (!sent && printed.includes('"progress"')) sent = child.kill('SIGINT');
    },
  );
  t.equal(ended.code, 0);
  t.equal(ended.err, 'saving and stopping, Ctrl-C again to stop at once\n');
  t.match(JSON.parse(ended.out.trimEnd().split('\n').at(-1) ?? ''), { event: 'done', interrupted: true });
});

t.test('the second Ctrl-C ends a run that does not answer', async (t) => {
  let sent = 0;
  const ended = await run([FAKE, 'deaf', 'train'], t.testdir(), (child, printed) => {
    if (sent === 0 && printed.includes('training')) sent += Number(child.kill('SIGINT'));
    if (sent === 1 && printed.includes('saving')) sent += Number(child.kill('SIGINT'));
  });
  t.equal(ended.code, 130);
  t.equal(ended.err, 'saving and stopping, Ctrl-C again to stop at once\n');
});
