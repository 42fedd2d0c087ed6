import t from 'tap';
import { Flags } from '../../../src/train/config/flags.js';
import { defineProcessFlags } from '../../../src/train/config/process-flags.js';
import { resolveConfig, settingsOf } from '../../../src/train/config/resolved-config.js';
import { RunConfig } from '../../../src/train/config/run-config.js';
import { RunnerConfig } from '../../../src/train/config/runner-config.js';

const flags = (...args: string[]) => {
  const defined = defineProcessFlags(new Flags());
  defined.parse(args);
  return defined;
};

t.test('a resolved configuration says where each value came from', async (t) => {
  const run = new RunConfig({ isLocal: true, modelDir: 'm', kafkaTopics: 'a,b' });
  const sources = {
    flags: flags('--num_workers=3', '--index=2', '--data_service_dispatcher=d'),
    env: { zk_servers: 'zk:1', OMPI_COMM_WORLD_RANK: '4', MONOLITH_SAVE_SUMMARY_INTERVAL: '7' },
  };
  const config = resolveConfig(run, sources);
  t.match(config, { isLocal: true, numWorkers: 3, zkServer: 'zk:1', discoveryType: 'zk', saveSummarySteps: 100 });
  t.match(config.origins, {
    isLocal: 'RunConfig',
    numWorkers: 'flag --num_workers',
    zkServer: 'environment zk_servers',
    discoveryType: /^rule: /,
    embeddingPrefetchCapacity: /^rule: /,
    dataServiceDispatcher: 'flag --data_service_dispatcher',
    datasetWorkerIdx: 'rule: that of index',
    numPs: 'default',
  });
  t.match([config.datasetWorkerIdx, config.datasetNumWorkers, config.dataServiceDispatcher], [2, 3, 'd']);
  t.same(config.environment, { OMPI_COMM_WORLD_RANK: 4, MONOLITH_SAVE_SUMMARY_INTERVAL: 7, zk_servers: 'zk:1' });
  t.equal(settingsOf(config).length, 72 + 14 + 39 + 15);
  t.ok(settingsOf(config, false).every(([, { origin }]) => origin !== 'default'));
});

t.test('it is frozen, and the record it was made of is not', async (t) => {
  const kafkaTopics = ['a'];
  const runner = new RunnerConfig({ kafkaTopics }, { flags: flags(), env: {} });
  const config = resolveConfig(runner, { flags: flags(), env: {} });
  t.throws(() => {
    (config as { numPs: number }).numPs = 1;
  }, TypeError);
  t.throws(() => (config.kafkaTopics as string[]).push('b'), TypeError);
  runner.numPs = 4;
  t.equal(config.numPs, 0);
  const again = resolveConfig(runner, { flags: flags(), env: {} });
  t.match([again.numPs, again.origins.numPs], [4, 'RunnerConfig']);
  kafkaTopics.push('b');
  t.same(config.kafkaTopics, ['a']);
});

t.test('what was written to a record since is checked', async (t) => {
  const runner = new RunnerConfig({}, { flags: flags(), env: {} });
  const loose = runner as unknown as Record<string, unknown>;
  loose.numPss = 1;
  t.throws(() => resolveConfig(runner), { code: 'ML_OPTION', hint: 'did you mean numPs?' });
  delete loose.numPss;
  loose.numPs = 'two';
  t.throws(() => resolveConfig(runner), { code: 'ML_OPTION', message: /RunnerConfig: numPs is a whole number/ });
  const run = new RunConfig();
  (run as unknown as Record<string, unknown>).isLocal = 'yes';
  t.throws(() => resolveConfig(run), { code: 'ML_OPTION', message: /RunConfig: isLocal is true or false/ });
});

t.test('intervals of the environment are for the first of those that step together', async (t) => {
  const env = { MONOLITH_SAVE_SUMMARY_INTERVAL: '7', MONOLITH_ROOT_LOG_INTERVAL: '9' };
  const sync = () => new RunnerConfig({ enableSyncTraining: true }, { flags: flags(), env });
  const root = resolveConfig(sync(), { flags: flags(), env });
  t.match(root, { saveSummarySteps: 7, logStepCountSteps: 9, enableFullSyncTraining: true });
  t.equal(root.origins.saveSummarySteps, 'environment MONOLITH_SAVE_SUMMARY_INTERVAL');
  const other = resolveConfig(sync(), { flags: flags(), env: { ...env, OMPI_COMM_WORLD_RANK: '1' } });
  t.match(other, { saveSummarySteps: 100, logStepCountSteps: 100 });
  t.throws(() => resolveConfig(sync(), { flags: flags(), env: { MONOLITH_ROOT_LOG_INTERVAL: 'x' } }), {
    code: 'ML_OPTION',
    message: /MONOLITH_ROOT_LOG_INTERVAL is a whole number, not 'x'/,
  });
});
