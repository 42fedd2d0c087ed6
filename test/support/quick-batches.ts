/** @file Batches of files as the reader thread makes them, and the same by way of rows as objects. */
import type { Dataset } from '../../src/data/dataset.js';
import { columnOf, encodeRows } from '../../src/data/encode-rows.js';
import { openDataset } from '../../src/data/quick/quick-dataset.js';
import { quickPlan } from '../../src/data/quick/quick-plan.js';
import type { Features, Schema } from '../../src/data/schema.js';
import { Arena } from '../../src/memory/arena.js';
import { type BatchData, readBatch } from '../../src/memory/batch.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { feedOf } from '../../src/tensor/feed-values.js';

const module = await compileKernels();
const BYTES = 4 << 20;

export interface Reading {
  readonly batchSize?: number;
  readonly epochs?: number;
  readonly first?: number;
}

/** Batches as the reader thread makes them. */
export async function quick(
  dataset: Dataset,
  schema: Schema<Features>,
  { batchSize = 8, epochs = 1, first = 0 }: Reading = {},
) {
  const plan = quickPlan({ ...dataset.describe()!, schema });
  if (plan === undefined) throw new Error('the data has no plan');
  const views = new Views(createSharedMemory(BYTES + 65536).buffer);
  const arena = new Arena('test', 64, BYTES + 4096);
  const opened = openDataset(views, arena, { plan, module, batchSize, epochs, bytes: BYTES, ahead: 2 });
  const found: BatchData[] = [];
  let taken = 0;
  for await (const at of opened.stream(first, () => taken, new AbortController().signal)) {
    found.push(readBatch(views, at, schema.specs));
    taken++;
  }
  return { batches: found, report: opened.report() as { badRows: number } };
}

/** The same by rows as objects. Columns that a whole batch lacks are missing values. */
export async function slow(dataset: Dataset, schema: Schema<Features>, batchSize = 8): Promise<BatchData[]> {
  const found: BatchData[] = [];
  const columns = Object.entries(schema.features).map(([name, feature]) => columnOf(name, feature));
  for await (const rows of dataset.batches(batchSize)) {
    for (const row of rows as Record<string, unknown>[]) for (const name of columns) row[name] ??= undefined;
    const values = encodeRows(schema, rows as never).feeds as Record<string, unknown>;
    const feeds = schema.specs.map((spec) => feedOf(spec, values[spec.name], () => undefined));
    found.push({ rows: rows.length, feeds });
  }
  return found;
}
