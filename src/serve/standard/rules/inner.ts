/** @file Ops over the sizes inside an example taken apart. */
import { Softmax } from '../../../graph/ops/attention.js';
import { BatchMatMul, MatMulInner, type MatrixLayout } from '../../../graph/ops/batch-matmul.js';
import { BroadcastInner, GroupDot, MaxInner, ScaleGroups, Shared, SumInner, TopK } from '../../../graph/ops/inner.js';
import { AssembleBlocks, GatherInner, SliceInner } from '../../../graph/ops/positions.js';
import { TransposeInner } from '../../../graph/ops/shape.js';
import { type RuleContext, rule, sizesOf } from '../rule.js';
import { countOf, type Value } from '../standard-graph.js';
import { joined } from './rows.js';

/** Far below what counts, and far from the end of the floats. */
const MASKED = -1e9;

type Sizes3 = readonly [groups: number, rows: number, columns: number];

/** The axes of a strided matrix in the order they lie in memory, the widest apart first. */
function memoryOrder({ group, row, col }: MatrixLayout, sizes: Sizes3, refuse: RuleContext['refuse']): number[] {
  const strides = [group, row, col];
  // An axis of one place has any stride.
  const order = [0, 1, 2].sort((a, b) => (sizes[a] === 1 ? -1 : sizes[b] === 1 ? 1 : strides[b]! - strides[a]!));
  let stride = 1;
  for (const axis of [...order].reverse()) {
    if (sizes[axis] !== 1 && strides[axis] !== stride) refuse('its matrices do not lie side by side');
    stride *= sizes[axis]!;
  }
  return order;
}

/** Matrices of each group, `[groups, rows, columns]`, of floats that lie as the layout says. */
function matrices({ graph, shapes, refuse }: RuleContext, x: Value, layout: MatrixLayout, sizes: Sizes3): Value {
  const order = memoryOrder(layout, sizes, refuse);
  const laid = shapes.sized(
    x,
    order.map((axis) => sizes[axis]!),
  );
  return isInOrder(order)
    ? laid
    : graph.transpose(
        laid,
        [0, 1, 2].map((axis) => order.indexOf(axis)),
      );
}

const isInOrder = (order: readonly number[]): boolean => order.every((axis, at) => axis === at);

export const INNER_RULES = [
  rule(SumInner, ({ graph, shapes }, [x], { attrs: { axis, factor } }) =>
    shapes.scale(graph.reduce('sum', x!, axis - 1), factor),
  ),
  rule(MaxInner, ({ graph }, [x], { attrs: { axis } }) => graph.reduce('max', x!, axis - 1)),
  rule(BroadcastInner, ({ graph, shapes }, [x], op) => {
    const { axis, n, factor } = op.attrs;
    const narrow = [...x!.sizes.slice(0, axis - 1), 1, ...x!.sizes.slice(axis - 1)];
    const sizes = new Array(narrow.length).fill(1);
    sizes[axis - 1] = n;
    const ones = graph.constant('ones', new Float32Array(n).fill(factor), sizes);
    return graph.binary('mul', shapes.sized(x!, narrow), ones);
  }),
  rule(GatherInner, ({ graph }, [x], { attrs: { axis, indices } }) => graph.gather(x!, axis - 1, indices)),
  rule(SliceInner, ({ graph, shapes }, [x], op) => {
    const { blocks, step, start, width } = op.attrs;
    const part = graph.part(shapes.sized(x!, [blocks, step]), 1, start, start + width);
    return shapes.sized(part, sizesOf(op as never));
  }),
  rule(AssembleBlocks, (context, inputs, op) => {
    const { blocks, step, parts } = op.attrs;
    const values = inputs.map((input, index) => {
      const { start, width } = parts[index]!;
      return { start, width, value: context.shapes.sized(input, [blocks, width]) };
    });
    return context.shapes.sized(joined(context, values, step, 1), sizesOf(op as never));
  }),
  rule(TopK, ({ graph }, [x], { attrs: { k } }) => graph.topK(x!, k)),
  rule(ScaleGroups, ({ graph, shapes }, [factors, x]) =>
    graph.binary('mul', shapes.sized(factors!, [...factors!.sizes, 1]), x!),
  ),
  rule(GroupDot, ({ graph }, [a, b]) => graph.reduce('sum', graph.binary('mul', a!, b!), a!.sizes.length - 1)),
  rule(Shared, ({ graph }, [x, v], { attrs: { kind } }) => graph.binary(kind, x!, v!)),
  rule(TransposeInner, ({ graph }, [x]) => {
    const rank = x!.sizes.length;
    const order = Array.from({ length: rank }, (_, axis) => axis);
    [order[rank - 2], order[rank - 1]] = [rank - 1, rank - 2];
    return graph.transpose(x!, order);
  }),
  rule(Softmax, ({ graph, shapes }, [x, mask]) => {
    if (mask === undefined) return graph.softmax(x!);
    const ones = new Array(x!.sizes.length - 1).fill(1);
    const kept = shapes.sized(mask, countOf(mask.sizes) === countOf(x!.sizes) ? x!.sizes : [...ones, x!.sizes.at(-1)!]);
    const gone = shapes.scale(graph.binary('sub', shapes.number(1), kept), MASKED);
    const counted = graph.binary('add', graph.binary('mul', x!, kept), gone);
    return graph.binary('mul', graph.softmax(counted), kept);
  }),
  rule(BatchMatMul, (context, [x, y], op) => {
    const { groups, m, n, k, a, b, c } = op.attrs;
    const { graph, shapes, refuse } = context;
    const product = graph.matMul(matrices(context, x!, a, [groups, m, k]), matrices(context, y!, b, [groups, k, n]));
    const order = memoryOrder(c, [groups, m, n], refuse);
    return shapes.sized(isInOrder(order) ? product : graph.transpose(product, order), sizesOf(op as never));
  }),
  rule(MatMulInner, ({ graph }, [x, w], { attrs: { transposeB } }) =>
    graph.matMul(x!, transposeB ? graph.transpose(w!, [1, 0]) : w!),
  ),
];
