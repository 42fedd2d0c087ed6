import t from 'tap';
import { originOf } from '../../../src/train/config/config-record.js';
import { Flags } from '../../../src/train/config/flags.js';
import { defineProcessFlags } from '../../../src/train/config/process-flags.js';
import { RunConfig, setParameterSync } from '../../../src/train/config/run-config.js';
import { RunnerConfig } from '../../../src/train/config/runner-config.js';

const sources = (...args: string[]) => {
  const flags = defineProcessFlags(new Flags());
  flags.parse(args);
  return { flags, env: {} };
};

t.test('toRunnerConfig gives what a run on the CPU needs', async (t) => {
  const runner = new RunConfig({ isLocal: true, modelDir: 'm' }).toRunnerConfig(sources());
  t.match(runner, {
    isLocal: true,
    modelDir: 'm',
    discoveryType: 'zk',
    embeddingPrefetchCapacity: 1,
    enableEmbeddingPostpush: true,
    enableRealtimeTraining: false,
  });
  t.equal(originOf(runner, 'modelDir'), 'RunConfig');
  t.match(originOf(runner, 'discoveryType'), /^rule/);
  t.equal(originOf(runner, 'numPs'), 'default');
});

t.test('defaults of RunConfig do not reach the runner', async (t) => {
  const runner = new RunConfig({ maxRetryTimes: 6 }).toRunnerConfig(sources());
  t.match(runner, { maxRetryTimes: 0, retryWaitInSecs: 30, partialRecovery: null });
  t.match(new RunConfig({ maxRetryTimes: 0 }).toRunnerConfig(sources('--max_retry_times=3')), { maxRetryTimes: 0 });
});

t.test('a RunConfig goes before flags, and flags before defaults', async (t) => {
  const run = new RunConfig({ modelDir: 'm', numPs: 2, kafkaTopics: 'a,b' });
  const runner = run.toRunnerConfig(
    sources('--model_dir=f', '--num_ps=9', '--num_workers=3', '--kafka_group_id=g', '--dataset_use_dataservice'),
  );
  t.match(runner, { modelDir: 'm', numPs: 2, numWorkers: 3, kafkaGroupId: 'g', useDataservice: true });
  t.same(runner.kafkaTopics, ['a', 'b']);
  t.equal(originOf(runner, 'numWorkers'), 'flag --num_workers');
  t.equal(originOf(runner, 'useDataservice'), 'flag --dataset_use_dataservice');
  t.equal(originOf(runner, 'numPs'), 'RunConfig');
});

t.test('a GPU leaves prefetch and postpush alone; a larger prefetch stays', async (t) => {
  t.match(new RunConfig().toRunnerConfig(sources('--enable_gpu_training')), {
    embeddingPrefetchCapacity: 0,
    enableEmbeddingPostpush: false,
  });
  t.match(new RunConfig().toRunnerConfig(sources('--embedding_prefetch_capacity=4')), { embeddingPrefetchCapacity: 4 });
});

t.test('parameter sync is realtime training, and needs a record that has it', async (t) => {
  t.equal(new RunConfig({ enableParameterSync: true }).toRunnerConfig(sources()).enableRealtimeTraining, true);
  const other = new RunConfig();
  setParameterSync(other);
  t.equal(other.enableParameterSync, true, 'a record that has the other field');
  t.throws(() => setParameterSync({}), { code: 'ML_PARAMETER_SYNC', message: 'enable_parameter_sync not set!' });
});

t.test('a RunnerConfig takes flags, and its rank under partial sync on GPUs', async (t) => {
  t.equal(new RunnerConfig({ numPs: 2 }, sources('--num_ps=4', '--discovery_type=MLP')).discoveryType, 'mlp');
  const partial = { enableGpuTraining: true, enablePartialSyncTraining: true };
  const env = { OMPI_COMM_WORLD_RANK: '3' };
  t.equal(new RunnerConfig(partial, { ...sources(), env }).index, 3);
  t.equal(new RunnerConfig(partial, sources()).index, 0);
  t.equal(new RunnerConfig({ ...partial, index: 1 }, { ...sources(), env }).index, 1, 'an index that is given');
  t.equal(new RunnerConfig({ ...partial, serverType: 'ps' }, { ...sources(), env }).index, 0);
  t.equal(new RunnerConfig({}, { ...sources(), env }).index, 0);
  const wrong = { ...sources(), env: { OMPI_COMM_WORLD_RANK: 'three' } };
  t.throws(() => new RunnerConfig(partial, wrong), { code: 'ML_OPTION', message: /whole number, not 'three'/ });
});

t.test('topics are split at commas, and addresses are of one of two families', async (t) => {
  t.same(new RunnerConfig({}, sources('--kafka_topics=a,b')).kafkaTopics, ['a', 'b']);
  t.same(new RunnerConfig({ kafkaTopics: ['a', 'b'] }, sources()).kafkaTopics, ['a', 'b']);
  t.throws(() => new RunnerConfig({ zkWatchAddressFamily: 'ipv5' }, sources()), {
    code: 'ML_OPTION',
    message: /zkWatchAddressFamily is one of ipv4, ipv6, not 'ipv5'/,
  });
});

t.test('a value of a flag that a field cannot take is an error', async (t) => {
  t.throws(() => new RunnerConfig({}, sources('--num_ps=-3')), {
    code: 'ML_OPTION',
    message: /numPs is a whole number/,
  });
  t.throws(() => new RunnerConfig({}, sources('--mode=trian')), { code: 'ML_FLAG' });
});

t.test('BytePS is refused', async (t) => {
  const env = { MONOLITH_WITH_BYTEPS: '1' };
  t.throws(() => new RunnerConfig({}, { ...sources(), env }), {
    code: 'ML_UNSUPPORTED',
    message: /MONOLITH_WITH_BYTEPS=1 is not supported/,
    hint: /collective of MPI/,
  });
  t.ok(new RunnerConfig({}, { ...sources(), env: { MONOLITH_WITH_BYTEPS: '0' } }));
});
