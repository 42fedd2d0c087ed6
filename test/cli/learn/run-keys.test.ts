/** @file Keys of a running train, pressed in a pseudo terminal that `script` makes. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { readEvents } from '../../../src/report/event-lines.js';
import { missing } from '../../requirement.js';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
const KEYS = new URL('../../../src/cli/terminal-keys.js', import.meta.url).href;
const LIMIT_MS = 90_000;
/** Of 100,000 rows, a fifth of which is held out. */
const STEPS_PER_EPOCH = 80_000 / 64;

t.setTimeout(2 * LIMIT_MS);

/** Runs a line of a shell in a terminal; `stty` says before and after what the terminal is like. */
function inTerminal(cwd: string, command: string) {
  const line = `stty -a > before; ${command}; echo "ended with $?"; stty -a > after`;
  const child = spawn('script', ['-qec', line, '/dev/null'], { cwd, env: { ...process.env, TERM: 'xterm' } });
  let text = '';
  const waiting = new Set<() => void>();
  const hear = (chunk: Buffer) => {
    text += chunk.toString('utf8');
    for (const look of waiting) look();
  };
  child.stdout.on('data', hear);
  const ended = new Promise<void>((resolve) => void child.on('close', () => resolve()));
  return {
    ended,
    text: () => text,
    press: (keys: string) => void child.stdin.write(keys),
    /** Waits until the terminal shows it, behind what it showed at the last call. */
    shows: (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${pattern} is not in ${text}`)), LIMIT_MS);
        const look = () => {
          if (!pattern.test(text)) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: () => void child.kill('SIGKILL'),
  };
}

const hasScript = spawnSync('script', ['--version']).status === 0;
const skip = hasScript ? false : missing('linux', 'there is no script of util-linux');

t.test('keys save, evaluate, trace, help and stop, and the terminal is as it was', { skip }, async (t) => {
  const cwd = t.testdir();
  // One that is asked for comes after a group of steps, which often ends with an epoch: so this one is long.
  const flags = '--data demo:clicks:100000 --batch-size 64 --epochs 1000 --early-stop 0 --model-dir run --threads 2';
  const terminal = inTerminal(cwd, `${process.execPath} ${MAIN} train ${flags}`);
  t.teardown(terminal.close);
  await terminal.shows(/press h for keys/);
  terminal.press('h');
  await terminal.shows(/keys: s save, e evaluate, t trace 200 steps, q save and stop/);
  terminal.press('xset');
  await terminal.shows(/asked at step \d+: save/);
  await terminal.shows(/asked at step \d+: evaluate/);
  await terminal.shows(/trace of steps \d+ to \d+: run.trace-/);
  terminal.press('q');
  await terminal.shows(/saving and stopping/);
  await terminal.shows(/ended with 0/);
  await terminal.ended;
  t.equal(readFileSync(join(cwd, 'after'), 'utf8'), readFileSync(join(cwd, 'before'), 'utf8'));
  const events = readEvents(join(cwd, 'run'));
  const of = (name: string) => events.filter(({ event }) => event === name);
  t.same(
    of('asked').map((event) => 'what' in event && event.what),
    ['save', 'evaluate', 'trace', 'stop'],
  );
  t.ok(of('checkpoint').length >= 2, 'the save that was asked for, and the last one');
  // Before the first step and after the last one there is an evaluation anyway.
  const beforeStop = events.slice(
    0,
    events.findIndex((event) => event.event === 'asked' && event.what === 'stop'),
  );
  t.ok(
    beforeStop.some((event) => event.event === 'eval' && event.step > 0 && event.step < STEPS_PER_EPOCH),
    'an evaluation in the middle of the first epoch',
  );
  t.match(of('done')[0], { interrupted: true, stoppedBy: 'signal' });
  t.equal(readdirSync(join(cwd, 'run')).filter((name) => /^trace-\d+-\d+\.json$/.test(name)).length, 1);
  t.ok(existsSync(join(cwd, 'run/report.html')), 'a run that was stopped has a report');
});

t.test('Ctrl-C is the signal it was, and stops', { skip }, async (t) => {
  const cwd = t.testdir();
  const flags = '--data demo:clicks:5000 --batch-size 64 --epochs 1000 --early-stop 0 --model-dir run --threads 2';
  const terminal = inTerminal(cwd, `${process.execPath} ${MAIN} train ${flags}`);
  t.teardown(terminal.close);
  await terminal.shows(/epoch 1 /);
  terminal.press('\x03');
  await terminal.shows(/ended with 0/);
  await terminal.ended;
  t.equal(readFileSync(join(cwd, 'after'), 'utf8'), readFileSync(join(cwd, 'before'), 'utf8'));
});

t.test('the terminal is set back by whatever ends the process', { skip }, async (t) => {
  const endings = ['throw new Error("crash")', 'process.exit(3)', 'process.kill(process.pid, "SIGTERM")', 'stop()'];
  for (const ending of endings) {
    const cwd = t.testdir({
      'listen.mjs': `
        import { listenToKeys } from '${KEYS}';
        import { execSync } from 'node:child_process';
        const stop = listenToKeys(() => undefined, process.stdin);
        const told = execSync('stty -a', { stdio: ['inherit', 'pipe', 'inherit'] });
        console.log(told.includes('-icanon') ? 'raw' : 'plain');
        setTimeout(() => { ${ending} }, 10);`,
    });
    const terminal = inTerminal(cwd, `${process.execPath} listen.mjs`);
    t.teardown(terminal.close);
    await terminal.shows(/ended with \d+/);
    await terminal.ended;
    t.match(terminal.text(), /^raw\r$/m, ending);
    t.equal(readFileSync(join(cwd, 'after'), 'utf8'), readFileSync(join(cwd, 'before'), 'utf8'), ending);
  }
});

t.test('without a terminal, and in the background of one, nobody listens', { skip }, async (t) => {
  const script = `import { listenToKeys } from '${KEYS}'; console.log(String(listenToKeys(() => 0, process.stdin)));`;
  const cwd = t.testdir({ 'listen.mjs': script });
  t.equal(spawnSync(process.execPath, ['listen.mjs'], { cwd, encoding: 'utf8', input: 'x' }).stdout, 'null\n');
  const terminal = inTerminal(cwd, `set -m; ${process.execPath} listen.mjs & wait`);
  t.teardown(terminal.close);
  await terminal.shows(/ended with 0/);
  t.match(terminal.text(), /^null\r$/m);
  await terminal.ended;
});
