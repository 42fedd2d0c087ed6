/**
 * @file What exports the checkpoints of a task, and how: in one folder, or in parts with the rows of so many servers
 * (create_exporter and the export listeners of cpu_training).
 */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import type { MetricsClient } from '../../base/metrics-client.js';
import { stepOfPrefix } from '../../checkpoint/names.js';
import type { ExportOptions } from '../estimator/estimator.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';
import { ExportSaverListener } from '../savers/export-saver.js';
import type { CpuTraining } from './cpu-training.js';
import { isExporting } from './export-context.js';
import { denseOnlyPeriod } from './saving-rules.js';
import { servingServers } from './serving-config.js';
import { SyncTrainingBarrierSaverListener } from './sync-training-hooks.js';

export interface TaskExportsOptions {
  readonly training: CpuTraining;
  readonly modelDir: string;
  /** Servers that rows are spread over, where exports are in parts. Default: those of the config. */
  readonly servers?: number | undefined;
  readonly metrics?: MetricsClient | undefined;
  /** Writes a version; its folder. */
  write(dir: string, options: ExportOptions): Promise<string>;
}

export class TaskExports {
  readonly #options: TaskExportsOptions;

  constructor(options: TaskExportsOptions) {
    this.#options = options;
  }

  /** Folder of exports: that of the task's parameters, below the model directory unless it is absolute. */
  get dir(): string {
    return resolve(this.#options.modelDir, this.#serving.export_dir_base);
  }

  /** Writes a checkpoint, or variables alone, as the parameters of the task say. */
  export(given: Omit<ExportOptions, 'layout'> & { readonly dir?: string; readonly denseOnly?: boolean }) {
    const { dir = this.dir, denseOnly = false, ...options } = given;
    const { config } = this.#options.training;
    const { warmupFile } = config;
    const inParts = this.#layout(denseOnly);
    return this.#options.write(dir, {
      formats: inParts === undefined ? ['native', 'savedModel'] : ['native'],
      ...(inParts && { layout: inParts }),
      ...(existsSync(warmupFile) && { warmupRequests: warmupFile }),
      ...options,
    });
  }

  /** What exports each checkpoint, if the task asks for it. */
  listeners(): CheckpointSaverListener[] {
    const { training, modelDir } = this.#options;
    if (!this.#serving.export_when_saving) return [];
    this.#check();
    const { enableFullSyncTraining } = training.config;
    const barrier = enableFullSyncTraining ? [new SyncTrainingBarrierSaverListener()] : [];
    return [...barrier, this.#listener({ modelDir, denseDir: join(modelDir, 'dense_only') }, false)];
  }

  /** What exports each save of variables alone. */
  denseListeners(): CheckpointSaverListener[] {
    const { modelDir } = this.#options;
    if (!this.#serving.export_when_saving) return [];
    return [this.#listener({ modelDir: join(modelDir, 'dense_only'), fullDir: modelDir }, true)];
  }

  get #serving() {
    return this.#options.training.task.p.serving;
  }

  #listener(
    dirs: { readonly modelDir: string; readonly fullDir?: string; readonly denseDir?: string },
    dense: boolean,
  ) {
    const { training, metrics } = this.#options;
    return new ExportSaverListener({
      ...dirs,
      exportDir: this.dir,
      modelName: training.config.modelName,
      ...(metrics && { metrics }),
      export: (checkpoint) => {
        const step = stepOfPrefix(basename(checkpoint));
        // Workers in step write parts under one number that all of them know.
        const version = training.config.enableSyncTraining ? { version: `${step}` } : {};
        return this.export({ checkpoint, denseOnly: dense, ...version });
      },
    });
  }

  /** Parts, where there are servers for them or variables come alone; a distributed export without is one folder. */
  #layout(denseOnly: boolean): ExportOptions['layout'] {
    const { training, servers = servingServers(training.config) } = this.#options;
    const { export_mode: mode, with_remote_gpu: remoteDense } = this.#serving;
    if (mode !== 'DISTRIBUTED') {
      if (denseOnly) throw denseRefusal(mode);
      return undefined;
    }
    const isDense = denseOnly || denseOnlyPeriod(training.config, training.task) !== undefined;
    if (servers === 0 && !isDense && !remoteDense) return undefined;
    return { servers: Math.max(1, servers), denseOnly, remoteDense };
  }

  /** The refusals of create_save_hooks in cpu_training. */
  #check(): void {
    const { training } = this.#options;
    const { task } = training;
    const { export_mode: mode } = this.#serving;
    const refuse = (reason: string) => new MonolithError('ML_TASK', { reason });
    if (isExporting()) throw refuse('Logic corrupted. Try to call exporting listeners inside exporting.');
    if (denseOnlyPeriod(training.config, task) !== undefined && mode !== 'DISTRIBUTED') throw denseRefusal(mode);
    if (task.createServingInputReceiverFn() === null) {
      throw refuse('A valid serving_input_receiver_fn must be provided if exporting is enabled. Got null');
    }
    if (mode === 'NONE') throw refuse(`Invalid export_mode: ${mode}`);
  }
}

function denseRefusal(mode: string): MonolithError {
  const reason =
    'Please set params.serving.export_mode = ExportMode.DISTRIBUTED. ' +
    `Only DISTRIBUTED mode is allowed when dense_only=True, got ${mode}`;
  return new MonolithError('ML_TASK', { reason });
}
