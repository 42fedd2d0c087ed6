/** @file `monolith serve`: models of folders answer over HTTP until a signal comes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { FRESH_DIR } from '../serve/fresh/delta-files.js';
import type { FollowEvent } from '../serve/fresh/follow.js';
import { columnsOf } from '../serve/online/columns.js';
import { namedDirs, type ServeOptions, type Serving, serveModels } from '../serve/online/serve-models.js';
import type { ServedModel, ServeEvent } from '../serve/online/served-model.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';
import { EXIT_DONE } from './report.js';
import type { ServeFlags } from './serve-options.js';
import { SIGNAL_EXIT } from './stop-signals.js';

/** Serves until a signal asks it to stop, and lets what was asked be answered. */
export async function runServeCommand(dirs: readonly string[], flags: ServeFlags, io: CliIo): Promise<number> {
  const say = (event: Record<string, unknown>, text: string) => {
    if (flags.json) io.out.write(jsonLine(event));
    else if (!flags.quiet) io.out.write(`${text}\n`);
  };
  if (!isLocal(flags.host)) {
    const safe = flags.token === undefined ? ', and nobody is asked for a token: see --token' : '';
    io.err.write(`warning: ${flags.host} is open to the network${safe}\n`);
  }
  let started = false;
  const log = (event: ServeEvent | FollowEvent) => {
    if (started) say({ ...event }, textOf(event));
  };
  const asked = stopAsked(io);
  try {
    const start = io.nowMs();
    const { named, follow } = foldersOf(dirs, flags.follow);
    const serving = await serveModels(named, { ...optionsOf(flags), follow, log });
    started = true;
    if (serving.connectionsMax < flags.connectionsMax) {
      const most = serving.connectionsMax;
      io.err.write(`warning: ${most} connections are taken and not ${flags.connectionsMax}: see ulimit -n\n`);
    }
    tellStart(serving, io.nowMs() - start, say);
    await asked.stop;
    const { finished, dropped } = await serving.close();
    say({ event: 'stopped', finished, dropped }, `stopped: ${finished} requests finished, ${dropped} dropped`);
    return EXIT_DONE;
  } finally {
    asked.unlisten();
  }
}

/** Folders by names, and the names of those that are followed: a run's own, `fresh` in it, by the name of the run. */
function foldersOf(dirs: readonly string[], run: string | undefined) {
  if (run === undefined && dirs.length === 0) {
    const reason = 'needs a folder';
    throw new MonolithError('ML_FLAG', { flag: 'serve', reason }, { hint: 'monolith serve DIR, or --follow RUN' });
  }
  const named = namedDirs(run === undefined ? dirs : [...dirs, run]);
  if (run === undefined) return { named, follow: [] };
  const name = Object.keys(named).at(-1)!;
  const fresh = join(run, FRESH_DIR);
  return { named: { ...named, [name]: existsSync(fresh) ? fresh : run }, follow: [name] };
}

function optionsOf(flags: ServeFlags): ServeOptions {
  const {
    port,
    grpcPort,
    host,
    token,
    tlsCert,
    tlsKey,
    strict,
    rowsMax,
    bodyMax,
    openMax,
    deadlineMs,
    connectionsMax,
  } = flags;
  return {
    ...{ port, host, strict, rowsMax, openMax, deadlineMs, connectionsMax },
    bodyBytesMax: bodyMax,
    pollMs: flags.poll,
    load: { threads: flags.threads, batchSize: flags.batchSize },
    ...(grpcPort !== undefined && { grpcPort }),
    ...(token !== undefined && { token }),
    ...(tlsCert !== undefined && tlsKey !== undefined && { tls: { cert: tlsCert, key: tlsKey } }),
  };
}

const isLocal = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

function tellStart(serving: Serving, ms: number, say: (event: Record<string, unknown>, text: string) => void): void {
  const { url, grpcTarget } = serving;
  for (const [name, model] of serving.models) {
    const { version } = model.current;
    const body = JSON.stringify({ instances: [exampleOf(model)] });
    const curl = `curl -d '${body}' ${url}/v1/models/${name}:predict`;
    say(
      { event: 'ready', model: name, version, url, ms: Math.round(ms) },
      `${name} version ${version} ready in ${(ms / 1000).toFixed(2)} s on ${url}\n  ${curl}`,
    );
  }
  const grpc =
    grpcTarget === null ? '' : `\n  gRPC: ${grpcTarget}, tensorflow.serving.PredictionService and ModelService`;
  const docs = `  docs and a form: ${url}/    metrics: /metrics    health: /healthz, /readyz${grpc}`;
  say({ event: 'listening', url, ...(grpcTarget !== null && { grpc: grpcTarget }) }, docs);
}

/** A row of values that may be: what to send is seen at once. */
function exampleOf({ current }: ServedModel): Record<string, unknown> {
  const cells = columnsOf(current.model.schema.features).map(({ column, feature }) => {
    if (feature.kind === 'ragged') return [column, [1]] as const;
    const cell = feature.kind === 'dense' ? 0.5 : 1;
    return [column, feature.width === 1 ? cell : new Array<number>(feature.width).fill(cell)] as const;
  });
  return Object.fromEntries(cells);
}

function textOf(event: ServeEvent | FollowEvent): string {
  const { model } = event;
  switch (event.event) {
    case 'delta':
      return `${model}: delta ${event.sequence}, step ${event.step}, ${event.rows} rows in ${event.ms.toFixed(0)} ms`;
    case 'behind':
      return `${model}: behind at delta ${event.sequence}: ${event.reason}; a whole version is asked for`;
    case 'version':
      return `${model}: version ${event.version} loaded and warmed up in ${(event.ms / 1000).toFixed(2)} s, in use`;
    case 'drained':
      return `${model}: version ${event.version} drained`;
    case 'refused':
      return `${model}: version ${event.version} is not taken: ${event.reason}`;
    default:
      return event satisfies never;
  }
}

/** Ends with the first signal; the second one ends the process. */
function stopAsked(io: CliIo): { readonly stop: Promise<void>; unlisten(): void } {
  let asked = false;
  let unlisten = () => {};
  const stop = new Promise<void>((resolve) => {
    unlisten = io.onSignal((signal) => {
      if (asked) io.exit(SIGNAL_EXIT[signal]);
      asked = true;
      resolve();
    });
  });
  return { stop, unlisten };
}
