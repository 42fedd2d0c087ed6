import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { missing } from '../requirement.js';
import { type CliEvent, eventsOf, MAIN, runCli, treeOf } from './run-cli.js';
import { runHere } from './run-here.js';

const isCheckpoint = ({ event }: CliEvent) => event === 'checkpoint';
/** Little data and small batches: what is tested here is what is printed. */
const SMALL = ['--data', 'reference', '--batch-size', '16', '--threads', '2'];

t.test('without a model directory nothing is written, and text for people has one line per interval', async (t) => {
  const cwd = t.testdir();
  const { code, out, err } = await runHere(['train', ...SMALL, '--steps', '20'], { cwd });
  t.equal(code, 0);
  t.equal(err, '');
  const lines = out.trimEnd().split('\n');
  t.match(lines, [
    /^training ffm on reference: 20 steps of 16 examples, 2 threads, wasm backend$/,
    /^running on .+, (plain|relaxed|wide) kernels$/,
    /^step 20\/20 {2}100% {2}loss 0\.\d{4} .* ETA 0s$/,
    /^evaluated step 20: AUC undefined, loss 0\.\d{4}, 64 examples$/,
    /^done at step 20$/,
    /^ {2}final loss +0\.\d{4} \(last batch\)$/,
    /^ {2}held-out loss +0\.\d{4}$/,
    /^ {2}held-out AUC +undefined/,
    /^ {2}throughput +[\d.]+k? examples\/s/,
    /^ {2}checkpoint +not kept: --model-dir DIR keeps it$/,
    /^ {2}report +none: .*--data demo:clicks/,
  ]);
  t.equal(lines.length, 11);
  t.notMatch(out, '\x1b', 'no colour and no cursor movement in a file');
  t.same(treeOf(cwd), {});
});

t.test('--quiet prints the result only', async (t) => {
  const cwd = t.testdir();
  const text = await runHere(['train', '--quiet', ...SMALL, '--steps', '5'], { cwd });
  t.match(text, { code: 0, out: /^done at step 5\n {2}final loss/, err: '' });
  const json = await runHere(['train', '--quiet', '--json', ...SMALL, '--steps', '5'], { cwd });
  t.same(
    eventsOf(json.out).map((event) => event.event),
    ['done'],
  );
});

t.test('labels of one class have no AUC', async (t) => {
  const { out } = await runHere(['train', '--json', ...SMALL, '--steps', '20'], { cwd: t.testdir() });
  const events = eventsOf(out);
  t.match(events.at(-1), { event: 'done', step: 20, checkpoint: null, trace: null });
  t.equal(events.at(-1)!.auc, null);
  t.equal(events.find(({ event }) => event === 'eval')?.auc, null);
});

const full = existsSync('/dev/full') ? {} : { skip: missing('linux', 'this system has no /dev/full') };
t.test('output that cannot be written is an error with a code, not a defect', full, async (t) => {
  const stdout = openSync('/dev/full', 'w');
  t.teardown(() => closeSync(stdout));
  const ended = await runCli(['train', '--json', ...SMALL, '--steps', '5'], { cwd: t.testdir(), stdout });
  t.match(ended, { code: 1, err: /^error ML_OUTPUT: output cannot be written: ENOSPC.*\nhint: free some disk space/ });
});

t.test('a run whose log can grow no more saves and stops', full, async (t) => {
  const cwd = t.testdir();
  // The largest file of this process is 1 MiB: the log is as good as full, checkpoints are far from it.
  writeFileSync(join(cwd, 'log'), 'x'.repeat(2 ** 20 - 900));
  const args = ['train', '--json', ...SMALL, '--steps', '2000000000', '--save-every', '1', '--model-dir', 'd'];
  const script = 'ulimit -f 2048; exec "$@" >> log';
  const command = ['-c', script, 'sh', 'env', '-u', 'NODE_OPTIONS', process.execPath, MAIN, ...args];
  const child = spawn('sh', command, { cwd, stdio: ['ignore', 'ignore', 'pipe'], timeout: 60_000 });
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const [code] = await once(child, 'close');
  t.equal(code, 1);
  t.match(err, /^error ML_OUTPUT: output cannot be written: EFBIG/);
  const told = eventsOf(readFileSync(join(cwd, 'log'), 'utf8').slice(2 ** 20 - 900)).filter(isCheckpoint).length;
  const next = eventsOf((await runHere([...args.slice(0, 8), '--steps', '1', '--model-dir', 'd'], { cwd })).out);
  t.ok((next[0]!.start_step as number) > told, `${told} saves were told of, the last step was saved after`);
});
