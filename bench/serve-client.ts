/** @file A client in a thread of its own: connections that ask again as soon as they are answered. */
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** What is asked; without a body it is GET. */
export interface Asked {
  readonly path: string;
  readonly body?: string;
  /** The status that is right. Default: 200. */
  readonly status?: number;
}

export interface ClientTask {
  readonly url: string;
  /** Asked in turns. */
  readonly asked: readonly Asked[];
  readonly connections: number;
  readonly ms: number;
  /** Where it ends before the time. Default: 10 million. */
  readonly requestsMax?: number;
}

export interface ClientResult {
  readonly requests: number;
  readonly errors: number;
  /** What went wrong first. */
  readonly firstError: string | null;
  readonly ms: number;
  /** Milliseconds from a request to the end of its answer, sorted. */
  readonly latencies: Float64Array;
}

const REQUESTS_MAX = 10_000_000;

/** Asks for a while and counts. */
export async function runClient(task: ClientTask): Promise<ClientResult> {
  const { url, asked, connections, ms, requestsMax = REQUESTS_MAX } = task;
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  let errors = 0;
  let firstError: string | null = null;
  const wrong = (what: string) => {
    errors++;
    firstError ??= what;
  };
  const ask = ({ path, body, status = 200 }: Asked) =>
    new Promise<void>((resolve) => {
      const start = performance.now();
      const json = body === undefined ? {} : { 'content-type': 'application/json' };
      const headers = { ...json, 'content-length': Buffer.byteLength(body ?? '') };
      const method = body === undefined ? 'GET' : 'POST';
      const sent = request({ hostname, port, path, method, agent, headers }, (response) => {
        if (response.statusCode !== status) wrong(`${path}: ${response.statusCode}`);
        response.resume();
        response.on('error', resolve);
        response.on('end', () => {
          latencies.push(performance.now() - start);
          resolve();
        });
      });
      sent.on('error', (error) => {
        wrong(`${path}: ${error.message}`);
        resolve();
      });
      sent.end(body);
    });
  const start = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      for (let turn = connection; performance.now() - start < ms && turn < requestsMax; turn += connections) {
        await ask(asked[turn % asked.length]!);
      }
    }),
  );
  const passed = performance.now() - start;
  agent.destroy();
  return { requests: latencies.length, errors, firstError, ms: passed, latencies: Float64Array.from(latencies).sort() };
}

if (parentPort !== null) parentPort.postMessage(await runClient(workerData as ClientTask));
