/** @file Every op that a prediction may be made of, by type. */

import type { TensorSpec } from '../../graph/graph.js';
import { Placeholder } from '../../graph/ops/state.js';
import { type PortableOp, portable } from '../portable-op.js';
import { ELEMENTWISE } from './elementwise.js';
import { INNER } from './inner.js';
import { ROWS } from './rows.js';

/** Ids of a row: their number is a word of 32 bits. */
const ROW_MAX = 2 ** 31 - 1;

/** A feed: floats, int64s, or ragged ids. */
const FEED = portable(
  Placeholder,
  0,
  (given) => {
    const kind = given.choice('kind', ['dense', 'ids', 'ragged']);
    if (kind === 'ragged') {
      const valuesPerRow = given.number('valuesPerRow');
      const spec: TensorSpec = { dtype: 'int64', shape: ['batch'], ragged: true };
      if (given.get('rowMax') === undefined) return { spec, valuesPerRow };
      return { spec, valuesPerRow, rowMax: given.whole('rowMax', 1, ROW_MAX) };
    }
    const width = given.whole('width', 1);
    const shape = width === 1 ? (['batch'] as const) : (['batch', width] as const);
    const spec: TensorSpec = { dtype: kind === 'dense' ? 'float32' : 'int64', shape };
    return { spec, valuesPerRow: kind === 'dense' ? 1 : width };
  },
  ({ spec, valuesPerRow, rowMax }) =>
    spec.ragged
      ? { kind: 'ragged', valuesPerRow, ...(rowMax !== undefined && { rowMax }) }
      : { kind: spec.dtype === 'float32' ? 'dense' : 'ids', width: (spec.shape[1] as number | undefined) ?? 1 },
);

export const PORTABLE_OPS: ReadonlyMap<string, PortableOp> = new Map(
  [FEED, ...ELEMENTWISE, ...ROWS, ...INNER].map((op) => [op.def.type, op]),
);
