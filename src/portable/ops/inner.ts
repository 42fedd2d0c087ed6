/** @file Ops of a file over the sizes inside an example: axes, positions, products of matrices, attention. */

import type { Tensor, TensorSpec } from '../../graph/graph.js';
import { Softmax } from '../../graph/ops/attention.js';
import { BatchMatMul, MatMulInner, type MatrixLayout } from '../../graph/ops/batch-matmul.js';
import { BroadcastInner, GroupDot, MaxInner, ScaleGroups, Shared, SumInner, TopK } from '../../graph/ops/inner.js';
import { type Cut, cutAt, withAxis } from '../../graph/ops/inner-shape.js';
import { AssembleBlocks, GatherInner, SliceInner } from '../../graph/ops/positions.js';
import { SequenceMask } from '../../graph/ops/sequence.js';
import { TransposeInner } from '../../graph/ops/shape.js';
import { type Attributes, innerSizes, ROW_FLOATS_MAX } from '../attributes.js';
import { type PortableOp, plain, portable } from '../portable-op.js';
import { MANY } from './elementwise.js';

const rowsOf = (sizes: readonly number[]): TensorSpec => ({ dtype: 'float32', shape: ['batch', ...sizes] });
const product = (sizes: readonly number[]): number => sizes.reduce((count, size) => count * size, 1);

/** The axis that the op goes over, as its input has it. */
function cutOf(type: string, given: Attributes, x: Tensor): Cut {
  return cutAt(type, x, given.whole('axis', 1, 16));
}

/** What comes of a tensor whose axis has another size, or is left out. */
const withoutAxis = (x: Tensor, { axis }: Cut, n?: number): TensorSpec => ({
  dtype: 'float32',
  shape: withAxis(x.spec.shape, axis, n),
});

/** Sizes that a spec in a file has after the batch, so many floats in all. */
function sizesIn(given: Attributes, count: number): TensorSpec {
  return rowsOf(given.sizes('sizes', count));
}

/** Only sizes are kept of a spec. */
const sized = ({ spec, ...attrs }: { readonly spec: TensorSpec }) => ({
  ...attrs,
  sizes: spec.shape.slice(1) as number[],
});

function layoutOf(given: Attributes, name: string): MatrixLayout {
  const layout = given.object(name);
  return { group: layout.whole('group'), row: layout.whole('row'), col: layout.whole('col') };
}

/** Whether all of a matrix of each group lies in a row of so many floats. */
function lies({ group, row, col }: MatrixLayout, sizes: readonly [number, number, number], floats: number): boolean {
  const [groups, rows, cols] = sizes;
  return (groups - 1) * group + (rows - 1) * row + (cols - 1) * col < floats;
}

export const INNER: readonly PortableOp[] = [
  portable(
    SumInner,
    1,
    (given, [x]) => {
      const cut = cutOf('Sum', given, x!);
      return { ...cut, factor: given.number('factor'), spec: withoutAxis(x!, cut) };
    },
    ({ axis, factor }) => ({ axis, factor }),
  ),
  portable(
    MaxInner,
    1,
    (given, [x]) => {
      const cut = cutOf('Max', given, x!);
      return { ...cut, spec: withoutAxis(x!, cut) };
    },
    ({ axis }) => ({ axis }),
  ),
  portable(
    BroadcastInner,
    1,
    (given, [x]) => {
      const sizes = innerSizes(x!);
      const [axis, n] = [given.whole('axis', 1, sizes.length + 1), given.whole('n', 1)];
      given.hold('n', x!.columns * n <= ROW_FLOATS_MAX);
      const wide = [...sizes.slice(0, axis - 1), n, ...sizes.slice(axis - 1)];
      const inner = product(sizes.slice(axis - 1));
      const cut = { axis, outer: x!.columns / inner, n, inner };
      return { ...cut, factor: given.number('factor'), spec: rowsOf(wide) };
    },
    ({ axis, n, factor }) => ({ axis, n, factor }),
  ),
  portable(
    GatherInner,
    1,
    (given, [x]) => {
      const [cut, indices] = [cutOf('Gather', given, x!), given.wholes('indices')];
      given.hold('indices', indices.length > 0 && indices.every((index) => index < cut.n));
      return { ...cut, indices, spec: withoutAxis(x!, cut, indices.length) };
    },
    ({ axis, indices }) => ({ axis, indices }),
  ),
  portable(
    SliceInner,
    1,
    (given, [x]) => {
      const [blocks, step] = [given.whole('blocks', 1), given.whole('step', 1)];
      const [start, width] = [given.whole('start'), given.whole('width', 1)];
      given.hold('blocks', blocks * step === x!.columns && start + width <= step);
      return { blocks, step, start, width, spec: sizesIn(given, blocks * width) };
    },
    sized,
  ),
  portable(
    AssembleBlocks,
    MANY,
    (given, inputs) => {
      const [blocks, step] = [given.whole('blocks', 1), given.whole('step', 1)];
      const parts = given.list('parts').map((part) => ({ start: part.whole('start'), width: part.whole('width', 1) }));
      given.hold('parts', parts.length === inputs.length && blocks * step <= ROW_FLOATS_MAX);
      for (const [index, { start, width }] of parts.entries()) {
        given.hold('parts', start + width <= step && inputs[index]!.columns === blocks * width);
      }
      return { blocks, step, parts, spec: sizesIn(given, blocks * step) };
    },
    (attrs) => ({ ...sized(attrs), parts: attrs.parts.map(({ start, width }) => ({ start, width })) }),
  ),
  portable(TopK, 1, (given, [x]) => {
    const sizes = innerSizes(x!);
    const width = sizes.at(-1) ?? 0;
    return { groups: product(sizes.slice(0, -1)), width, k: given.whole('k', 1, width) };
  }),
  plain(ScaleGroups, 2),
  plain(GroupDot, 2),
  portable(Shared, 2, (given) => ({ kind: given.choice('kind', ['add', 'mul']) })),
  portable(TransposeInner, 1, (given, [x]) => {
    const sizes = innerSizes(x!);
    given.hold('n', sizes.length >= 2);
    const [n, inner] = sizes.slice(-2) as [number, number];
    return { outer: product(sizes.slice(0, -2)), n, inner };
  }),
  portable(Softmax, [1, 2], (given, [x, mask]) => {
    const sizes = innerSizes(x!);
    const width = sizes.at(-1) ?? 0;
    given.hold('width', width > 0);
    given.hold('mask', mask === undefined || mask.columns === x!.columns || mask.columns === width);
    return { groups: product(sizes.slice(0, -1)), width };
  }),
  portable(
    BatchMatMul,
    2,
    (given, [x, y]) => {
      const [groups, m, n, k] = [
        given.whole('groups', 1),
        given.whole('m', 1),
        given.whole('n', 1),
        given.whole('k', 1),
      ];
      const [a, b, c] = [layoutOf(given, 'a'), layoutOf(given, 'b'), layoutOf(given, 'c')];
      const spec = sizesIn(given, groups * m * n);
      given.hold('a', lies(a, [groups, m, k], x!.columns));
      given.hold('b', lies(b, [groups, k, n], y!.columns));
      given.hold('c', c.col === 1 && lies(c, [groups, m, n], groups * m * n));
      return { groups, m, n, k, a, b, c, spec };
    },
    (attrs) => ({ ...sized(attrs), a: { ...attrs.a }, b: { ...attrs.b }, c: { ...attrs.c } }),
  ),
  portable(MatMulInner, 2, (given) => ({ transposeB: given.boolean('transposeB') })),
  portable(SequenceMask, 1, (given) => ({ n: given.whole('n', 1, 2 ** 16) })),
];
