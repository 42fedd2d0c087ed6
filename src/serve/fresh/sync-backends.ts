/**
 * @file Who serves a model, as parameter sync asks it: folders that servers follow, and models of this process. Those
 * of a cluster, found in ZooKeeper, come with it behind the same interface.
 */
import { join, resolve } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { SyncBackend, SyncTargets } from '../../train/tasks/native-task-context.js';
import type { SyncPlace } from '../../train/tasks/parameter-sync.js';
import type { ServedModel } from '../online/served-model.js';
import { FRESH_DIR } from './delta-files.js';
import { FolderTarget } from './folder-target.js';
import { LiveTarget } from './live-target.js';
import type { SyncTarget } from './sync-target.js';

const FOLDER = 'folder:';
const LOCAL = 'local:';

/** What backends have in common: they are started, told of a model, and then asked for its targets. */
abstract class Backend implements SyncBackend {
  #started = false;
  #model: string | undefined;

  start(): void {
    this.#started = true;
  }

  subscribeModel(modelName: string): void {
    if (this.#model !== undefined && this.#model !== modelName) {
      const reason = `it is subscribed to ${this.#model}, and to one model only`;
      throw new MonolithError('ML_SYNC', { what: modelName, reason });
    }
    this.#model = modelName;
  }

  getSyncTargets(subGraph: string): SyncTargets {
    const hint = 'start(), then subscribeModel(name)';
    if (!this.#started) throw new MonolithError('ML_SYNC', { what: subGraph, reason: 'it is not started' }, { hint });
    if (this.#model === undefined) {
      throw new MonolithError('ML_SYNC', { what: subGraph, reason: 'it is subscribed to no model' }, { hint });
    }
    return { model: `${this.#model}:${subGraph}`, targets: this.targets() };
  }

  stop(): void {
    this.#started = false;
    this.#model = undefined;
  }

  protected abstract targets(): readonly string[];
}

/**
 * Has parameters pushed to a folder that `monolith serve --follow` follows.
 *
 * ```ts
 * const backend = new FolderSyncBackend('export/taste');
 * ```
 */
export class FolderSyncBackend extends Backend {
  readonly dir: string;

  constructor(dir: string) {
    super();
    this.dir = resolve(dir);
  }

  protected targets(): readonly string[] {
    return [`${FOLDER}${this.dir}`];
  }
}

/** Models that answer in this process, by the names they were bound under. */
const bound = new Map<string, ServedModel>();

/**
 * Has parameters pushed to models that answer in this process.
 *
 * ```ts
 * const backend = new LocalSyncBackend();
 * backend.bind('taste', await ServedModel.open('taste', 'export/taste'));
 * ```
 */
export class LocalSyncBackend extends Backend {
  readonly #own = new Set<string>();

  /** ML_SYNC for a name that another model has. */
  bind(name: string, served: ServedModel): void {
    if (bound.has(name)) throw new MonolithError('ML_SYNC', { what: name, reason: 'a model is bound under the name' });
    bound.set(name, served);
    this.#own.add(name);
  }

  unbind(name: string): void {
    if (this.#own.delete(name)) bound.delete(name);
  }

  /** Models are pushed to no more. */
  override stop(): void {
    super.stop();
    for (const name of [...this.#own]) this.unbind(name);
  }

  protected targets(): readonly string[] {
    return [...this.#own].map((name) => `${LOCAL}${name}`);
  }
}

/** The target of an address; ML_UNIMPLEMENTED for those of other processes. */
export function openTarget(address: string): SyncTarget {
  if (address.startsWith(FOLDER)) return new FolderTarget(address.slice(FOLDER.length));
  if (!address.startsWith(LOCAL)) {
    const reason = 'targets of other processes come with the cluster';
    const hint = `there are ${FOLDER}DIR and ${LOCAL}NAME`;
    throw new MonolithError('ML_UNIMPLEMENTED', { what: `parameter sync to ${address}`, reason }, { hint });
  }
  const name = address.slice(LOCAL.length);
  const served = bound.get(name);
  if (served !== undefined) return new LiveTarget(served);
  const hint = didYouMean(name, [...bound.keys()]) ?? 'LocalSyncBackend.bind(name, model) binds one';
  throw new MonolithError('ML_SYNC', { what: name, reason: 'no model is bound under the name' }, { hint });
}

/**
 * The backend of a training: the folder `fresh` of its model directory. Business id and base name ask for servers that
 * ZooKeeper knows, which is ML_UNIMPLEMENTED.
 */
export function createSyncBackend({ modelDir, bzid, baseName, unifiedServing = false }: SyncPlace): SyncBackend {
  if (bzid == null && baseName == null && !unifiedServing) return new FolderSyncBackend(join(modelDir, FRESH_DIR));
  const what = unifiedServing ? 'ZKBackend' : 'ReplicaWatcher';
  const reason = 'servers that ZooKeeper knows come with the cluster';
  const hint =
    'leave bzid, base_name and unified_serving out: parameters go to the folder fresh of the model directory';
  throw new MonolithError('ML_UNIMPLEMENTED', { what, reason }, { hint });
}
