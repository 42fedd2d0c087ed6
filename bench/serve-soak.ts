/** @file Rows that the bench of serving asks about, its client, and its soak: traffic with new versions. */
import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { f } from '../src/data/fields.js';
import { defineSchema } from '../src/data/schema.js';
import { listen } from '../src/serve/online/http-server.js';
import { createPredictHandler } from '../src/serve/online/predict-handler.js';
import { ServedModel } from '../src/serve/online/served-model.js';
import type { ClientResult, ClientTask } from './serve-client.js';

const CONNECTIONS = 16;
const RELOAD_MS = 20_000;

export const schema = defineSchema({
  user: f.id(),
  item: f.id(),
  tags: f.ids(),
  price: f.number(),
  age: f.number(),
  click: f.label(),
});
export const rowAt = (at: number, ids: number) => ({
  user: (at * 7919) % ids,
  item: (at * 31) % 5000,
  tags: [at % 50, at % 7],
  price: at % 100,
  age: at % 60,
  click: at % 3 === 0 ? 1 : 0,
});
export const askedAt = (at: number, ids: number) => {
  const { click: _, ...row } = rowAt(at, ids);
  return row;
};

export interface SoakReport {
  readonly requests: number;
  readonly errors: number;
  readonly reloads: number;
  /** Since the third reload. */
  readonly grownMb: number;
}

export function client(task: ClientTask): Promise<ClientResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./serve-client.js', import.meta.url), { workerData: task });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** Mixed traffic with a new version every 20 seconds: errors, and what the process has grown by after a warm-up. */
export async function soakFor(dir: string, ms: number): Promise<SoakReport> {
  const served = await ServedModel.open('shop', dir, { pollMs: 500 });
  const server = await listen(createPredictHandler({ shop: served }), { port: 0 });
  const bodies = [1, 1, 1, 10, 100].map((rows) =>
    JSON.stringify({ instances: Array.from({ length: rows }, (_, at) => askedAt(at, 1000)) }),
  );
  const task = { url: server.url, path: '/v1/models/shop:predict', bodies, connections: CONNECTIONS };
  let [requests, errors, reloads, first] = [0, 0, 0, 0];
  const end = performance.now() + ms;
  try {
    while (performance.now() < end) {
      const found = await client({ ...task, ms: Math.min(RELOAD_MS, end - performance.now()) });
      requests += found.requests;
      errors += found.errors;
      const { version } = served.current;
      const next = `${Number(version) + 1}`;
      cpSync(join(dir, version), join(dir, `temp-${next}`), { recursive: true });
      renameSync(join(dir, `temp-${next}`), join(dir, next));
      await served.refresh();
      if (served.current.version === next) reloads++;
      rmSync(join(dir, version), { recursive: true, force: true });
      if (reloads === 3) first = process.memoryUsage.rss();
    }
    return { requests, errors, reloads, grownMb: (process.memoryUsage.rss() - first) / 2 ** 20 };
  } finally {
    await server.close(1000);
    await served.close();
  }
}
