/** @file What graph ops of embedding tables are: the pooled lookup of a feature and the update of a table. */
import { misfit, type OpDef, type Tensor } from '../../graph/graph.js';
import type { TableConfig } from '../config/table-config.js';
import { tableDim } from '../config/table-plan.js';
import { type Pooling, pooledColumns, pooledShape } from './pooled-shape.js';

/** Collection of the tables a graph uses. */
export const TABLES = 'tables';
/** Collection of the names of tables that are meant to stay as they are while others are trained. */
export const FROZEN_TABLES = 'frozen_tables';

declare module '../../graph/graph.js' {
  interface Collections {
    readonly tables: TableConfig;
    readonly frozen_tables: string;
  }
}

export interface EmbeddingLookupAttrs {
  readonly table: TableConfig;
  readonly pooling: Pooling;
}

export const EmbeddingLookup: OpDef<EmbeddingLookupAttrs> = {
  type: 'EmbeddingLookup',
  infer: ([ids], { table, pooling }) => {
    if (ids?.spec.dtype !== 'int64' || !ids.perExample) {
      throw misfit('EmbeddingLookup', 'a placeholder of ids is needed, ragged or of a number of ids per example');
    }
    if (!ids.spec.ragged && pooling !== 'sum') throw misfit(ids.name, 'columns of ids are looked up as sums only');
    return [{ dtype: 'float32', shape: pooledShape(pooling, tableDim(table)) }];
  },
};

export interface EmbeddingUpdateAttrs {
  readonly table: TableConfig;
  /** The lookups the gradients belong to, in order. */
  readonly lookups: readonly Tensor[];
}

/** Inputs: a gradient for each lookup, and the request time where there is one. */
export const EmbeddingUpdate: OpDef<EmbeddingUpdateAttrs> = {
  type: 'EmbeddingUpdate',
  infer: (inputs, { table, lookups }) => {
    const [grads, [time]] = [inputs.slice(0, lookups.length), inputs.slice(lookups.length)];
    if (time !== undefined) checkRequestTime(time);
    if (grads.length !== lookups.length) throw misfit('EmbeddingUpdate', 'one gradient per lookup is needed');
    for (const [index, { columns }] of grads.entries()) {
      const { pooling } = lookups[index]!.op.attrs as EmbeddingLookupAttrs;
      const wanted = pooledColumns(pooling, tableDim(table));
      if (columns !== wanted) throw misfit('EmbeddingUpdate', `a gradient has ${columns} columns, not ${wanted}`);
    }
    return [];
  },
};

/** ML_GRAPH unless `time` is a fed int64 for each example: the batch is looked over before the step. */
function checkRequestTime(time: Tensor): Tensor {
  const { dtype, ragged = false } = time.spec;
  if (dtype === 'int64' && !ragged && time.perExample && time.columns === 1) return time;
  throw misfit(time.name, 'a request time is one int64 for each example, such as dense.i64() of a schema');
}
