/** @file The rows of CSV files as a recipe encodes them, straight from their bytes where nothing stands in the way. */
import type { Dataset } from '../data/dataset.js';
import { FileBlocks } from '../data/quick/file-blocks.js';
import { type QuickPlan, quickPlan } from '../data/quick/quick-plan.js';
import type { Features, Schema } from '../data/schema.js';
import type { FeedData, PartialBatchData } from '../memory/batch.js';
import { compileKernels } from '../runtime/backends/wasm/load-kernels.js';
import type { Recipe } from './recipe.js';

/**
 * How the files of a data set are decoded; undefined where rows have to be objects: side tables are looked up by them,
 * and rows that are left out are counted by them.
 */
export function quickTable(dataset: Dataset, { columns, sides }: Recipe, schema: Schema<Features>) {
  const described = dataset.describe();
  if (described === undefined || sides.length > 0 || described.options.badRows === 'skip') return undefined;
  const nulls = Object.fromEntries(columns.flatMap((column) => (column.nulls ? [[column.name, column.nulls]] : [])));
  return quickPlan({ ...described, schema, nulls });
}

/** All rows of a plan, some at a time, in arrays of their own. */
export async function* quickBatches(plan: QuickPlan): AsyncGenerator<PartialBatchData> {
  const files = new FileBlocks(plan, await compileKernels());
  for await (const { rows, feeds } of files) yield { rows, feeds: feeds.map(copied) };
}

function copied(feed: FeedData): FeedData {
  switch (feed.kind) {
    case 'dense':
      return { kind: 'dense', values: new Float32Array(feed.values) };
    case 'ids':
      return { kind: 'ids', values: new BigInt64Array(feed.values) };
    case 'ragged':
      return { kind: 'ragged', splits: new Int32Array(feed.splits), values: new BigInt64Array(feed.values) };
    default:
      return feed satisfies never;
  }
}
