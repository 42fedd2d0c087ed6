/** @file A client in a thread of its own: connections that ask again as soon as they are answered. */
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

export interface ClientTask {
  readonly url: string;
  readonly path: string;
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly ms: number;
}

export interface ClientResult {
  readonly requests: number;
  readonly errors: number;
  readonly ms: number;
  /** Milliseconds from a request to the end of its answer, sorted. */
  readonly latencies: Float64Array;
}

/** Asks for a while and counts. */
export async function runClient({ url, path, bodies, connections, ms }: ClientTask): Promise<ClientResult> {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  let errors = 0;
  const ask = (body: string) =>
    new Promise<void>((resolve) => {
      const start = performance.now();
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const sent = request({ hostname, port, path, method: 'POST', agent, headers }, (response) => {
        if (response.statusCode !== 200) errors++;
        response.resume();
        response.on('end', () => {
          latencies.push(performance.now() - start);
          resolve();
        });
      });
      sent.on('error', () => {
        errors++;
        resolve();
      });
      sent.end(body);
    });
  const start = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      for (let turn = connection; performance.now() - start < ms; turn += connections) {
        await ask(bodies[turn % bodies.length]!);
      }
    }),
  );
  const passed = performance.now() - start;
  agent.destroy();
  return { requests: latencies.length, errors, ms: passed, latencies: Float64Array.from(latencies).sort() };
}

if (parentPort !== null) parentPort.postMessage(await runClient(workerData as ClientTask));
