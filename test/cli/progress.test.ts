import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { type ProgressMode, ProgressReporter, progressMode, wantsColor } from '../../src/cli/progress.js';
import { resultText, shellWord } from '../../src/cli/result-text.js';
import type { StartEvent, TrainResult } from '../../src/cli/train-job.js';
import { FakeIo } from './fake-io.js';
import { progressEvent } from './fake-job.js';

/** Takes a bar of one row off the screen. */
const ERASE = '\r\x1b[J';

const start: StartEvent = {
  event: 'start',
  model: 'ffm',
  data: 'clicks',
  backend: 'wasm',
  backendWhy: null,
  device: 'Fast 9000',
  kernels: 'wide',
  threads: 2,
  batchSize: 64,
  steps: 100,
  startStep: 0,
  modelDir: null,
  restored: null,
};
const result: TrainResult = {
  step: 100,
  loss: 0.4321,
  auc: 0.75,
  evalLoss: 0.45,
  examplesPerS: 64_000,
  stepsPerS: 1000,
  threads: 2,
  backend: 'wasm',
  device: 'Fast 9000',
  kernels: 'wide',
  checkpoint: 'runs/model.ckpt-100',
  trace: 'runs/my trace.json',
  interrupted: false,
};

function reporterOn(
  mode: ProgressMode,
  io = new FakeIo({ tty: mode === 'bar' }),
): { io: FakeIo; shown: ProgressReporter } {
  return { io, shown: new ProgressReporter(io, mode) };
}

t.test('the kind of progress follows the flags and the terminal', async (t) => {
  const flags = { json: false, quiet: false };
  t.equal(progressMode(new FakeIo({ tty: true }), flags), 'bar');
  t.equal(progressMode(new FakeIo({ tty: true, env: { TERM: 'dumb' } }), flags), 'lines');
  t.equal(progressMode(new FakeIo(), flags), 'lines');
  t.equal(progressMode(new FakeIo({ tty: true }), { json: true, quiet: false }), 'json');
  t.equal(progressMode(new FakeIo({ tty: true }), { json: true, quiet: true }), 'json-quiet');
  t.equal(progressMode(new FakeIo({ tty: true }), { json: false, quiet: true }), 'quiet');
});

t.test('colour needs a terminal and no NO_COLOR', async (t) => {
  t.equal(wantsColor(new FakeIo({ tty: true })), true);
  t.equal(wantsColor(new FakeIo({ tty: true, env: { NO_COLOR: '' } })), true);
  t.equal(wantsColor(new FakeIo({ tty: true, env: { NO_COLOR: '1' } })), false);
  t.equal(wantsColor(new FakeIo({ tty: true, env: { TERM: 'dumb' } })), false);
  t.equal(wantsColor(new FakeIo()), false);
});

t.test('the bar is redrawn ten times a second at most', async (t) => {
  const { io, shown } = reporterOn('bar');
  shown.event(start);
  io.out.take();
  for (let step = 1; step <= 100; step++) {
    io.timeMs += 10;
    shown.event(progressEvent(step, 1000));
  }
  const redraws = io.out.take().split('%').length - 1;
  t.equal(redraws, 10);
});

t.test('the bar ends with its newest state, a line break and the result', async (t) => {
  const { io, shown } = reporterOn('bar', new FakeIo({ tty: true, env: { NO_COLOR: '1' } }));
  shown.event(start);
  shown.event(progressEvent(1, 100));
  io.out.take();
  shown.event(progressEvent(100, 100));
  shown.done(result);
  const text = io.out.take();
  t.ok(text.startsWith(ERASE), 'the last step is shown at once, however soon it comes');
  t.match(text.slice(ERASE.length), /^100% {2}\[=+\] {2}100\/100 .*\ndone at step 100\n/);
  shown.close();
  shown.close();
  t.equal(io.out.take(), '', 'closing again prints nothing');
  t.equal(io.out.resizeListeners.size, 0, 'nothing listens to the terminal any more');
});

t.test('a bar that a narrower terminal wrapped is taken off whole', async (t) => {
  const { io, shown } = reporterOn('bar');
  shown.event(start);
  shown.event(progressEvent(10, 100));
  t.equal(stripVTControlCharacters(io.out.take().split('\n').at(-1) ?? '').length, 79);
  io.out.resize(30);
  const text = io.out.take();
  t.ok(text.startsWith('\x1b[2A\r\x1b[J'), '79 characters fill three rows of 30');
  t.ok(stripVTControlCharacters(text).trim().length < 30);
});

t.test('lines beside the bar take it off and put it back', async (t) => {
  const { io, shown } = reporterOn('bar');
  shown.event(start);
  shown.event(progressEvent(10, 100));
  io.out.take();
  shown.event({ event: 'warning', code: 'ML_X', message: 'careful' });
  t.equal(io.err.take(), 'warning ML_X: careful\n');
  t.ok(io.out.take().startsWith(`${ERASE} 10%`));
  shown.note('stopping');
  t.equal(io.err.take(), 'stopping\n');
});

t.test('a run that fails leaves the cursor on a new line', async (t) => {
  const { io, shown } = reporterOn('bar');
  shown.event(start);
  shown.event(progressEvent(10, 100));
  io.out.take();
  shown.close();
  t.equal(io.out.take(), '\n');
});

t.test('in a file there is a line per interval and one at the end', async (t) => {
  const { io, shown } = reporterOn('lines');
  shown.event(start);
  t.equal(
    io.out.take(),
    'training ffm on clicks: 100 steps of 64 examples, 2 threads, wasm backend\nrunning on Fast 9000, wide kernels\n',
  );
  for (let step = 1; step <= 100; step++) {
    io.timeMs += 50;
    shown.event(progressEvent(step, 100));
  }
  shown.event({ event: 'checkpoint', step: 100, path: 'runs/c-100', bytes: 2048, ms: 12.4 });
  shown.event({ event: 'eval', step: 100, auc: null, loss: 0.5, examples: 10 });
  shown.done(result);
  const lines = io.out.take().split('\n');
  t.match(lines, [
    /^step 1\/100 {2}1% {2}loss 0.5000/,
    /^step 41\/100/,
    /^step 81\/100/,
    /^step 100\/100 {2}100%/,
    /^saved step 100: runs\/c-100 \(2.0 KiB, 12 ms\)/,
    /^evaluated step 100: AUC undefined, loss 0.5000, 10 examples/,
    /^done at step 100/,
  ]);
  t.notOk(lines.join('').includes('\x1b'));
});

t.test('a restored run says where it goes on from', async (t) => {
  const { io, shown } = reporterOn('lines');
  shown.event({ ...start, startStep: 50, restored: 'runs/c-50' });
  t.match(io.out.take(), /\ngoing on from step 50: runs\/c-50\n$/);
});

t.test('a run that left the choice of the backend to us says why it is that one', async (t) => {
  const { io, shown } = reporterOn('lines');
  shown.event({ ...start, backendWhy: 'cuda cannot run here: no driver' });
  t.match(io.out.take(), /wide kernels\nauto took wasm: cuda cannot run here: no driver\n$/);
});

t.test('JSON lines are in snake case and end with the result', async (t) => {
  const { io, shown } = reporterOn('json');
  shown.event(start);
  shown.event(progressEvent(1, 100));
  shown.event(progressEvent(2, 100));
  shown.event({ event: 'warning', code: 'ML_X', message: 'careful' });
  shown.done({ ...result, loss: Number.NaN });
  const lines = io.out.take().trimEnd().split('\n');
  t.same(
    lines.map((line) => JSON.parse(line)),
    [
      {
        event: 'start',
        model: 'ffm',
        data: 'clicks',
        backend: 'wasm',
        backend_why: null,
        device: 'Fast 9000',
        kernels: 'wide',
        threads: 2,
        batch_size: 64,
        steps: 100,
        start_step: 0,
        model_dir: null,
        restored: null,
      },
      { event: 'progress', step: 1, end_step: 100, loss: 0.5, steps_per_s: 1000, examples_per_s: 64_000, eta_s: 1.5 },
      { event: 'warning', code: 'ML_X', message: 'careful' },
      { event: 'progress', step: 2, end_step: 100, loss: 0.5, steps_per_s: 1000, examples_per_s: 64_000, eta_s: 1.5 },
      {
        event: 'done',
        step: 100,
        loss: null,
        auc: 0.75,
        examples_per_s: 64_000,
        steps_per_s: 1000,
        threads: 2,
        backend: 'wasm',
        device: 'Fast 9000',
        kernels: 'wide',
        checkpoint: 'runs/model.ckpt-100',
        trace: 'runs/my trace.json',
        interrupted: false,
      },
    ],
  );
  t.equal(io.err.take(), '');
});

t.test('quiet prints the result only', async (t) => {
  for (const mode of ['quiet', 'json-quiet'] as const) {
    const { io, shown } = reporterOn(mode);
    shown.event(start);
    shown.event(progressEvent(1, 100));
    shown.event({ event: 'warning', code: 'ML_X', message: 'careful' });
    t.equal(io.out.take() + io.err.take(), '', mode);
    shown.done(result);
    t.match(io.out.take(), mode === 'quiet' ? /^done at step 100/ : /^\{"event":"done".*\}\n$/, mode);
  }
});

t.test('the result names loss, AUC, rates, checkpoint and how to read the trace', async (t) => {
  t.equal(
    resultText(result),
    [
      'done at step 100',
      '  final loss    0.4321 (last batch)',
      '  held-out loss 0.4500',
      '  held-out AUC  0.7500',
      '  throughput    64.0k examples/s, 1000 steps/s (2 threads, wasm backend)',
      '  checkpoint    runs/model.ckpt-100',
      '  report        none: the built-in demo leaves none; --data demo:clicks does',
      "  trace         runs/my trace.json (sum it up with: monolith trace 'runs/my trace.json')",
      '',
    ].join('\n'),
  );
  const none = { loss: null, evalLoss: null, auc: null, checkpoint: null, trace: null };
  const bare = resultText({ ...result, ...none, interrupted: true });
  t.match(bare, /^stopped early at step 100\n.*none.*\n.*none.*\n.*undefined.*\n.*\n.*none: no step was run/);
  t.match(resultText({ ...result, checkpoint: null }), /checkpoint +not kept: --model-dir/);
  t.notMatch(bare, /trace/);
  t.equal(shellWord("it's"), `'it'\\''s'`);
  t.equal(shellWord('a/b-c.json'), 'a/b-c.json');
});
