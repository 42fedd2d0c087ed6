/**
 * @file What a model owes to each of its columns: the AUC it loses when the column's values are dealt out anew among
 * the rows. No training, and the same for every model.
 */
import { MadeSource } from '../data/made-source.js';
import { auc } from '../metrics/auc.js';
import { featureColumns, type Recipe } from '../recipe/recipe.js';
import { shuffled } from '../recipe/table-source.js';
import type { JudgedRows } from './judged-rows.js';
import type { Scorer } from './scorer.js';

export interface Importance {
  readonly column: string;
  /** Change of the AUC: below 0 where the column is of use. */
  readonly mean: number;
  /** Standard deviation over the shuffles. */
  readonly deviation: number;
}

export interface Explained {
  readonly auc: number | null;
  readonly rows: number;
  readonly repeats: number;
  /** The most important first. */
  readonly columns: readonly Importance[];
}

/** One pass over all rows as they are, then one for each column and shuffle. */
export async function shuffleImportance(
  recipe: Recipe,
  scorer: Scorer,
  { table, rows, labels }: JudgedRows,
  { repeats, seed }: { readonly repeats: number; readonly seed: number },
): Promise<Explained> {
  const names = featureColumns(recipe).map(({ name }) => name);
  const variants = names.flatMap((name) => Array.from({ length: repeats }, (_, repeat) => ({ name, repeat })));
  const passes = [undefined, ...variants];
  const source = new MadeSource<never>(({ batchSize }) => ({
    once: false,
    pass: () => {
      let [pass, at] = [0, 0];
      let dealt = rows;
      const next = () => {
        if (at >= rows.length) [pass, at] = [pass + 1, 0];
        if (pass >= passes.length) return undefined;
        const variant = passes[pass];
        if (at === 0 && variant !== undefined) dealt = shuffled(rows, seed, pass);
        const end = Math.min(rows.length, at + batchSize);
        const data = table.gather(rows.subarray(at, end));
        const feeds = [...data.feeds];
        if (variant !== undefined) {
          const index = table.schema.findIndex((spec) => spec.name === variant.name);
          feeds[index] = table.gather(dealt.subarray(at, end)).feeds[index];
        }
        at = end;
        return { data: { rows: data.rows, feeds } };
      };
      const skip = (batches: number) => {
        for (let left = batches; left > 0 && next() !== undefined; left--);
      };
      return { next, skip };
    },
  }));
  const predictions = await scorer.all(source, passes.length * rows.length);
  const aucOf = (pass: number) =>
    auc(labels, predictions.subarray(pass * rows.length, (pass + 1) * rows.length)) ?? Number.NaN;
  const whole = aucOf(0);
  const columns = names.map((column, index): Importance => {
    const changes = Array.from({ length: repeats }, (_, repeat) => aucOf(1 + index * repeats + repeat) - whole);
    const mean = changes.reduce((sum, change) => sum + change, 0) / repeats;
    const spread = changes.reduce((sum, change) => sum + (change - mean) ** 2, 0) / Math.max(1, repeats - 1);
    return { column, mean, deviation: Math.sqrt(spread) };
  });
  columns.sort((a, b) => a.mean - b.mean);
  return { auc: Number.isNaN(whole) ? null : whole, rows: rows.length, repeats, columns };
}
