import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FfmRunnerTask } from '../../../src/demo/ffm-runner-task.js';
import { Flags } from '../../../src/train/config/flags.js';
import { defineProcessFlags } from '../../../src/train/config/process-flags.js';
import { resolveConfig } from '../../../src/train/config/resolved-config.js';
import { RunnerConfig, type RunnerConfigValues } from '../../../src/train/config/runner-config.js';
import type { RunnerResult } from '../../../src/train/runners/base-runner.js';
import { GpuRunner } from '../../../src/train/runners/gpu-runner.js';
import { NativeRunner } from '../../../src/train/runners/native-runner.js';
import { overrideParams } from '../../../src/train/runners/params-override.js';
import { GpuRunnerSettings, TpuRunnerSettings } from '../../../src/train/runners/runner-settings.js';
import { createTask, registeredTasks, registerTask } from '../../../src/train/runners/task-registry.js';
import { TpuRunner } from '../../../src/train/runners/tpu-runner.js';
import { FakeClock } from '../../support/fake-clock.js';

function smallTask(params: Record<string, unknown> = {}): FfmRunnerTask {
  const task = new FfmRunnerTask();
  task.params.set({ threads: 1, 'input.eval_examples': 128, 'train.max_steps': 4, ...params });
  return task;
}

/** What a run told, in short. */
function told() {
  const results: string[] = [];
  const onResult = ({ event, step }: RunnerResult) => void results.push(`${event} ${step}`);
  return { results, onResult };
}

t.test('a gpu runner trains and evaluates in turns, and goes on where it stopped', async (t) => {
  const modelDir = join(t.testdir({}), 'model');
  const settings = new GpuRunnerSettings({ modelDir, mode: 'train_and_eval' });
  const first = told();
  await new GpuRunner(smallTask({ 'eval.steps_per_eval': 3 }), settings, { onResult: first.onResult }).run();
  t.same(first.results, ['trained 3', 'evaluated 3', 'trained 4', 'evaluated 4']);
  t.equal(readdirSync(join(modelDir, 'eval')).filter((name) => name.includes('tfevents')).length, 2);
  const again = told();
  await new GpuRunner(smallTask({ 'eval.steps_per_eval': 3, 'train.max_steps': 5 }), settings, {
    onResult: again.onResult,
  }).run();
  t.same(again.results, ['trained 5', 'evaluated 5']);
  await t.rejects(new GpuRunner(smallTask({ 'train.max_steps': null }), settings).run(), {
    code: 'ML_RUNNER',
    message: /train_and_eval ends at train.max_steps/,
  });

  const each = told();
  await new TpuRunner(smallTask({ 'train.max_steps': 5 }), new TpuRunnerSettings({ modelDir, mode: 'eval' }), {
    onResult: each.onResult,
  }).run();
  t.same(each.results, ['evaluated 5'], 'an evaluation ends with the checkpoint of the last step');
  const abort = new AbortController();
  const clock = new FakeClock(0, (now) => now >= 3000 && abort.abort());
  const { results, onResult } = told();
  const waiting = { onResult, clock, signal: abort.signal };
  await new TpuRunner(
    smallTask({ 'train.max_steps': 9 }),
    new TpuRunnerSettings({ modelDir, mode: 'eval' }),
    waiting,
  ).run();
  t.same(results, ['evaluated 5']);
  t.same(clock.sleeps, [1000, 1000, 1000], 'and waits for the next one before it');
});

t.test('a tpu runner tries a task out on the CPU', async (t) => {
  const modelDir = join(t.testdir({}), 'model');
  const task = smallTask({ 'train.max_steps': 2, 'train.save_checkpoints_steps': 1 });
  const { results, onResult } = told();
  await new TpuRunner(task, new TpuRunnerSettings({ modelDir, cpuTest: true }), { onResult }).run();
  t.same(results, ['trained 2']);
  t.equal(task.params.accelerator, 'tpu');
  t.equal(task.params.train.per_replica_batch_size, 128);
  t.ok(readdirSync(modelDir).includes('model.ckpt-1.index'), 'the task says how often to save');
});

t.test('a tpu runner refuses what it has not', async (t) => {
  const run = (values: object) => new TpuRunner(smallTask(), new TpuRunnerSettings({ modelDir: 'm', ...values })).run();
  await t.rejects(run({ mode: 'train_and_eval' }), {
    code: 'ML_RUNNER',
    message: 'train_and_eval has not been supported.',
  });
  await t.rejects(run({ mode: 'eval', cpuTest: true }), { message: 'Cpu test can only work with train mode.' });
  await t.rejects(run({ tpu: 'node-1' }), { code: 'ML_UNSUPPORTED', message: /TPU node-1/, hint: /leave --tpu out/ });
  await t.rejects(run({ modelDir: null }), { code: 'ML_RUNNER', message: /model directory is needed/ });
  await t.rejects(
    new GpuRunner(
      smallTask({ 'input.eval_examples': 3 }),
      new GpuRunnerSettings({ modelDir: 'm', mode: 'eval' }),
    ).run(),
    {
      code: 'ML_RUNNER',
      message: /nothing to evaluate/,
    },
  );
});

const resolved = (values: Partial<RunnerConfigValues>) => {
  const sources = { flags: defineProcessFlags(new Flags()), env: {} };
  return resolveConfig(new RunnerConfig(values, sources), sources);
};

t.test('a native runner goes by a RunnerConfig', async (t) => {
  const modelDir = join(t.testdir({}), 'model');
  const config = resolved({
    isLocal: true,
    modelDir,
    numPs: 2,
    embeddingPrefetchCapacity: 1,
    enableEmbeddingPostpush: true,
    saveCheckpointsSteps: 1,
    checkpointsMaxToKeep: 2,
    paramsOverride: '{"train.max_steps": 4}',
  });
  const { results, onResult } = told();
  await new NativeRunner(smallTask(), config, { onResult }).run();
  await new NativeRunner(smallTask(), resolved({ modelDir, mode: 'eval' }), { onResult }).run();
  t.same(results, ['trained 4', 'evaluated 4']);
  t.same(
    readdirSync(modelDir).filter((name) => name.endsWith('.index')),
    ['model.ckpt-3.index', 'model.ckpt-4.index'],
  );
});

t.test('a native runner refuses a cluster, and says what it does not go by', async (t) => {
  const open = (values: Partial<RunnerConfigValues>) => () => new NativeRunner(smallTask(), resolved(values));
  t.throws(open({ numPs: 2, numWorkers: 2 }), { code: 'ML_UNIMPLEMENTED', message: /num_ps=2, num_workers=2/ });
  t.throws(open({ serverType: 'ps' }), { code: 'ML_RUNNER', message: /server_type must be `worker`/ });
  t.throws(open({ mode: 'infer' }), { code: 'ML_UNIMPLEMENTED' });
  t.match(open({})().modelDir, /ffm$/, 'a model directory of its own');
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  open({ dcAware: true })();
  t.match(await warned, { message: /settings without effect here: dcAware/ });
});

t.test('parameters are overridden by JSON', async (t) => {
  const { params } = smallTask();
  overrideParams(params, '{"train.max_steps": 7, "train.label_key": "click"}');
  t.match([params.train.max_steps, params.train.label_key], [7, 'click']);
  overrideParams(params, null);
  t.throws(() => overrideParams(params, '{"train.max_step": 7}'), { code: 'ML_PARAM_UNKNOWN', message: /max_steps/ });
  t.throws(() => overrideParams(params, '{'), { code: 'ML_OPTION', message: /params_override: it is not JSON/ });
  t.throws(() => overrideParams(params, '[]'), { code: 'ML_OPTION', message: /not an object/ });
});

t.test('tasks are found by their names', async (t) => {
  registerTask('little', () => smallTask());
  t.ok(registeredTasks().includes('little'));
  t.not(createTask('little'), createTask('little'), 'each time a new one');
  t.throws(() => createTask('litle'), { code: 'ML_NOT_FOUND', hint: 'did you mean little?' });
  t.throws(() => registerTask('little', () => smallTask()), { code: 'ML_ALREADY_EXISTS' });
});
