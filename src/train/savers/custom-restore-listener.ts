/**
 * @file Decides, before a session is made, how its dense part is restored: under older names, anew, or plainly
 * (CustomRestoreListener of native_training). PartialRecoverySaver then does it, at its first restore.
 */
import { checkOptions } from '../../base/check-options.js';
import { log } from '../../base/log.js';
import { autoAliasMap } from '../../checkpoint/alias-map.js';
import { getCheckpointState } from '../../checkpoint/checkpoint-state-reader.js';
import { setCustomRestore } from '../../checkpoint/custom-restore.js';
import type { Graph } from '../../graph/graph.js';
import { VARIABLES } from '../../graph/ops/state.js';
import type { CheckpointRestorerListener } from '../hooks/checkpoint-restorer.js';

export interface CustomRestoreOptions {
  readonly modelDir: string;
  /** Name in the checkpoint by name in the model. */
  readonly aliasMap?: Readonly<Record<string, string>>;
  /** Initial values in place of the dense part, once per directory. Goes with no alias map. */
  readonly clearNN?: boolean;
  /** With `clearNN`: the global step goes on. */
  readonly continueTraining?: boolean;
  /** Whether to find the alias map out by names. Default: true. */
  readonly enableAliasMapAutoGen?: boolean;
}

/** Without a checkpoint it does nothing. */
export class CustomRestoreListener implements CheckpointRestorerListener {
  readonly #options: CustomRestoreOptions;

  constructor(options: CustomRestoreOptions) {
    checkOptions('CustomRestoreListener', options, [
      'modelDir',
      'aliasMap',
      'clearNN',
      'continueTraining',
      'enableAliasMapAutoGen',
    ]);
    this.#options = options;
  }

  async begin(graph: Graph): Promise<void> {
    const { modelDir, aliasMap, clearNN, continueTraining, enableAliasMapAutoGen = true } = this.#options;
    const state = await getCheckpointState(modelDir);
    if (state === null) return;
    if (clearNN || aliasMap !== undefined) {
      setCustomRestore(graph, { aliasMap, clearNN, continueTraining, modelDir });
    } else if (enableAliasMapAutoGen) {
      const { BundleReader } = await import('../../io/bundle-reader.js');
      const names = graph.getCollection(VARIABLES).map(({ op }) => op.name);
      const found = aliasesOf(names, new BundleReader(state.modelCheckpointPath).names());
      if (found !== null) setCustomRestore(graph, { aliasMap: found });
    }
  }
}

/** What `autoAliasMap` finds; null when all names are there, and with a warning when one of them cannot be told. */
export function aliasesOf(
  modelNames: readonly string[],
  checkpointNames: readonly string[],
): Readonly<Record<string, string>> | null {
  const found = autoAliasMap(modelNames, checkpointNames);
  if (found !== null) return Object.keys(found).length > 0 ? found : null;
  log.warn('The ckpt is incompatable, but cannot alias reload automatical, pls spectify an alias_map');
  return null;
}
