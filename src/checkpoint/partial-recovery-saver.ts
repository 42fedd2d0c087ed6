/**
 * @file Saves and restores chosen variables of a session under any names, as plain tensor bundles (PartialRecoverySaver
 * of save_utils).
 *
 * What it writes is what TensorFlow's saver writes, but for `.meta`, which describes the graph as JSON: no manifest, no
 * tables. A training uses `saveCheckpoint`, which guards whole checkpoints; this is for who moves code over and for
 * single variables.
 */
import { basename, dirname, isAbsolute, join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { type Clock, systemClock } from '../base/clock.js';
import { MonolithError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files/atomic-file.js';
import { fileSystemOf } from '../base/files/file-systems.js';
import type { Graph, Tensor } from '../graph/graph.js';
import { graphToJson } from '../graph/graph-description.js';
import { GLOBAL_STEP, VARIABLES, type VariableAttrs } from '../graph/ops/state.js';
import { formatCheckpointState } from '../io/checkpoint-state.js';
import { BundleReader, type BundleTensor, writeShardedBundle } from '../io/tensor-bundle.js';
import type { Session } from '../runtime/session/session.js';
import { aliasedTensors, type CustomRestore, clearsNow, noteCleared, takeCustomRestore } from './custom-restore.js';
import { KeepEveryHours } from './keep-every.js';
import { deleteCheckpoint } from './leftovers.js';
import { checkpointExists } from './model-dir.js';
import { getMonolithCheckpointState } from './monolith-state.js';
import { checkpointPrefix, STATE_FILE } from './names.js';
import { notACheckpoint } from './not-a-checkpoint.js';
import { withCheckpoint } from './remote-dir.js';
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
  /** A data file for each device that variables are on, in the order of devices. Default: false, one for all. */
  readonly sharded?: boolean;
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
      'sharded',
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
    const fs = fileSystemOf(prefix);
    if (!(await fs.stat(dirname(prefix)))?.isDirectory) {
      throw refused(`Parent directory of ${savePath} doesn't exist, can't save.`);
    }
    await session.hold(() => writeShardedBundle(prefix, this.#shards(session), fs));
    if (writeMetaGraph) await writeFileAtomic(`${prefix}.meta`, graphToJson(session.graph));
    if (writeState) await this.#rotate(prefix, latestFilename);
    return prefix;
  }

  /** ML_SAVER when it is no checkpoint, ML_BUNDLE when a name is not in it: nothing has changed then. */
  async restore(session: Session, savePath: string | null): Promise<void> {
    this.build(session.graph);
    if (this.#names!.size === 0) return;
    if (savePath === null) throw refused("Can't load save_path when it is None.");
    await withCheckpoint(savePath, (local) => this.#restore(session, local));
  }

  async #restore(session: Session, savePath: string): Promise<void> {
    if (!checkpointExists(savePath)) throw notACheckpoint(savePath);
    const custom = takeCustomRestore(session.graph);
    if (custom?.clearNN && (await clearsNow(custom.modelDir ?? dirname(savePath)))) {
      await this.#clear(session, savePath, custom);
      return;
    }
    await session.hold(async () => {
      const reader = new BundleReader(savePath);
      const wanted = [...this.#names!].map(([saved, name]) => {
        return { saved, name, shape: tensorOf(session, name).spec.shape as readonly number[] };
      });
      const tensors = aliasedTensors(reader, wanted, custom?.aliasMap);
      const values = wanted.map(({ saved, name }, index) => {
        const { shape, data, dtype } = tensors[index]!;
        const { spec } = tensorOf(session, name);
        const fits = (spec.shape as readonly number[]).join() === shape.join();
        const count = session.readVariable(name).length;
        if (spec.dtype !== dtype || (!fits && !(this.#options.reshape && data.length === count))) {
          const [found, needed] = [`${dtype}[${shape}]`, `${spec.dtype}[${spec.shape}]`];
          throw refused(`${saved} is ${found} in the checkpoint and ${needed} in the session: shapes must match`);
        }
        return { name, data: data as Float32Array | BigInt64Array };
      });
      for (const { name, data } of values) session.writeVariable(name, data);
    });
  }

  /** Initial values in place of what was saved, once per directory; the step goes on if it is to. */
  async #clear(session: Session, savePath: string, { continueTraining, modelDir }: CustomRestore): Promise<void> {
    await session.hold(async () => {
      const step = continueTraining ? new BundleReader(savePath).read(GLOBAL_STEP).data : undefined;
      for (const name of this.#names!.values()) {
        const { initial } = tensorOf(session, name).op.attrs as VariableAttrs;
        session.writeVariable(name, name === GLOBAL_STEP && step instanceof BigInt64Array ? step : initial());
      }
    });
    await noteCleared(modelDir ?? dirname(savePath));
  }

  #shards(session: Session): BundleTensor[][] {
    const devices = new Map<string, BundleTensor[]>();
    for (const [name, variable] of this.#names!) {
      const { op, spec } = tensorOf(session, variable);
      const device = this.#options.sharded ? op.device : '';
      const shape = spec.shape as readonly number[];
      const tensor = { name, dtype: spec.dtype, shape, data: session.readVariable(variable) } as BundleTensor;
      devices.set(device, [...(devices.get(device) ?? []), tensor]);
    }
    return [...devices].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tensors]) => tensors);
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
    for (const path of removed) if (!this.#keepEvery.spares(path)) await deleteCheckpoint(path, fileSystemOf(path));
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
