/** @file A server with as many connections as it takes, idle or slow: it answers those who ask meanwhile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { serveModels } from '../../../src/serve/online/serve-models.js';
import { small } from '../shops.js';
import { exportedShop } from './served.js';

const FLOOD = fileURLToPath(new URL('./flood.js', import.meta.url));
const BEYOND = 20;
/** Longer than any machine takes to open them. */
const REQUEST_MS = 600_000;
const BODY = '{"instances":[{"user":"u1","item":3}]}';

export async function manyConnections(t: Test, count: number): Promise<void> {
  const dir = t.testdir();
  await exportedShop(dir);
  const on = { port: 0, load: small, pollMs: 0, connectionsMax: count, requestMs: REQUEST_MS, openMax: 2 * count };
  // Requests that never come whole are open as long as their time lasts.
  const serving = await serveModels({ shop: join(dir, 'export') }, { ...on, deadlineMs: REQUEST_MS });
  const { port } = new URL(serving.url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(async () => {
    agent.destroy();
    await serving.close();
  });
  t.equal(serving.connectionsMax, count);
  const ask = () =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', path: '/v1/models/shop:predict', method: 'POST', agent });
      sent.on('error', reject);
      sent.on('response', (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      });
      sent.end(BODY);
    });
  const statuses = new Set([await ask()]);
  let asked = 1;
  const flood = spawn(process.execPath, [FLOOD, port, `${count - 1}`, `${BEYOND}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => flood.kill('SIGKILL'));
  const lines = createInterface({ input: flood.stdout })[Symbol.asyncIterator]();
  /** The next line, while somebody asks without a pause. */
  const next = async (): Promise<object> => {
    let line: string | undefined;
    const read = lines.next().then(({ value }) => {
      line = value as string;
    });
    while (line === undefined) {
      statuses.add(await ask());
      asked++;
    }
    await read;
    return JSON.parse(line) as object;
  };
  t.same(await next(), { opened: count - 1, closed: 0 });
  // Asked once more: all that was opened before has been taken then.
  statuses.add(await ask());
  flood.stdin.write('go\n');
  t.same(await next(), { told: ['HTTP/1.1 503 Service Unavailable'], closed: 0 });
  t.same([...statuses], [200], `${asked} were answered meanwhile`);
  const gone = once(flood, 'exit');
  flood.stdin.end();
  await gone;
  agent.destroy();
  while ((await fetch(`${serving.url}/healthz`)).status !== 200) await new Promise((pass) => setImmediate(pass));
  t.equal(await ask(), 200, 'and others, once they have gone');
}
