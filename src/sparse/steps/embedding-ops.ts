/** @file Makes graph ops of embedding tables: the pooled lookup of a feature and the update of a table. */
import { checkOptions } from '../../base/check-options.js';
import { misfit, type Op, type Tensor } from '../../graph/graph.js';
import type { OpOptions } from '../../graph/ops/options.js';
import { type Ids, type Int64PerExample, tensorOfIds, tensorOfInt64 } from '../../graph/typed-inputs.js';
import { lowerLater } from '../../runtime/compile/late-lowerings.js';
import type { TableConfig } from '../config/table-config.js';
import { EmbeddingLookup, EmbeddingUpdate, TABLES } from './embedding-defs.js';
import type { Pooling } from './pooled-shape.js';

export {
  EmbeddingLookup,
  type EmbeddingLookupAttrs,
  EmbeddingUpdate,
  type EmbeddingUpdateAttrs,
  TABLES,
} from './embedding-defs.js';

export interface LookupOptions extends OpOptions {
  /** How the rows of an example become one. Default: `sum`. */
  readonly pooling?: Pooling | undefined;
}

/**
 * The embeddings of each example's ids: their sum or mean, `[batch, dim]`, or the first n of them, `[batch, n, dim]`.
 * `ids` is a ragged placeholder, or columns of one with a number of ids per example, whose sums are faster. Absent ids
 * count as zeros and are not inserted.
 */
export function embeddingLookup(ids: Ids, table: TableConfig, options: LookupOptions = {}): Tensor {
  const { pooling = 'sum', name } = checkOptions('embeddingLookup', options, ['pooling', 'name']);
  const { graph } = ids;
  const known = graph.getCollection(TABLES).find(({ name }) => name === table.name);
  if (known === undefined) graph.addToCollection(TABLES, table);
  else if (known !== table) throw misfit(table.name, 'another table has this name: use one config object for both');
  return graph.add(EmbeddingLookup, [tensorOfIds(ids)], { table, pooling }, name ?? `embedding/${ids.op.name}`).output;
}

export interface EmbeddingUpdateOptions {
  /** Unix seconds of each example: the latest of a batch becomes the time of its rows, by which they expire. */
  readonly reqTime?: Int64PerExample | undefined;
}

/**
 * Applies the gradients of lookups to their tables: one op per table.
 *
 * ```ts
 * const steps = applyEmbeddingGradients([[grad, lookup]], { reqTime: inputs.req_time });
 * ```
 */
export function applyEmbeddingGradients(
  gradsAndLookups: readonly (readonly [Tensor | undefined, Tensor])[],
  options: EmbeddingUpdateOptions = {},
): Op[] {
  const { reqTime } = checkOptions('applyEmbeddingGradients', options, ['reqTime']);
  const times = reqTime === undefined ? [] : [tensorOfInt64(reqTime)];
  const byTable = new Map<TableConfig, (readonly [Tensor, Tensor])[]>();
  for (const [grad, lookup] of gradsAndLookups) {
    if (grad === undefined) {
      throw misfit(lookup.name, 'it has no gradient: what was differentiated does not depend on it');
    }
    const { table } = (lookup.op as Op<{ readonly table: TableConfig }>).attrs;
    const list = byTable.get(table);
    if (list === undefined) byTable.set(table, [[grad, lookup]]);
    else list.push([grad, lookup]);
  }
  return [...byTable].map(([table, pairs]) => {
    const attrs = { table, lookups: pairs.map(([, lookup]) => lookup) };
    const grads = pairs.map(([grad]) => grad);
    return pairs[0]![1].graph.add(EmbeddingUpdate, [...grads, ...times], attrs, `update/${table.name}`) as Op;
  });
}

lowerLater(() => import('./lower-embedding.js'));
