/** @file Ops of a file over whole rows: products, columns, pairs of fields, norms. */

import type { Dim } from '../../graph/graph.js';
import { BroadcastTo, SumTo } from '../../graph/ops/broadcast.js';
import { AssembleColumns, Columns } from '../../graph/ops/columns.js';
import { MatMul } from '../../graph/ops/matmul.js';
import { L2Normalize, LayerNorm } from '../../graph/ops/norms.js';
import { Cin, FmPairs, PairProducts } from '../../graph/ops/pairs.js';
import { MaxColumns } from '../../graph/ops/reductions.js';
import { RowDot } from '../../graph/ops/rows.js';
import { Reshape } from '../../graph/ops/shape.js';
import { type Attributes, innerSizes, ROW_FLOATS_MAX } from '../attributes.js';
import { type PortableOp, plain, portable } from '../portable-op.js';
import { MANY } from './elementwise.js';

/** A shape as files have it: the batch is its name. */
function shapeOf(given: Attributes, name: string): readonly Dim[] {
  const value = given.get(name);
  if (!Array.isArray(value) || value.length > 16) return given.refuse(name);
  let count = 1;
  for (const [index, dim] of value.entries()) {
    if (dim === 'batch' && index === 0) continue;
    if (typeof dim !== 'number' || !Number.isInteger(dim) || dim < 1) given.refuse(name);
    count *= dim as number;
  }
  if (count > ROW_FLOATS_MAX) given.refuse(name, 'is too large');
  return value as Dim[];
}

/** A shape of rows with so many floats. */
function rowShape(given: Attributes, columns: number): readonly Dim[] {
  const shape = shapeOf(given, 'shape');
  const count = shape.slice(1).reduce<number>((product, dim) => product * (dim as number), 1);
  given.hold('shape', shape[0] === 'batch' && count === columns);
  return shape;
}

export const ROWS: readonly PortableOp[] = [
  portable(MatMul, 2, (given) => ({
    transposeA: given.boolean('transposeA'),
    transposeB: given.boolean('transposeB'),
  })),
  plain(RowDot, 2),
  plain(MaxColumns, 1),
  portable(Columns, 1, (given) => {
    const [start, end] = [given.whole('start'), given.whole('end')];
    return { start, end, shape: rowShape(given, end - start) };
  }),
  portable(AssembleColumns, MANY, (given, inputs) => {
    const [starts, width] = [given.wholes('starts'), given.whole('width', 1)];
    given.hold('starts', starts.length === inputs.length);
    return { starts, width, shape: rowShape(given, width) };
  }),
  portable(Reshape, 1, (given, [x]) => ({ shape: given.sizes('shape', x!.columns) })),
  portable(SumTo, 1, (given, [x]) => {
    const shape = shapeOf(given, 'shape');
    // A sum over the examples of a batch would make a prediction depend on who else is asked about.
    given.hold('shape', !x!.perExample || shape[0] === 'batch');
    return { shape, perBatch: false };
  }),
  portable(BroadcastTo, 1, (given) => ({ shape: shapeOf(given, 'shape'), perBatch: false })),
  portable(LayerNorm, 3, (given) => ({ epsilon: given.number('epsilon') })),
  portable(L2Normalize, 1, (given) => ({ epsilon: given.number('epsilon') })),
  portable(FmPairs, 1, (given) => ({ fields: given.whole('fields', 1), dim: given.whole('dim', 1) })),
  portable(PairProducts, 2, (given, [left, right]) => {
    const [lefts, rights, dim] = [given.whole('lefts', 1), given.whole('rights', 1), given.whole('dim', 1)];
    given.hold('lefts', lefts * dim === left!.columns && left!.perExample);
    given.hold('rights', rights * dim === right!.columns && right!.perExample);
    return { lefts, rights, dim };
  }),
  portable(Cin, 3, (given, [left, right, w]) => {
    const [[lefts, dim], [rights, same]] = [innerSizes(left!), innerSizes(right!)];
    const outs = given.whole('outs', 1);
    given.hold('dim', lefts !== undefined && rights !== undefined && dim !== undefined && dim === same);
    given.hold('outs', !w!.perExample && w!.columns === lefts! * rights! * outs);
    return { lefts: lefts!, rights: rights!, dim: dim!, outs };
  }),
];
