/**
 * @file Saves and restores chosen variables of a session under any names, as plain tensor bundles (PartialRecoverySaver of
 * save_utils).
 *
 * What it writes is what TensorFlow's saver writes, but for `.meta`, which describes the graph as JSON: no manifest, no tables.
 * A training uses `saveCheckpoint`, which guards whole checkpoints; this is for who moves code over and for single variables.
 */
import { statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { type Clock, systemClock } from '../base/clock.js';
import { MonolithError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files/atomic-file.js';
import { nodeFileSystem } from '../base/files/file-system.js';
import type { Graph, Tensor } from '../graph/graph.js';
import { graphToJson } from '../graph/graph-description.js';
import { VARIABLES } from '../graph/ops/state.js';
import { formatCheckpointState } from '../io/checkpoint-state.js';
import { BundleReader, writeTensorBundle } from '../io/tensor-bundle.js';
import type { Session } from '../runtime/session/session.js';
import { KeepEveryHours } from './keep-every.js';
import { deleteCheckpoint } from './leftovers.js';
import { checkpointExists } from './model-dir.js';
import { getMonolithCheckpointState } from './monolith-state.js';
import { checkpointPrefix, STATE_FILE } from './names.js';
import { retain } from './retention.js';

export interface PartialRecoverySaverOptions {
  /** Names of variables, or variable by the name it is saved under. Default: all variables of the graph. */
  readonly varList?: readonly string[] | Readonly<Record<string, string>>;
  /** Another shape of as many values is restored too. Default: false. */
  readonly reshape?: boolean;
  /** Checkpoints to keep; null or 0 keeps all and lists only the newest. Default: 5. */
  readonly maxToKeep?: number | null;
  /** One per so many hours is kept for good. Default: 10000. */
  readonly keepCheckpointEveryNHours?: number;
  /** Which variables is decided by `build`. Default: false. */
  readonly deferBuild?: boolean;
  /** Nothing to save is no error. Default: false. */
  readonly allowEmpty?: boolean;
  /** Steps of eight digits. Default: false. */
  readonly padStepNumber?: boolean;
  readonly saveRelativePaths?: boolean;
  /** Base names that are never deleted and do not count, beside those of `monolith_checkpoint` in `modelDir`. */
  readonly exemptCheckpointPaths?: readonly string[];
  readonly modelDir?: string;
  /** Saves return null and touch nothing. Default: false. */
  readonly skipSave?: boolean;
  readonly clock?: Clock;
}

export interface SaverSaveOptions {
  readonly globalStep?: number;
  /** Default: checkpoint. */
  readonly latestFilename?: string;
  /** Default: true. */
  readonly writeMetaGraph?: boolean;
  /** Default: true. */
  readonly writeState?: boolean;
}

const KEEP = 5;
const HOURS = 10_000;

/** Saves variables by name. */
export class PartialRecoverySaver {
  readonly #options: PartialRecoverySaverOptions;
  readonly #keepEvery: KeepEveryHours;
  /** Variable by the name it is saved under; undefined before it is known. */
  #names: ReadonlyMap<string, string> | undefined;
  #last: string[] = [];

  constructor(options: PartialRecoverySaverOptions = {}) {
    checkOptions('PartialRecoverySaver', options, [
      'varList',
      'reshape',
      'maxToKeep',
      'keepCheckpointEveryNHours',
      'deferBuild',
      'allowEmpty',
      'padStepNumber',
      'saveRelativePaths',
      'exemptCheckpointPaths',
      'modelDir',
      'skipSave',
      'clock',
    ]);
    const { varList, deferBuild = false, keepCheckpointEveryNHours: hours = HOURS, clock = systemClock } = options;
    if (varList !== undefined && deferBuild) {
      throw refused(
        'If `var_list` is provided then build cannot be deferred. Either set defer_build=False or var_list=None.',
      );
    }
    this.#options = options;
    this.#keepEvery = new KeepEveryHours(hours, clock);
    if (varList !== undefined) this.#take(namesOf(varList));
  }

  /** Takes all variables of the graph. */
  build(graph: Graph): void {
    if (this.#names !== undefined) return;
    const names = graph.getCollection(VARIABLES).map((tensor: Tensor) => tensor.op.name);
    this.#take(namesOf(names));
  }

  #take(names: ReadonlyMap<string, string>): void {
    if (names.size === 0 && !this.#options.allowEmpty) throw refused('No variables to save');
    this.#names = names;
  }

  /** Prefixes that rotation counts, oldest first. */
  get lastCheckpoints(): readonly string[] {
    return this.#last;
  }

  /** Goes on with what is left of checkpoints of an earlier process. */
  recoverLastCheckpoints(paths: readonly string[]): void {
    this.#last = paths.filter(checkpointExists);
  }

  /** The prefix; null for an empty saver or one that skips saves. */
  async save(session: Session, savePath: string, options: SaverSaveOptions = {}): Promise<string | null> {
    checkOptions('save', options, ['globalStep', 'latestFilename', 'writeMetaGraph', 'writeState']);
    const { globalStep, latestFilename = STATE_FILE, writeMetaGraph = true, writeState = true } = options;
    const { deferBuild = false, padStepNumber = false, skipSave = false } = this.#options;
    if (deferBuild && this.#names === undefined) {
      throw refused('`build()` should be called before save if defer_build==True');
    }
    this.build(session.graph);
    if (basename(latestFilename) !== latestFilename) {
      throw refused("'latest_filename' must not contain path components");
    }
    const prefix = globalStep === undefined ? savePath : checkpointPrefix(savePath, globalStep, padStepNumber);
    if (basename(savePath) === latestFilename) {
      throw refused(`'latest_filename' collides with 'save_path': '${latestFilename}' and '${savePath}'`);
    }
    if (this.#names!.size === 0 || skipSave) return null;
    if (!(statSync(dirname(prefix), { throwIfNoEntry: false })?.isDirectory() ?? false)) {
      throw refused(`Parent directory of ${savePath} doesn't exist, can't save.`);
    }
    await session.hold(() => writeTensorBundle(prefix, this.#tensors(session)));
    if (writeMetaGraph) await writeFileAtomic(`${prefix}.meta`, graphToJson(session.graph));
    if (writeState) await this.#rotate(prefix, latestFilename);
    return prefix;
  }

  /** ML_SAVER when it is no checkpoint, ML_BUNDLE when a name is not in it: nothing has changed then. */
  async restore(session: Session, savePath: string | null): Promise<void> {
    this.build(session.graph);
    if (this.#names!.size === 0) return;
    if (savePath === null) throw refused("Can't load save_path when it is None.");
    if (!checkpointExists(savePath)) throw new MonolithError('ML_CKPT_PATH', { path: savePath });
    await session.hold(async () => {
      const reader = new BundleReader(savePath);
      const values = [...this.#names!].map(([saved, name]) => {
        const { shape, data, dtype } = reader.read(saved);
        const { spec } = tensorOf(session, name);
        const fits = (spec.shape as readonly number[]).join() === shape.join();
        const count = session.readVariable(name).length;
        if (spec.dtype !== dtype || (!fits && !(this.#options.reshape && data.length === count))) {
          const reason = `${saved} is ${dtype}[${shape}] in the checkpoint and ${spec.dtype}[${spec.shape}] in the session: shapes must match`;
          throw refused(reason);
        }
        return { name, data: data as Float32Array | BigInt64Array };
      });
      for (const { name, data } of values) session.writeVariable(name, data);
    });
  }

  #tensors(session: Session) {
    return [...this.#names!].map(([name, variable]) => {
      const { spec } = tensorOf(session, variable);
      return { name, dtype: spec.dtype, shape: spec.shape as readonly number[], data: session.readVariable(variable) };
    });
  }

  async #rotate(prefix: string, latestFilename: string): Promise<void> {
    const { maxToKeep = KEEP, exemptCheckpointPaths = [], modelDir, saveRelativePaths = false } = this.#options;
    const spared = modelDir === undefined ? undefined : getMonolithCheckpointState(modelDir, null, true);
    const exempt = [...exemptCheckpointPaths, ...(spared?.exemptModelCheckpointPaths ?? [])];
    const { listed, removed } = retain(this.#last, prefix, maxToKeep ?? 0, exempt);
    this.#last = maxToKeep ? [...listed] : [];
    const dir = dirname(prefix);
    const inState = (path: string) => {
      return (saveRelativePaths || !isAbsolute(path)) && dirname(path) === dir ? basename(path) : path;
    };
    await writeFileAtomic(
      join(dir, latestFilename),
      formatCheckpointState({ modelCheckpointPath: inState(prefix), allModelCheckpointPaths: listed.map(inState) }),
    );
    for (const path of removed) if (!this.#keepEvery.spares(path)) await deleteCheckpoint(path, nodeFileSystem);
  }
}

function tensorOf(session: Session, name: string): Tensor {
  const found = session.graph.getCollection(VARIABLES).find((tensor: Tensor) => tensor.op.name === name);
  if (found === undefined) throw refused(`the session has no variable ${name}`);
  return found;
}

function namesOf(varList: readonly string[] | Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const pairs = Array.isArray(varList)
    ? (varList as readonly string[]).map((name) => [name, name] as const)
    : Object.entries(varList);
  const names = new Map<string, string>();
  for (const [saved, variable] of pairs) {
    if (names.has(saved)) throw refused(`At least two variables have the same name: ${saved}`);
    if ([...names.values()].includes(variable)) {
      throw refused(`The same saveable will be restored with two names: ${variable}`);
    }
    names.set(saved, variable);
  }
  return names;
}

function refused(reason: string): MonolithError {
  return new MonolithError('ML_SAVER', { reason });
}
