/**
 * @file A server under mixed traffic, with a new version every so often: `npm run bench -- soak [--seconds 600
 * --reload-seconds 20 --quick --json]`. It is `monolith serve` in a process of its own, on this machine alone.
 *
 * Every call is asked, right and wrong; an answer with another status than the right one is an error. Memory is that of
 * the server's process, after each new version; growth is the slope of a line through what came after the first third.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Estimator } from '../src/train/estimator/estimator.js';
import { deepfm } from '../src/zoo/deep.js';
import '../src/serve/provide.js';
import { benchMain, type Machine, machine, machineText } from './harness.js';
import type { Asked } from './serve-client.js';
import { askedAt, client, rowAt, schema } from './serve-rows.js';

const MAIN = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));
const CONNECTIONS = 16;
const IDS = 20_000;
const SECONDS_MAX = 24 * 3600;
/** Requests between two new versions. */
const REQUESTS_MAX = 2_000_000;
const START_MS = 60_000;
/** Of the traffic between two versions. */
const SHORTEST_MS = 200;

export interface SoakOptions {
  readonly seconds: number;
  readonly reloadSeconds: number;
}

export interface SoakReport extends Machine {
  readonly seconds: number;
  readonly requests: number;
  readonly errors: number;
  readonly firstError: string | null;
  readonly reloads: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Resident memory of the server when it had answered for the first time, after each version, and at the end. */
  readonly startMb: number;
  readonly endMb: number;
  readonly mostMb: number;
  readonly grownMbPerMinute: number;
  /** What the server said at its end. */
  readonly stopped: { readonly finished: number; readonly dropped: number; readonly code: number | null };
}

export async function runSoak({ seconds, reloadSeconds }: SoakOptions): Promise<SoakReport> {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-soak-'));
  let server: ChildProcess | undefined;
  try {
    let version = await trained(dir);
    const args = [MAIN, 'serve', `shop=${join(dir, 'out')}`, '--port', '0', '--json', '--poll', '100'];
    server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: server.stdout! })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
    const limit = setTimeout(() => server!.kill('SIGKILL'), START_MS);
    const { url } = (await next()) as { readonly url: string };
    clearTimeout(limit);
    const end = performance.now() + Math.min(seconds, SECONDS_MAX) * 1000;
    const begin = performance.now();
    let [requests, errors, reloads, firstError] = [0, 0, 0, null as string | null];
    const quantiles: (readonly [number, number])[] = [];
    const memory: (readonly [minutes: number, mb: number])[] = [];
    const look = async () => memory.push([(performance.now() - begin) / 60_000, await residentMb(url)]);
    // However slow the machine: at least one version is new.
    while (performance.now() < end || reloads === 0) {
      const left = Math.max(end - performance.now(), SHORTEST_MS);
      const ms = Math.min(reloadSeconds * 1000, left);
      const task = { url, asked: asks(), connections: CONNECTIONS, ms, requestsMax: REQUESTS_MAX };
      const traffic = client(task);
      if (memory.length > 0) {
        // In the midst of the traffic: who asks must not notice.
        version = newVersion(dir, version);
        if (!(await answers(url, version))) throw new Error(`version ${version} was not taken`);
        reloads++;
      }
      const found = await traffic;
      requests += found.requests;
      errors += found.errors;
      firstError ??= found.firstError;
      const { latencies } = found;
      quantiles.push([latencies[latencies.length >> 1] ?? 0, latencies[Math.floor(latencies.length * 0.99)] ?? 0]);
      await look();
    }
    server.kill('SIGTERM');
    const stopped = await endOf(server, next);
    const mbs = memory.map(([, mb]) => mb);
    return {
      ...machine(),
      ...{ seconds: (performance.now() - begin) / 1000, requests, errors, firstError, reloads, stopped },
      p50Ms: middle(quantiles.map(([half]) => half)),
      p99Ms: middle(quantiles.map(([, most]) => most)),
      ...{ startMb: mbs[0]!, endMb: mbs.at(-1)!, mostMb: Math.max(...mbs) },
      grownMbPerMinute: slopeOf(memory.slice(Math.floor(memory.length / 3))),
    };
  } finally {
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
    }
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Number of a version of a model that has learnt a little. */
async function trained(dir: string): Promise<number> {
  const estimator = new Estimator(deepfm(schema, { dim: 16, hidden: [64, 32] }), {
    batchSize: 1000,
    threads: 1,
    seed: 1,
  });
  const rows = Array.from({ length: IDS }, (_, at) => ({ ...rowAt(at, IDS), user: at }));
  await estimator.train(rows as never, { epochs: 1 });
  const version = basename(await estimator.export(join(dir, 'out')));
  await estimator.close();
  return Number(version);
}

/** Everything a client may ask, and some that it should not. */
function asks(): Asked[] {
  const path = (call: string) => `/v1/models/shop:${call}`;
  const rows = (count: number, first: number) => Array.from({ length: count }, (_, at) => askedAt(first + at, IDS));
  const post = (call: string, body: object, status = 200): Asked => ({
    path: path(call),
    body: JSON.stringify(body),
    status,
  });
  const columns = Object.fromEntries(
    Object.keys(askedAt(0, IDS)).map((name) => [name, rows(5, 7).map((row) => row[name as 'user'])]),
  );
  return [
    ...[1, 1, 1, 1, 1, 10, 1, 100].map((count, at) => post('predict', { instances: rows(count, at * 1000) })),
    post('predict', { inputs: columns }),
    post('classify', { examples: rows(3, 50) }),
    post('regress', { examples: rows(3, 90) }),
    post('recommend', { for: { user: 5 }, item: 'item', candidates: Array.from({ length: 50 }, (_, at) => at) }),
    post('lookup', { feature: 'user', ids: [1, '2', 3] }),
    post('predict', { instances: [{ usr: 1 }] }, 400),
    { path: path('predict'), body: '{"instances":', status: 400 },
    { path: '/v1/models/shp:predict', body: '{}', status: 404 },
    ...['/v1/models/shop', '/v1/models/shop/metadata', '/metrics', '/healthz', '/openapi.json'].map((path) => ({
      path,
    })),
  ];
}

/** Puts a copy of the version beside it, under the next number, and takes the old one away once it is there. */
function newVersion(dir: string, version: number): number {
  const out = join(dir, 'out');
  const temporary = join(out, `temp-${version + 1}`);
  cpSync(join(out, `${version}`), temporary, { recursive: true });
  renameSync(temporary, join(out, `${version + 1}`));
  rmSync(join(out, `${version}`), { recursive: true, force: true });
  return version + 1;
}

/** Waits until the version is in use, for a while. */
async function answers(url: string, version: number): Promise<boolean> {
  const end = performance.now() + START_MS;
  while (performance.now() < end) {
    const { model_version_status: found } = (await (await fetch(`${url}/v1/models/shop`)).json()) as {
      readonly model_version_status: readonly { readonly version: string; readonly state: string }[];
    };
    if (found.some((one) => one.version === `${version}` && one.state === 'AVAILABLE')) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

async function residentMb(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1]) / 2 ** 20;
}

async function endOf(
  server: ChildProcess,
  next: () => Promise<Record<string, unknown>>,
): Promise<SoakReport['stopped']> {
  const limit = setTimeout(() => server.kill('SIGKILL'), START_MS);
  const gone = once(server, 'exit') as Promise<[number | null]>;
  let event = await next();
  while (event.event !== 'stopped') event = await next();
  const [code] = await gone;
  clearTimeout(limit);
  return { finished: Number(event.finished), dropped: Number(event.dropped), code };
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Slope of the line with the least squares through points; 0 of one point. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const [above, below] = points.reduce(
    ([a, b], point) => [a + (point[0] - x) * (point[1] - y), b + (point[0] - x) ** 2],
    [0, 0],
  );
  return below === 0 ? 0 : above / below;
}

const flag = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(name);
  const value = at < 0 ? fallback : Number(process.argv[at + 1]);
  if (!(value > 0)) throw new Error(`${name} takes a number of seconds`);
  return value;
};

await benchMain(
  import.meta.url,
  ({ quick }) =>
    runSoak({ seconds: flag('--seconds', quick ? 3 : 600), reloadSeconds: flag('--reload-seconds', quick ? 1 : 20) }),
  ({ requests, errors, firstError, reloads, stopped, ...report }) =>
    [
      machineText(report),
      `${report.seconds.toFixed(0)} s, ${requests} requests, ${errors} errors, ${firstError ?? 'nothing wrong'}, ` +
        `${reloads} new versions; p50 ${report.p50Ms.toFixed(2)} ms, p99 ${report.p99Ms.toFixed(2)} ms`,
      `memory of the server: ${report.startMb.toFixed(1)} MB at the start, ${report.endMb.toFixed(1)} at the end, ` +
        `${report.mostMb.toFixed(1)} at the most; ` +
        `${report.grownMbPerMinute.toFixed(2)} MB a minute after the first third`,
      `it ended with ${stopped.code}, ${stopped.dropped} requests dropped`,
    ].join('\n'),
);
