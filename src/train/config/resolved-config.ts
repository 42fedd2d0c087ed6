/**
 * @file The settings of a process as they hold, each with where it came from: what all readers read.
 *
 * In the reference some read the record and some the flags, and the two may differ. Here both end in one frozen object,
 * made after discovery has said who the process is; until then the user's record may be changed.
 */
import { type Environment, environmentInt } from '../../base/environment-int.js';
import { snakeName } from '../../base/snake-case.js';
import { checkRecord, originOf, propertiesOf } from './config-record.js';
import { readEnvironment } from './environment.js';
import { type FieldTable, sameFieldValue, type ValuesOf } from './field.js';
import type { Flags } from './flags.js';
import { FLAGS, processFields } from './process-flags.js';
import { RunConfig } from './run-config.js';
import { type ConfigSources, RunnerConfig, type RunnerConfigValues } from './runner-config.js';

/** One setting: its value, and the flag, record, variable, file or rule that it came from. */
export interface Setting {
  readonly value: unknown;
  readonly origin: string;
}

type Values = Readonly<RunnerConfigValues & ValuesOf<typeof processFields>>;

export interface ResolvedConfig extends Values {
  readonly enableFullSyncTraining: boolean;
  /** Variables of the environment that are set, of those in docs/config.md. */
  readonly environment: Readonly<Record<string, string | number>>;
  /** Where each setting came from, by its name. */
  readonly origins: Readonly<Record<string, string>>;
}

/** Steps between summaries and lines of the log, in the environment, for the first of those that step together. */
const ROOT_INTERVALS = [
  ['saveSummarySteps', 'MONOLITH_SAVE_SUMMARY_INTERVAL'],
  ['logStepCountSteps', 'MONOLITH_ROOT_LOG_INTERVAL'],
] as const;

/**
 * The settings of a record, the flags of the process and its environment.
 *
 * ```ts
 * const config = resolveConfig(new RunConfig({ isLocal: true, numWorkers: 2 }));
 * config.numWorkers; // 2
 * config.origins.numWorkers; // 'RunConfig'
 * ```
 */
export function resolveConfig(config: RunConfig | RunnerConfig, sources: ConfigSources = {}): ResolvedConfig {
  const { flags = FLAGS, env = process.env } = sources;
  if (config instanceof RunConfig) checkRecord(config);
  const runner = config instanceof RunConfig ? config.toRunnerConfig({ flags, env }) : config;
  checkRecord(runner);
  const settings = new Map<string, Setting>();
  for (const name of Object.keys(RunnerConfig.fields)) {
    settings.set(name, { value: propertiesOf(runner)[name], origin: originOf(runner, name) });
  }
  for (const [name, setting] of flagSettings(processFields, flags)) settings.set(name, setting);
  for (const [name, setting] of environmentSettings(runner, env)) settings.set(name, setting);
  for (const [name, of] of [
    ['datasetWorkerIdx', 'index'],
    ['datasetNumWorkers', 'numWorkers'],
  ] as const) {
    if (settings.get(name)!.value === null) settings.set(name, { ...settings.get(of)!, origin: `rule: that of ${of}` });
  }
  const entries = [...settings];
  return deepFrozen({
    ...Object.fromEntries(entries.map(([name, { value }]) => [name, value])),
    enableFullSyncTraining: runner.enableFullSyncTraining,
    environment: readEnvironment(env),
    origins: Object.fromEntries(entries.map(([name, { origin }]) => [name, origin])),
  }) as ResolvedConfig;
}

/** The settings of a resolved configuration with their origins; `all` is whether defaults are among them. */
export function settingsOf(config: ResolvedConfig, all = true): [name: string, setting: Setting][] {
  const names = Object.keys(config.origins).filter((name) => all || config.origins[name] !== 'default');
  return names.map((name) => [name, { value: propertiesOf(config)[name], origin: config.origins[name]! }]);
}

function* flagSettings(fields: FieldTable, flags: Flags): Generator<[string, Setting]> {
  for (const [name, field] of Object.entries(fields)) {
    const flag = snakeName(name);
    const value = flags.has(flag) ? flags.get(flag) : field.default;
    yield [name, { value, origin: sameFieldValue(value, field.default) ? 'default' : `flag --${flag}` }];
  }
}

function* environmentSettings(runner: RunnerConfig, env: Environment): Generator<[string, Setting]> {
  const servers = env.zk_servers;
  if (runner.zkServer === null && servers) yield ['zkServer', { value: servers, origin: 'environment zk_servers' }];
  if (!runner.enableFullSyncTraining || (environmentInt(env, 'OMPI_COMM_WORLD_RANK') ?? 0) !== 0) return;
  for (const [name, variable] of ROOT_INTERVALS) {
    const value = environmentInt(env, variable);
    if (value !== null) yield [name, { value, origin: `environment ${variable}` }];
  }
}

/** The record and its lists and maps, which nobody may change from now on. Lists of the user stay as they are. */
function deepFrozen(values: Record<string, unknown>): object {
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) values[name] = Object.freeze([...value]);
    else if (typeof value === 'object' && value !== null) values[name] = Object.freeze({ ...value });
  }
  return Object.freeze(values);
}
