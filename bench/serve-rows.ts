/** @file Rows that the benches of serving ask about, and a client in a thread of its own. */
import { Worker } from 'node:worker_threads';
import { f } from '../src/data/fields.js';
import { defineSchema } from '../src/data/schema.js';
import type { ClientResult, ClientTask } from './serve-client.js';

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

export function client(task: ClientTask): Promise<ClientResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./serve-client.js', import.meta.url), { workerData: task });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}
