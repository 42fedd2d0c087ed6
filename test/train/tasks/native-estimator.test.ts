import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FFMParams } from '../../../src/demo/ffm-task.js';
import { RunConfig } from '../../../src/train/config/run-config.js';
import { RunnerConfig } from '../../../src/train/config/runner-config.js';
import type { TrainHook } from '../../../src/train/hooks/hook.js';
import { NativeEstimator } from '../../../src/train/tasks/native-estimator.js';
import { listOf } from '../estimator/tastes.js';

const session = { threads: 1, memoryBytes: 2 ** 27 };
/** Without flags and variables of this process. */
const options = { session, env: {} };

t.test('A16: the estimator of the reference trains 10, evaluates 10 and predicts by a RunConfig', async (t) => {
  const modelDir = join(t.testdir({}), 'model');
  const conf = new RunConfig({ isLocal: true, modelDir, saveSummarySteps: 5, logStepCountSteps: 5 });
  const estimator = new NativeEstimator(FFMParams(), conf, null, options);
  t.match(estimator.config, { embeddingPrefetchCapacity: 1, enableEmbeddingPostpush: true, discoveryType: 'zk' });
  t.match(await estimator.train({ steps: 10 }), { step: 10, stoppedBy: 'steps' });
  t.ok(
    readdirSync(modelDir).some((name) => name.includes('tfevents')),
    'summaries of saveSummarySteps',
  );
  const { loss, globalStep } = await estimator.evaluate({ steps: 10 });
  t.ok(loss > 0 && globalStep === 10);
  const predictions = await listOf(estimator.predict());
  t.equal(predictions.length, 64);
  t.ok(predictions.every(({ prediction }) => prediction > 0 && prediction < 1));
  const [batch] = await listOf(estimator.predict({ yieldSingleExamples: false }));
  t.equal(batch!.examples, 64);
  t.match(await estimator.train({ steps: 5, maxSteps: 12 }), { startStep: 10, step: 12 }, 'the smaller bound wins');
  t.match(await estimator.latestCheckpoint(), /model\.ckpt-12$/);
  t.same(await estimator.getVariableValue('global_step'), BigInt64Array.of(12n));
  t.ok((await estimator.getVariableNames()).includes('global_step'));
  await estimator.close();
  await t.rejects(estimator.train({ steps: 1 }), { code: 'ML_CLOSED' });
});

t.test('parameters of the task say how long it trains, and may be overridden by the config', async (t) => {
  const params = FFMParams();
  const hooks: TrainHook[] = [];
  const modelDir = join(t.testdir({}), 'model');
  const conf = new RunnerConfig({ isLocal: true, modelDir, paramsOverride: '{"train.max_steps": 3}' }, { env: {} });
  await using estimator = new NativeEstimator(params, conf, null, options);
  t.match(await estimator.train({ hooks }), { step: 3, stoppedBy: 'until' });
  t.equal(params.mode, 'train');
  t.equal(params.metrics.enable_deep_insight, false, 'a local run sends nothing');
  t.equal(estimator.metricPrefix, 'monolith.training.None', 'as the reference has it without a name');
});

t.test('a run begins with the checkpoint of restoreDir, and a warm start with weights alone', async (t) => {
  const dir = t.testdir({});
  const at = (name: string, more: object = {}) => new RunConfig({ isLocal: true, modelDir: join(dir, name), ...more });
  const first = new NativeEstimator(FFMParams(), at('a'), null, options);
  await first.train({ steps: 4 });
  await first.close();
  await using second = new NativeEstimator(FFMParams(), at('b', { restoreDir: join(dir, 'a') }), null, options);
  t.match(await second.train({ steps: 2 }), { startStep: 4, step: 6 });
  await using third = new NativeEstimator(FFMParams(), at('c'), join(dir, 'a'), options);
  t.match(await third.train({ steps: 2 }), { startStep: 0, step: 2 });
});

t.test('what it is not given, and what needs other processes, is refused', async (t) => {
  const conf = (values: object) => new RunConfig({ modelDir: join(t.testdirName, 'none'), ...values });
  const make = (values: object) => new NativeEstimator(FFMParams(), conf(values), null, options);
  t.throws(() => make({ numPs: 2 }), { code: 'ML_UNIMPLEMENTED', message: /num_ps=2/, hint: /is_local/ });
  t.throws(() => new NativeEstimator(FFMParams(), {} as never), { code: 'ML_OPTION', message: /RunConfig/ });
  t.throws(() => new NativeEstimator({} as never, conf({ isLocal: true })), { code: 'ML_TASK' });
  await using estimator = make({ isLocal: true });
  await t.rejects(estimator.evaluate(), { code: 'ML_CKPT_NONE' });
  await t.rejects(estimator.predict().next(), { code: 'ML_CKPT_NONE' });
  await t.rejects(estimator.train({ step: 3 } as never), { code: 'ML_OPTION', hint: /steps/ });
  t.notOk(existsSync(join(t.testdirName, 'none')), 'nothing is made before a training');
  const keyed = estimator.predict({ predictKeys: ['ctr'] });
  await t.rejects(keyed.next(), { code: 'ML_CKPT_NONE' });
});
