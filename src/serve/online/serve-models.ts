/** @file Models of folders, served: what `monolith serve` does, for programs. */
import { basename, dirname, resolve } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { type FollowEvent, Follower } from '../fresh/follow.js';
import type { HandlerOptions } from './handler-options.js';
import { type Listening, type ListenOptions, listen } from './http-server.js';
import { checkName } from './predict-handler.js';
import { ServeMetrics } from './serve-metrics.js';
import { ServedModel, type ServedModelOptions, type ServeEvent } from './served-model.js';

export interface ServeOptions
  extends Omit<HandlerOptions, 'ready' | 'metrics'>,
    ListenOptions,
    Pick<ServedModelOptions, 'load' | 'pollMs'> {
  /** A port for gRPC beside, for which @grpc/grpc-js has to be installed; 0: any that is free. */
  readonly grpcPort?: number;
  /** Names of models whose folder a training keeps fresh: its deltas are applied while they answer. */
  readonly follow?: readonly string[];
  /** Told of versions, and of deltas. */
  readonly log?: (event: ServeEvent | FollowEvent) => void;
}

/** Models that are served. */
export interface Serving {
  readonly url: string;
  /** Address and port of gRPC, where it was asked for. */
  readonly grpcTarget: string | null;
  /** Connections over HTTP that are taken at the most. */
  readonly connectionsMax: number;
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
  const { load, pollMs, follow = [], log, host, port, grpcPort, tls, connectionsMax, requestMs, ...handling } = options;
  const metrics = new ServeMetrics();
  const models = new Map<string, ServedModel>();
  let ready = false;
  const listening: Listening[] = [];
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
    const shared = { ...handling, metrics, ready: () => ready };
    const [{ ModelCalls }, { appOf }] = await Promise.all([import('./model-calls.js'), import('./predict-app.js')]);
    const calls = new ModelCalls(Object.fromEntries(models), shared);
    const on = {
      ...(host !== undefined && { host }),
      ...(tls && { tls }),
      ...(connectionsMax !== undefined && { connectionsMax }),
      ...(requestMs !== undefined && { requestMs }),
    };
    if (grpcPort !== undefined) {
      const { listenGrpc } = await import('../grpc/grpc-server.js');
      const { token } = handling;
      listening.push(await listenGrpc(calls, { ...on, port: grpcPort, ...(token !== undefined && { token }) }));
    }
    listening.push(await listen(appOf(calls, shared), { ...on, port }));
  } catch (error) {
    await Promise.all(listening.map((one) => one.close(0)));
    await closeModels();
    throw error;
  }
  ready = true;
  const { url, connectionsMax: connections } = listening.at(-1)!;
  const grpcTarget = grpcPort === undefined ? null : listening[0]!.url;
  let closed: ReturnType<Serving['close']> | undefined;
  const close = async () => {
    ready = false;
    const ended = await Promise.all(listening.map((one) => one.close(DRAIN_MS)));
    await closeModels();
    const sum = (of: 'finished' | 'dropped') => ended.reduce((total, one) => total + one[of], 0);
    return { finished: sum('finished'), dropped: sum('dropped') };
  };
  return {
    url,
    grpcTarget,
    connectionsMax: connections,
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
