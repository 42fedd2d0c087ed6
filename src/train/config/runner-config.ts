/**
 * @file RunnerConfig: all settings of a process, with the flags of its command line merged in (runner_utils).
 *
 * Upstream does all of it when the record is made, waiting for other processes included. Here the constructor merges
 * and checks, and `prepareRunner` does what takes time. Flags are not written to: what reads settings gets them from
 * the resolved configuration.
 */
import { type Environment, environmentInt } from '../../base/environment-int.js';
import { MonolithError } from '../../base/errors.js';
import { setField } from './config-record.js';
import { checkEnvironment } from './environment.js';
import type { ValuesOf } from './field.js';
import type { Flags } from './flags.js';
import { linkDataclassToFlags, update, updateByFlags } from './gflags-utils.js';
import { FLAGS } from './process-flags.js';
import { ADDRESS_FAMILIES } from './runner-fields.js';
import { RunnerFields } from './runner-record.js';

export type RunnerConfigValues = ValuesOf<typeof RunnerFields.fields>;

/** Where settings come from that no record has. */
export interface ConfigSources {
  /** Default: those of the process, FLAGS. */
  readonly flags?: Flags;
  /** Default: that of the process. */
  readonly env?: Environment;
}

/**
 * Settings of a process. A field that is not given, or given as its default, takes the value of its flag.
 *
 * ```ts
 * const config = new RunnerConfig({ isLocal: true, modelDir: 'runs/ffm' });
 * ```
 */
export class RunnerConfig extends RunnerFields {
  constructor(values: Partial<RunnerConfigValues> = {}, { flags = FLAGS, env = process.env }: ConfigSources = {}) {
    super(values);
    checkEnvironment(env);
    update(this, flags);
    const worker = this.serverType === 'worker' && this.index <= 0;
    if (this.enableGpuTraining && this.enablePartialSyncTraining && worker) {
      const rank = environmentInt(env, 'OMPI_COMM_WORLD_RANK') ?? 0;
      setField(this, 'index', rank, 'environment OMPI_COMM_WORLD_RANK');
    }
    if (!ADDRESS_FAMILIES.some((family) => family === this.zkWatchAddressFamily)) {
      const families = ADDRESS_FAMILIES.join(', ');
      const reason = `zkWatchAddressFamily is one of ${families}, not '${this.zkWatchAddressFamily}'`;
      throw new MonolithError('ML_OPTION', { where: 'RunnerConfig', option: 'zkWatchAddressFamily', reason });
    }
    updateByFlags(this, flags);
  }
}

linkDataclassToFlags([], { use_dataservice: 'dataset_use_dataservice' }, FLAGS)(RunnerConfig);
