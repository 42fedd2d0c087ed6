/**
 * @file A model under its name, with versions that come and go: folders named by numbers, of which the newest answers.
 *
 * A new one is loaded and tried beside the one in use, and takes its place between two batches; one that cannot be
 * loaded, or that who asks now could not ask, changes nothing but the status.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import type { LoadModelOptions } from '../loaded-model.js';
import { isNativeModel } from '../native/read-native.js';
import { folderOfVersions, versionsIn } from '../versions.js';
import { folderPrint } from './folder-print.js';
import type { ServeMetrics } from './serve-metrics.js';
import { ServedVersion } from './served-version.js';

export interface ServedModelOptions {
  /** Of the sessions of its versions. */
  readonly load?: LoadModelOptions;
  /** Milliseconds between two looks for a new version; 0: none are looked for. Default: 1000. */
  readonly pollMs?: number;
  readonly metrics?: ServeMetrics;
  /** Told of versions that come, go and fail. */
  readonly log?: (event: ServeEvent) => void;
}

/** What happens to versions. */
export type ServeEvent =
  | { readonly event: 'version'; readonly model: string; readonly version: string; readonly ms: number }
  | { readonly event: 'drained'; readonly model: string; readonly version: string }
  | { readonly event: 'refused'; readonly model: string; readonly version: string; readonly reason: string };

/** A version as the status tells of it, in the words of TensorFlow Serving. */
export interface VersionState {
  readonly version: string;
  readonly state: 'AVAILABLE' | 'LOADING' | 'UNLOADING' | 'END';
  readonly error?: string;
}

/** A version that could not be taken: why, and how its folder was when it was tried, and when it was last seen. */
interface Refused {
  readonly error: string;
  readonly tried: string;
  seen: string;
}

const POLL_MS = 1000;

/**
 * A model that follows a folder of versions, for `createPredictHandler`.
 *
 * ```ts
 * const taste = await ServedModel.open('taste', 'export/taste');
 * await taste.close();
 * ```
 */
export class ServedModel {
  readonly name: string;
  readonly dir: string;
  readonly #options: ServedModelOptions;
  #current: ServedVersion;
  /** Versions that could not be taken. */
  readonly #refused = new Map<string, Refused>();
  readonly #leaving = new Map<string, Promise<void>>();
  #loading: string | null = null;
  #looking: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #closed = false;

  private constructor(name: string, dir: string, first: ServedVersion, options: ServedModelOptions) {
    this.name = name;
    this.dir = folderOfVersions(dir);
    this.#current = first;
    this.#options = options;
    options.metrics?.set('monolith_version', { model: name }, Number(first.version));
    const { pollMs = POLL_MS } = options;
    if (pollMs > 0 && !isNativeModel(dir)) {
      this.#timer = setInterval(() => void this.refresh(), pollMs);
      this.#timer.unref();
    }
  }

  /** Loads the newest version in `dir`; ML_NO_MODELS where there is none. */
  static async open(name: string, dir: string, options: ServedModelOptions = {}): Promise<ServedModel> {
    const start = performance.now();
    const first = await ServedVersion.open(dir, options.load ?? {}, name, options.metrics);
    const ms = performance.now() - start;
    options.log?.({ event: 'version', model: name, version: first.version, ms });
    return new ServedModel(name, dir, first, options);
  }

  /** A model that is loaded already, as the only version. */
  static of(name: string, model: ServedVersion['model'], metrics?: ServeMetrics): ServedModel {
    const named = basename(model.dir);
    const version = /^\d{1,18}$/.test(named) ? named : '1';
    const options = { pollMs: 0, ...(metrics && { metrics }) };
    return new ServedModel(name, model.dir, new ServedVersion(version, model, name, metrics), options);
  }

  /** The version that answers. */
  get current(): ServedVersion {
    return this.#current;
  }

  /** The version of this number; undefined for one that is not there. */
  version(version: string): ServedVersion | undefined {
    return this.#current.version === version ? this.#current : undefined;
  }

  /** Every version that is told of, the newest last. */
  get states(): VersionState[] {
    const { version } = this.#current;
    const found = new Map<string, VersionState>();
    for (const [refused, { error }] of this.#refused) found.set(refused, { version: refused, state: 'END', error });
    for (const leaving of this.#leaving.keys()) found.set(leaving, { version: leaving, state: 'UNLOADING' });
    if (this.#loading !== null) found.set(this.#loading, { version: this.#loading, state: 'LOADING' });
    found.set(version, { version, state: 'AVAILABLE' });
    return [...found.values()].sort((a, b) => (BigInt(a.version) < BigInt(b.version) ? -1 : 1));
  }

  /** Looks for a newer version, and ends once it answers or was refused. One look at a time. */
  refresh(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const newer = (await versionsIn(this.dir)).filter((one) => BigInt(one) > BigInt(this.#current.version));
    for (const version of newer.toReversed()) {
      if (this.#closed) return;
      const isOpen = existsSync(join(this.dir, version)) && (await this.#mayBeTaken(version));
      if (isOpen && (await this.#take(version))) return;
    }
  }

  /** One that was refused is tried again once its folder has changed and rests: it was being copied. */
  async #mayBeTaken(version: string): Promise<boolean> {
    const refused = this.#refused.get(version);
    if (refused === undefined) return true;
    const print = await folderPrint(join(this.dir, version));
    const rests = print === refused.seen;
    refused.seen = print;
    return rests && print !== refused.tried;
  }

  /** Whether the version is in use now. */
  async #take(version: string): Promise<boolean> {
    const { load = {}, metrics, log } = this.#options;
    const start = performance.now();
    this.#loading = version;
    const print = await folderPrint(join(this.dir, version));
    let next: ServedVersion | undefined;
    try {
      next = await ServedVersion.open(join(this.dir, version), load, this.name, metrics);
      const missing = this.#current.missingIn(next);
      if (missing !== undefined) {
        throw new MonolithError('ML_RELOAD', { version, model: this.name, reason: missing });
      }
      if (this.#closed) throw new MonolithError('ML_CLOSED', { what: `the model ${this.name}` });
    } catch (error) {
      await next?.close();
      this.#refused.set(version, { error: messageOf(error), tried: print, seen: print });
      metrics?.add('monolith_reloads_total', { model: this.name, result: 'refused' });
      log?.({ event: 'refused', model: this.name, version, reason: messageOf(error) });
      return false;
    } finally {
      this.#loading = null;
    }
    this.#refused.delete(version);
    const old = this.#current;
    this.#current = next;
    metrics?.add('monolith_reloads_total', { model: this.name, result: 'taken' });
    metrics?.set('monolith_version', { model: this.name }, Number(version));
    log?.({ event: 'version', model: this.name, version, ms: performance.now() - start });
    this.#leaving.set(old.version, this.#leave(old));
    return true;
  }

  async #leave(old: ServedVersion): Promise<void> {
    await old.close();
    this.#leaving.delete(old.version);
    this.#options.log?.({ event: 'drained', model: this.name, version: old.version });
  }

  /** Answers what is on its way, then gives all memory back. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.all([...this.#leaving.values(), this.#current.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
