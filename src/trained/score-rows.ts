/** @file Scores raw rows with a run: predictions in the order of the rows, and which ids of theirs are new. */
import type { BatchSource } from '../data/batch-source.js';
import { Dataset } from '../data/dataset.js';
import type { DataRow } from '../data/files/place.js';
import { MadeSource } from '../data/made-source.js';
import { type BadRows, BlockEncoder } from '../recipe/encode-blocks.js';
import { featureColumns } from '../recipe/recipe.js';
import type { OpenRun } from './open-run.js';
import type { Scorer } from './scorer.js';

/** Some rows with what was predicted of them. */
export interface ScoredRows {
  readonly rows: readonly DataRow[];
  readonly predictions: Float32Array;
  /** By row, names of columns whose id training never saw. */
  readonly unknown: readonly (readonly string[])[];
}

/** Scores rows as they come; those that cannot be read are handled as `bad` says. */
export async function* scoreRows(
  run: OpenRun,
  scorer: Scorer,
  rows: Dataset | Iterable<DataRow>,
  bad: BadRows,
): AsyncGenerator<ScoredRows, void, undefined> {
  const encoder = new BlockEncoder(run.recipe, run.sides, bad, run.schemas);
  const columns = featureColumns(run.recipe).filter(({ role }) => role === 'id');
  const places = columns.map(({ name }) => encoder.schemas.all.specs.findIndex((spec) => spec.name === name));
  const encoded = new Map<readonly DataRow[], Feeds>();
  const source = sourceOf(rows, encoder, (some, feeds) => encoded.set(some, feeds));
  for await (const { rows: some = [], predictions, examples } of scorer.batches(source)) {
    const feeds = encoded.get(some)!;
    encoded.delete(some);
    const unknown = some.map((): string[] => []);
    // Tables are asked between two steps, and not where batches are made.
    for (const [at, { name, from = name }] of columns.entries()) {
      const feed = feeds[places[at]!];
      const known = feed?.kind === 'ids' ? scorer.known(name, feed.values as BigInt64Array) : undefined;
      known?.forEach((is, row) => {
        if (is === 0) unknown[row]!.push(from);
      });
    }
    yield { rows: some, predictions: predictions.subarray(0, examples), unknown };
  }
}

type Feeds = ReturnType<BlockEncoder['encode']>['data']['feeds'];

function sourceOf(
  given: Dataset | Iterable<DataRow>,
  encoder: BlockEncoder,
  onBatch: (rows: readonly DataRow[], feeds: Feeds) => void,
): BatchSource<DataRow> {
  const dataset = given instanceof Dataset ? given : Dataset.from(given);
  return new MadeSource<DataRow>(
    ({ batchSize }) => ({
      once: true,
      pass: () => {
        const blocks = dataset.batches(batchSize)[Symbol.asyncIterator]();
        return {
          next: async () => {
            for (;;) {
              const { done, value } = await blocks.next();
              if (done === true) return undefined;
              const { data, rows } = encoder.encode(value, false);
              // All rows of it were left out.
              if (rows.length === 0) continue;
              onBatch(rows, data.feeds);
              return { data, rows };
            }
          },
          skip: async (batches) => {
            for (let left = batches; left > 0 && (await blocks.next()).done !== true; left--);
          },
          close: () => blocks.return?.(undefined),
        };
      },
    }),
    { once: true },
  );
}
