/**
 * @file Exports each checkpoint that is saved, and removes exports whose checkpoint is gone (ExportSaverListener of
 * native_training/model_export).
 *
 * `ExportSaverListenerState`, beside the versions, says which version is of which step.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { checkLimit } from '../../base/limits.js';
import { type MetricsClient, noMetrics } from '../../base/metrics-client.js';
import { getMonolithCheckpointState } from '../../checkpoint/monolith-state.js';
import { checkpointPrefix, checkpointsOrNone, MODEL_BASE, stepOfPrefix } from '../../checkpoint/names.js';
import { parsePbtxt, quotePbtxt } from '../../io/pbtxt.js';
import type { Session } from '../../runtime/session/session.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';
import { foldersOfVersion, isPartName } from '../part-folders.js';

export const EXPORT_STATE_FILE = 'ExportSaverListenerState';

interface ExportEntry {
  readonly exportDir: string;
  readonly globalStep: number;
}

export interface ExportSaverOptions {
  readonly modelDir: string;
  /** Folder of versions. */
  readonly exportDir: string;
  /** Of exports of saves without tables: where whole checkpoints are, whose exports stay too. */
  readonly fullDir?: string;
  /** Where whole checkpoints and those without tables share a folder of exports: the latter's directory. */
  readonly denseDir?: string;
  /** Writes a version of a checkpoint, by its prefix; its folder, of one in parts that of the entry. */
  export(checkpoint: string): Promise<string>;
  readonly metrics?: MetricsClient;
  readonly modelName?: string;
}

export class ExportSaverListener implements CheckpointSaverListener {
  readonly #options: ExportSaverOptions;

  constructor(options: ExportSaverOptions) {
    this.#options = options;
  }

  async afterSave(_session: Session, step: number): Promise<void> {
    const { modelDir, exportDir } = this.#options;
    const version = await this.#options.export(checkpointPrefix(join(modelDir, MODEL_BASE), step));
    const folders = foldersOfVersion(version);
    const known = this.#kept().filter(({ exportDir: dir }) => !folders.includes(dir));
    const steps = this.#steps();
    const [kept, gone] = [[] as ExportEntry[], [] as ExportEntry[]];
    for (const entry of [...known, ...folders.map((dir) => ({ exportDir: dir, globalStep: step }))]) {
      (steps.has(entry.globalStep) || entry.globalStep === step ? kept : gone).push(entry);
    }
    // What is told to be there is there: entries go before their folders.
    await writeFileAtomic(join(exportDir, EXPORT_STATE_FILE), formatState(kept));
    for (const entry of gone) await rm(entry.exportDir, { recursive: true, force: true });
    const { metrics = noMetrics, modelName = '' } = this.#options;
    metrics.emitStore('export_models.latest_version', Number(basename(version)), { model_name: modelName });
  }

  /** Steps of checkpoints that are there, or that rotation spares. */
  #steps(): ReadonlySet<number> {
    const { modelDir, fullDir, denseDir } = this.#options;
    const dirs = [modelDir, fullDir, denseDir].filter((dir) => dir !== undefined);
    const paths = dirs.flatMap((dir) => {
      const exempt = getMonolithCheckpointState(dir)?.exemptModelCheckpointPaths ?? [];
      return [...checkpointsOrNone(dir), ...exempt];
    });
    return new Set(paths.map((path) => stepOfPrefix(basename(path))));
  }

  /** Entries of versions in the folder of exports: no other is ever removed, whatever the file says. */
  #kept(): ExportEntry[] {
    const { exportDir } = this.#options;
    return readExportState(exportDir).filter((entry) => {
      const dir = resolve(entry.exportDir);
      const above = dirname(dir);
      const isOurs =
        above === resolve(exportDir) || (dirname(above) === resolve(exportDir) && isPartName(basename(above)));
      return isOurs && /^\d+$/.test(basename(dir)) && existsSync(dir);
    });
  }
}

/** What the state file in a folder of exports says; nothing where there is none. */
export function readExportState(exportDir: string): ExportEntry[] {
  const file = join(exportDir, EXPORT_STATE_FILE);
  if (!existsSync(file)) return [];
  const refuse = (reason: string): never => {
    throw new MonolithError('ML_PBTXT', { file, line: 1, reason });
  };
  checkLimit('stateBytes', statSync(file).size, refuse);
  return parsePbtxt(readFileSync(file, 'utf8'), file).map(({ value }) => {
    if (value.kind !== 'message') return refuse('an entry is a message');
    const of = (name: string) => value.fields.find((one) => one.name === name)?.value;
    const [dir, step] = [of('export_dir'), of('global_step')];
    if (dir?.kind !== 'string' || step?.kind !== 'word') return refuse('an entry has export_dir and global_step');
    return { exportDir: Buffer.from(dir.bytes).toString('utf8'), globalStep: Number(step.word) };
  });
}

function formatState(entries: readonly ExportEntry[]): string {
  return entries
    .map(({ exportDir, globalStep }) => {
      const fields = [`  export_dir: ${quotePbtxt(exportDir)}`, `  global_step: ${globalStep}`];
      return `entries {\n${fields.join('\n')}\n}\n`;
    })
    .join('');
}
