/** @file RunConfig: the smaller record that a user of the Estimator writes, and what becomes of it (estimator). */
import { MonolithError } from '../../base/errors.js';
import { propertiesOf, recordClass, setField } from './config-record.js';
import { sameFieldValue, type ValuesOf } from './field.js';
import { type ConfigSources, RunnerConfig } from './runner-config.js';
import { runConfigFields } from './runner-fields.js';

export type RunConfigValues = ValuesOf<typeof runConfigFields>;

/** Fields that the RunnerConfig is made with; the others are merged into it afterwards. */
const GIVEN_TO_RUNNER = [
  'restoreDir',
  'restoreCkpt',
  'modelDir',
  'enableFusedLayout',
  'enableModelDump',
  'warmupFile',
  'enableAliasMapAutoGen',
  'kafkaTopics',
  'kafkaGroupId',
  'kafkaServers',
  'saveSummarySteps',
  'logStepCountSteps',
  'disableNativeMetrics',
] as const;

/**
 * Settings of an Estimator.
 *
 * ```ts
 * const conf = new RunConfig({ isLocal: true, modelDir: 'runs/ffm', saveCheckpointsSteps: 1000 });
 * ```
 *
 * A value that is the default of its field counts as not given: `maxRetryTimes: 6` leaves the runner with its own 0, as
 * in the reference.
 */
export class RunConfig extends recordClass(runConfigFields) {
  /** The record of the process: what is given here goes before flags, and these before defaults. */
  toRunnerConfig(sources: ConfigSources = {}): RunnerConfig {
    const given = Object.fromEntries(GIVEN_TO_RUNNER.map((name) => [name, this[name]]));
    const runner = new RunnerConfig(given, sources);
    for (const [name, field] of Object.entries(runConfigFields)) {
      const value = propertiesOf(this)[name];
      if (!Object.hasOwn(RunnerConfig.fields, name) || value === null) continue;
      if (!sameFieldValue(value, field.default)) setField(runner, name, value, 'RunConfig');
    }
    if (runner.discoveryType === 'consul') {
      setField(runner, 'discoveryType', 'zk', 'rule: discovery of a RunConfig by consul is by zk');
    }
    if (!runner.enableGpuTraining) {
      const rule = 'rule: training on the CPU reads ahead and pushes late';
      if (runner.embeddingPrefetchCapacity < 1) setField(runner, 'embeddingPrefetchCapacity', 1, rule);
      setField(runner, 'enableEmbeddingPostpush', true, rule);
    }
    if (this.enableParameterSync) setParameterSync(runner);
    return runner;
  }
}

/** Has parameters pushed to serving: by the field that a record has for it, or ML_PARAMETER_SYNC when it has none. */
export function setParameterSync(runner: object): void {
  const name = ['enableRealtimeTraining', 'enableParameterSync'].find((one) => one in runner);
  if (name === undefined) throw new MonolithError('ML_PARAMETER_SYNC');
  setField(runner, name, true, 'RunConfig enableParameterSync');
}
