import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { runProgram } from '../../src/cli/program.js';
import type { TrainJob, TrainJobOptions } from '../../src/cli/train-job.js';
import { FakeIo } from './fake-io.js';
import { resultOf } from './fake-job.js';

const train = (args: string[], io: FakeIo, job: TrainJob) =>
  runProgram(['train', ...args], io, { loadTrainJob: async () => job });

function lines(io: FakeIo): Record<string, unknown>[] {
  return io.out.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

t.test('flags reach the job', async (t) => {
  let seen: TrainJobOptions | undefined;
  const io = new FakeIo({ tty: true });
  const args = ['--model-dir', 'd', '--save-every', '5', '--seed', '7', '--deterministic', '--backend', 'reference'];
  await train(args, io, async (options) => {
    seen = options;
    return resultOf(options, 1, false);
  });
  t.match(seen, {
    modelDir: 'd',
    saveEverySteps: 5,
    seed: 7,
    deterministic: true,
    backend: 'reference',
    progressIntervalMs: 25,
  });
});

t.test('the first signal stops cleanly, the second at once', async (t) => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    const io = new FakeIo();
    const exitCode = await train(['--json'], io, async (options) => {
      t.equal(options.signal.aborted, false);
      io.signal(signal);
      t.equal(options.signal.aborted, true);
      t.equal(io.err.take(), 'stopping, Ctrl-C again to stop at once\n');
      t.same(io.exits, []);
      io.signal(signal);
      t.same(io.exits, [code]);
      return resultOf(options, 3, true);
    });
    t.equal(exitCode, 0);
    t.match(lines(io).at(-1), { event: 'done', step: 3, interrupted: true });
    t.equal(io.signalListeners.size + io.pipeListeners.size, 0, 'nothing is listened to after the run');
  }
});

t.test('a reader that goes away stops the run without a word', async (t) => {
  const io = new FakeIo();
  const exitCode = await train([], io, async (options) => {
    io.breakPipe();
    t.equal(options.signal.aborted, true);
    return resultOf(options, 3, true);
  });
  t.equal(exitCode, 0);
  t.equal(io.err.take(), '');
});

t.test('output that cannot be written stops the run, which is an error once its work is saved', async (t) => {
  const io = new FakeIo();
  let saved = false;
  const exitCode = await train([], io, async (options) => {
    io.breakPipe(new MonolithError('ML_OUTPUT', { reason: 'ENOSPC' }));
    t.equal(options.signal.aborted, true);
    saved = true;
    return resultOf(options, 3, true);
  });
  t.ok(saved);
  t.equal(exitCode, 1);
  t.match(io.err.take(), /^error ML_OUTPUT: .*ENOSPC/);
});

t.test('a job that fails exits with 1 and its own error', async (t) => {
  const io = new FakeIo();
  const exitCode = await train(['--json'], io, async () => {
    throw new MonolithError('ML_NAN_LOSS', { step: 9 }, { hint: 'lower it' });
  });
  t.equal(exitCode, 1);
  t.match(lines(io), [{ event: 'error', code: 'ML_NAN_LOSS', hint: 'lower it', fields: { step: 9 } }]);
  t.equal(io.signalListeners.size + io.pipeListeners.size, 0);
});

t.test('wrong flags never load the job', async (t) => {
  const io = new FakeIo();
  const exitCode = await runProgram(['train', '--steps', '0'], io, {
    loadTrainJob: async () => t.fail('was loaded') as never,
  });
  t.equal(exitCode, 2);
});
