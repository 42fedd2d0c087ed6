/** @file Models of folders, served: what `monolith serve` does, for programs. */
import { basename, dirname, resolve } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { type FollowEvent, Follower } from '../fresh/follow.js';
import { type Listening, type ListenOptions, listen } from './http-server.js';
import { checkName, createPredictHandler, type HandlerOptions } from './predict-handler.js';
import { ServeMetrics } from './serve-metrics.js';
import { ServedModel, type ServedModelOptions, type ServeEvent } from './served-model.js';

export interface ServeOptions
  extends Omit<HandlerOptions, 'ready' | 'metrics'>,
    ListenOptions,
    Pick<ServedModelOptions, 'load' | 'pollMs'> {
  /** Names of models whose folder a training keeps fresh: its deltas are applied while they answer. */
  readonly follow?: readonly string[];
  /** Told of versions, and of deltas. */
  readonly log?: (event: ServeEvent | FollowEvent) => void;
}

/** Models that are served. */
export interface Serving {
  readonly url: string;
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly metrics: ServeMetrics;
  /** Not ready any more; ends once all is answered, or after 10 seconds. */
  close(): Promise<{ readonly finished: number; readonly dropped: number }>;
}

/** Time that what is being answered has at the end. */
const DRAIN_MS = 10_000;
/** Time between two looks for deltas. */
const FOLLOW_MS = 200;

/**
 * Serves the models of folders, by their names.
 *
 * ```ts
 * const serving = await serveModels({ taste: 'export/taste' }, { port: 8501 });
 * await serving.close();
 * ```
 */
export async function serveModels(dirs: Readonly<Record<string, string>>, options: ServeOptions): Promise<Serving> {
  const { load, pollMs, follow = [], log, host, port, tls, connectionsMax, requestMs, ...handling } = options;
  const metrics = new ServeMetrics();
  const models = new Map<string, ServedModel>();
  let ready = false;
  let listening: Listening | undefined;
  const followers: Follower[] = [];
  const closeModels = async () => {
    await Promise.all(followers.map((follower) => follower.close()));
    await Promise.all([...models.values()].map((model) => model.close()));
  };
  try {
    for (const [name, dir] of Object.entries(dirs)) {
      checkName(name);
      const of = { metrics, ...(load && { load }), ...(pollMs !== undefined && { pollMs }), ...(log && { log }) };
      models.set(name, await ServedModel.open(name, dir, of));
    }
    for (const name of follow) {
      const follower = new Follower(models.get(name)!, { metrics, ...(log && { log }) });
      followers.push(follower);
      await follower.refresh();
      follower.start(FOLLOW_MS);
    }
    const handler = createPredictHandler(Object.fromEntries(models), { ...handling, metrics, ready: () => ready });
    listening = await listen(handler, {
      port,
      ...(host !== undefined && { host }),
      ...(tls && { tls }),
      ...(connectionsMax !== undefined && { connectionsMax }),
      ...(requestMs !== undefined && { requestMs }),
    });
  } catch (error) {
    await closeModels();
    throw error;
  }
  ready = true;
  const { url } = listening;
  const stop = listening;
  let closed: ReturnType<Serving['close']> | undefined;
  const close = async () => {
    ready = false;
    const ended = await stop.close(DRAIN_MS);
    await closeModels();
    return ended;
  };
  return {
    url,
    models,
    metrics,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** Folders by the names of their models: `NAME=DIR`, or the folder's own name. ML_OPTION for two of one name. */
export function namedDirs(given: readonly string[]): Record<string, string> {
  const dirs: Record<string, string> = {};
  for (const text of given) {
    const [, named, rest] = /^([\w.-]+)=(.+)$/.exec(text) ?? [];
    const dir = rest ?? text;
    const name = named ?? nameOf(resolve(dir));
    checkName(name);
    if (Object.hasOwn(dirs, name)) {
      const reason = `${dirs[name]} and ${dir} are both called ${name}`;
      const hint = `give one another name: ${name}2=${dir}`;
      throw new MonolithError('ML_OPTION', { where: 'serve', option: 'models', reason }, { hint });
    }
    dirs[name] = dir;
  }
  return dirs;
}

/** A version is called by the folder it is in. */
const nameOf = (path: string): string => (/^\d+$/.test(basename(path)) ? basename(dirname(path)) : basename(path));
