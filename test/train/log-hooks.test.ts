import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type LogFields, setLogSink } from '../../src/base/log.js';
import type { MetricsClient, MetricTags } from '../../src/base/metrics-client.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { CsvLogHook } from '../../src/train/hooks/csv-log.js';
import { EvaluationHook, type EvaluationReport } from '../../src/train/hooks/evaluation.js';
import type { RunContext, TrainHook } from '../../src/train/hooks/hook.js';
import { ProfilerHook } from '../../src/train/hooks/profiler.js';
import { type Progress, ProgressHook } from '../../src/train/hooks/progress.js';
import { type Throughput, ThroughputMetricHook } from '../../src/train/hooks/throughput.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import type { ModelSpec } from '../../src/train/model-spec.js';
import { FakeClock } from '../support/fake-clock.js';
import { BATCH_SIZE, loadBatches, smallSession } from './ffm-run.js';

interface Run {
  readonly steps: number;
  readonly modelDir?: string;
  readonly session?: Partial<SessionOptions>;
  readonly hooks: (model: ModelSpec) => TrainHook[];
  readonly onBatch?: () => void;
}

async function train(t: Test, { steps, modelDir, session, hooks, onBatch }: Run): Promise<LocalTrainer> {
  const model = buildFfm();
  const trainer = await LocalTrainer.create({
    model,
    session: smallSession(session),
    modelDir: modelDir ?? null,
    steps,
    hooks: hooks(model),
  });
  t.teardown(() => trainer.close());
  const batches = loadBatches(trainer.session);
  let at = trainer.startStep;
  const next = () => {
    onBatch?.();
    return batches[at++ % batches.length]!;
  };
  await trainer.train({ next, batchesAhead: Number.POSITIVE_INFINITY });
  await trainer.close();
  return trainer;
}

t.test('progress is told at least for the last step, with the rate and what is left', async (t) => {
  const told: Progress[] = [];
  let progress: ProgressHook | undefined;
  await train(t, {
    steps: 30,
    hooks: ({ loss }) => {
      const onProgress = (one: Progress) => void told.push(one);
      progress = new ProgressHook({ loss, batchSize: BATCH_SIZE, everyMs: 0, endStep: 30, onProgress });
      return [progress];
    },
  });
  t.equal(told.length, 30);
  const last = told.at(-1)!;
  t.match(last, { step: 30, endStep: 30, etaS: 0, loss: progress!.loss });
  t.ok(last.stepsPerS > 0 && Math.abs(last.examplesPerS - last.stepsPerS * BATCH_SIZE) < 1e-6);
});

class Recorded implements MetricsClient {
  readonly emitted: [string, string, number, MetricTags | undefined][] = [];
  flushed = 0;
  emitStore = (name: string, value: number, tags?: MetricTags) => void this.emitted.push(['store', name, value, tags]);
  emitCounter = (name: string, value: number, tags?: MetricTags) =>
    void this.emitted.push(['counter', name, value, tags]);
  emitTimer = (name: string, value: number, tags?: MetricTags) => void this.emitted.push(['timer', name, value, tags]);
  flush = () => void this.flushed++;
}

t.test('throughput goes to the metrics client by the names of the reference', async (t) => {
  const clock = new FakeClock(5000);
  const client = new Recorded();
  const told: Throughput[] = [];
  const hook = new ThroughputMetricHook({
    modelName: 'ffm',
    batchSize: BATCH_SIZE,
    startTime: 2000,
    clusterType: 'stable',
    client,
    clock,
    onThroughput: (one) => void told.push(one),
  });
  // A group of one step each: the hook itself asks for none.
  await train(t, { steps: 7, hooks: () => [hook, { afterRun: () => clock.advance(10_000) }] });
  const tags = { model_name: 'ffm', cluster_type: 'stable' };
  t.same(client.emitted.shift(), ['timer', 'run_start_elapsed_time.all', 13, tags], '3 s, and the first step');
  const interval = [
    ['counter', 'run_steps.all', 3, tags],
    ['timer', 'run_steps_elapsed_time.all', 10, tags],
    ['store', 'run_steps_per_second.all', 0.1, tags],
    ['store', 'run_examples_per_second.all', 0.1 * BATCH_SIZE, tags],
  ];
  t.same(client.emitted.slice(0, 8), [...interval, ...interval]);
  t.match(client.emitted[8], ['counter', 'run_steps.all', 1], 'what was left at the end');
  t.equal(client.flushed, 1);
  t.match(told[0], { step: 3, steps: 3, seconds: 30, stepsPerS: 0.1, examplesPerS: 3.2 });
  t.notOk('quietSteps' in hook || 'afterRun' in hook || 'beforeRun' in hook, 'it cuts no groups');
});

t.test('without a step in between nothing is divided by it', async (t) => {
  const client = new Recorded();
  const clock = new FakeClock();
  const hook = new ThroughputMetricHook({ modelName: 'm', client, clock });
  const trainer = await train(t, { steps: 1, hooks: () => [hook] });
  clock.advance(60_000);
  client.emitted.length = 0;
  await hook.end(trainer.session);
  await hook.end(trainer.session);
  t.same(
    client.emitted.map(([, name]) => name),
    ['run_steps.all', 'run_steps_elapsed_time.all', 'run_steps_per_second.all'],
    'once: the second time no step had passed',
  );
});

const columns = (row: string) => row.split(',').map((text) => (text === '' ? null : Number(text)));

t.test('the CSV log has a row each so many steps and for each evaluation', async (t) => {
  const file = join(t.testdir(), 'log.csv');
  const modelDir = join(t.testdirName, 'm');
  const run = (steps: number) =>
    train(t, {
      steps,
      modelDir,
      hooks: (model) => {
        const csv = new CsvLogHook({ file, loss: model.loss, batchSize: BATCH_SIZE, everySteps: 10, metrics: ['mae'] });
        const batches = (session: Parameters<typeof loadBatches>[0]) => loadBatches(session).slice(6);
        const evaluation = new EvaluationHook({ model, batches, everySteps: 20, metrics: ['mae'], listeners: [csv] });
        return [csv, evaluation];
      },
    });
  await run(25);
  const [header, ...rows] = readFileSync(file, 'utf8').trimEnd().split('\n');
  t.equal(header, 'step,seconds,loss,steps_per_s,examples_per_s,eval_loss,eval_auc,eval_mae');
  const found = rows.map(columns);
  t.same(
    found.map(([step]) => step),
    [10, 20, 20, 25],
  );
  const evaluated = [false, false, true, true];
  for (const [i, [, seconds, loss, stepsPerS, examplesPerS, ...ofEval]] of found.entries()) {
    t.ok(seconds! >= (found[i - 1]?.[1] ?? 0), 'time goes on');
    t.equal(loss === null, evaluated[i]);
    t.ok(evaluated[i] || (stepsPerS! > 0 && Math.abs(examplesPerS! / stepsPerS! - BATCH_SIZE) < 1e-3));
    t.equal(
      ofEval.every((value) => value !== null),
      evaluated[i],
    );
  }
  // As if a run had got further and was killed before it could save: those steps are trained again.
  writeFileSync(file, `${readFileSync(file, 'utf8')}30,9,9,9,9,,,\n`);
  await run(10);
  const steps = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => columns(row)[0]);
  t.same(steps, [10, 20, 20, 25, 30, 35], 'each step is there once');
  t.not(columns(readFileSync(file, 'utf8').split('\n')[5]!)[1], 9, 'and it is the new one');
});

t.test('a CSV log does not take over a file of something else', async (t) => {
  const file = join(t.testdir({ 'data.csv': 'a,b\n1,2\n' }), 'data.csv');
  const log = (name: string) => (model: ModelSpec) => [new CsvLogHook({ file: name, loss: model.loss, batchSize: 1 })];
  await t.rejects(train(t, { steps: 1, hooks: log(file) }), {
    code: 'ML_OUTPUT',
    message: /other columns/,
    hint: /another/,
  });
  t.equal(readFileSync(file, 'utf8'), 'a,b\n1,2\n');
  const missing = join(t.testdirName, 'no', 'log.csv');
  await t.rejects(train(t, { steps: 1, hooks: log(missing) }), { code: 'ML_OUTPUT', message: /ENOENT/ });
});

/** Warnings that are told from now on, to the end of the test. */
function warningsOf(t: Test): LogFields[] {
  const told: LogFields[] = [];
  const before = setLogSink((level, event, fields) => level === 'warn' && told.push({ event, ...fields }));
  t.teardown(() => setLogSink(before));
  return told;
}

t.test('a CSV log that cannot be written is a warning, and the training is saved', async (t) => {
  const home = t.testdir({ logs: {} });
  const [logs, modelDir] = [join(home, 'logs'), join(home, 'm')];
  const told = warningsOf(t);
  const hooks = ({ loss }: ModelSpec): TrainHook[] => [
    new CsvLogHook({ file: join(logs, 'log.csv'), loss, batchSize: 1, everySteps: 1 }),
    { end: () => renameSync(logs, join(home, 'gone')) },
  ];
  const trainer = await train(t, { steps: 3, modelDir, hooks });
  t.match(told, [{ event: /training goes on/, file: join(logs, 'log.csv'), reason: /ENOENT/ }]);
  t.equal(told.length, 1);
  t.ok(existsSync(`${join(modelDir, 'model.ckpt')}-3.index`), `step ${trainer.session.globalStep} is saved`);
});

t.test('rows of a CSV log that could not be written come once, when they can', async (t) => {
  const home = t.testdir({ logs: {} });
  const [logs, gone] = [join(home, 'logs'), join(home, 'gone')];
  const told = warningsOf(t);
  const hook = new CsvLogHook({ file: join(logs, 'log.csv'), loss: null as never, batchSize: 1 });
  await hook.afterCreateSession({ globalStep: 0 } as Session);
  const evaluated = (step: number) =>
    hook.afterEvaluation({} as RunContext, { step, loss: 0.5, auc: null, metrics: {} } as EvaluationReport);
  evaluated(1);
  renameSync(logs, gone);
  await hook.afterEnd();
  evaluated(2);
  await hook.afterEnd();
  renameSync(gone, logs);
  await hook.close();
  const lines = readFileSync(join(logs, 'log.csv'), 'utf8').trimEnd().split('\n');
  t.same(
    lines.map((line) => line.split(',')[0]),
    ['step', '1', '2'],
  );
  t.equal(told.length, 1);
});

interface Trace {
  readonly traceEvents: readonly { readonly ph: string; readonly tid: number; readonly name: string }[];
  readonly otherData: { readonly threads: readonly { readonly name: string; readonly lost: number }[] };
}

const countOf = (file: string, name: string) => {
  const { traceEvents, otherData } = JSON.parse(readFileSync(file, 'utf8')) as Trace;
  const tid = otherData.threads.findIndex((thread) => thread.name === 'pool 0') + 1;
  return traceEvents.filter((event) => event.ph === 'X' && event.tid === tid && event.name === name).length;
};

t.test('a profile holds the steps of its window and no others, each so many steps', async (t) => {
  const dir = join(t.testdir(), 'profiles');
  const windows: [number, number][] = [];
  let steps = 0;
  await train(t, {
    steps: 60,
    session: { traceEvents: 4096 },
    hooks: () => [
      new ProfilerHook({
        dir,
        startStep: 5,
        endStep: 9,
        everySteps: 25,
        onProfile: (_file, first, end) => void windows.push([first, end]),
      }),
      { quietSteps: () => 1000, afterRun: () => void steps++ },
    ],
  });
  t.equal(steps, 60);
  t.same(
    windows.sort(([a], [b]) => a - b),
    [
      [5, 9],
      [30, 34],
      [55, 59],
    ],
  );
  t.same(readdirSync(dir).sort(), ['profile-30-34.json', 'profile-5-9.json', 'profile-55-59.json']);
  for (const name of readdirSync(dir)) t.equal(countOf(join(dir, name), 'forward and backward'), 4, name);
});

t.test('a window that the end cuts off is written, and one that began before a run is not whole', async (t) => {
  const dir = t.testdir();
  const hooks = () => [new ProfilerHook({ dir, startStep: 18, endStep: 40 })];
  await train(t, { steps: 20, session: { traceEvents: 4096 }, hooks });
  t.equal(countOf(join(dir, 'profile-18-21.json'), 'forward and backward'), 3);
});

t.test('the first window of the reference comes 500 steps after the start and has 10 steps', async (t) => {
  const hook = new ProfilerHook({ dir: t.testdir(), everySteps: 5000 });
  const trainer = await train(t, { steps: 1, session: { traceEvents: 64 }, hooks: () => [hook] });
  t.ok(trainer);
  t.equal(hook.quietSteps(0), 499, 'step 500 is the first of it');
  t.equal(hook.quietSteps(499), 10);
  t.equal(hook.quietSteps(505), 4);
  t.equal(hook.quietSteps(509), 4990);
  t.notOk(existsSync(join(t.testdirName, 'profile-500-510.json')));
});

t.test('windows that cannot be are refused in the words of the reference', async (t) => {
  const dir = t.testdir();
  const bad = (options: object, message: RegExp) =>
    t.throws(() => new ProfilerHook({ dir, ...options }), { code: 'ML_OPTION', message });
  bad({ everySteps: 10 }, /Save steps must be greater than delta steps\(default: 10\)/);
  bad({ startStep: 9, endStep: 9 }, /End step invalid, start_step: 9, end_step: 9/);
  const hooks = () => [new ProfilerHook({ dir })];
  await t.rejects(train(t, { steps: 1, hooks }), { code: 'ML_OPTION', hint: /traceEvents/ });
  writeFileSync(join(dir, 'file'), '');
  const inFile = () => [new ProfilerHook({ dir: join(dir, 'file', 'x') })];
  const session = { traceEvents: 64 };
  await t.rejects(train(t, { steps: 1, session, hooks: inFile }), { code: 'ML_TRACE_WRITE', hint: /folder/ });
});
