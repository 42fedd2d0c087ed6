/** @file Ops over whole rows taken apart. */
import { BroadcastTo, SumTo } from '../../../graph/ops/broadcast.js';
import { AssembleColumns, Columns } from '../../../graph/ops/columns.js';
import { MatMul } from '../../../graph/ops/matmul.js';
import { L2Normalize, LayerNorm } from '../../../graph/ops/norms.js';
import { Cin, FmPairs, PairProducts } from '../../../graph/ops/pairs.js';
import { MaxColumns } from '../../../graph/ops/reductions.js';
import { RowDot } from '../../../graph/ops/rows.js';
import { Reshape } from '../../../graph/ops/shape.js';
import { type RuleContext, rule, sizesOf } from '../rule.js';
import { countOf, type Value } from '../standard-graph.js';

const square = ({ graph }: RuleContext, x: Value): Value => graph.binary('mul', x, x);

/** Parts of rows side by side: in the order of where they begin, without holes. */
export function joined(
  { graph, refuse }: RuleContext,
  parts: readonly { readonly start: number; readonly width: number; readonly value: Value }[],
  width: number,
  axis: number,
): Value {
  const ordered = [...parts].sort((a, b) => a.start - b.start);
  let next = 0;
  for (const part of ordered) {
    if (part.start !== next) refuse('its parts overlap or leave holes');
    next += part.width;
  }
  if (next !== width) refuse('its parts leave a hole at the end');
  return ordered.length === 1
    ? ordered[0]!.value
    : graph.concat(
        ordered.map(({ value }) => value),
        axis,
      );
}

export const ROW_RULES = [
  rule(MatMul, ({ graph, refuse }, [a, b], { attrs: { transposeA, transposeB } }) => {
    const turned = (x: Value, turn: boolean) => (turn ? graph.transpose(x, [1, 0]) : x);
    if (a!.perExample && transposeA) refuse('it sums over the batch');
    return graph.matMul(a!.perExample ? a! : turned(a!, transposeA), turned(b!, transposeB));
  }),
  rule(RowDot, ({ graph, shapes }, [a, b]) =>
    graph.reduce('sum', graph.binary('mul', shapes.flat(a!), shapes.flat(b!)), 0),
  ),
  rule(MaxColumns, ({ graph, shapes }, [x]) => graph.reduce('max', shapes.flat(x!), 0)),
  rule(Columns, ({ graph, shapes }, [x], op) => {
    const { start, end } = op.attrs;
    const flat = shapes.flat(x!);
    const part = start === 0 && end === countOf(x!.sizes) ? flat : graph.part(flat, 0, start, end);
    return shapes.sized(part, sizesOf(op as never));
  }),
  rule(AssembleColumns, (context, inputs, op) => {
    const { starts, width } = op.attrs;
    const parts = inputs.map((input, index) => {
      const value = context.shapes.flat(input);
      return { start: starts[index]!, width: value.sizes[0]!, value };
    });
    return context.shapes.sized(joined(context, parts, width, 0), sizesOf(op as never));
  }),
  rule(Reshape, ({ shapes }, [x], op) => shapes.sized(x!, sizesOf(op as never))),
  rule(SumTo, ({ graph, shapes, refuse }, [x], op) => {
    const sizes = sizesOf(op as never);
    if (countOf(sizes) !== 1) refuse('a sum to a narrower shape that is no number');
    return shapes.sized(graph.reduce('sum', shapes.flat(x!), 0), sizes);
  }),
  rule(BroadcastTo, ({ graph, shapes, refuse }, [x], op) => {
    const sizes = sizesOf(op as never);
    const ones = graph.constant('ones', new Float32Array(countOf(sizes)).fill(1), sizes);
    if (!x!.perExample && op.output.perExample) refuse('a shared value that is repeated for each example');
    const narrow = countOf(x!.sizes) === 1 ? shapes.sized(x!, new Array(sizes.length).fill(1)) : x!;
    return graph.binary('mul', narrow, ones);
  }),
  rule(LayerNorm, (context, [x, gain, bias], op) => {
    const { graph, shapes } = context;
    const flat = shapes.flat(x!);
    const count = flat.sizes[0]!;
    const mean = (value: Value) => shapes.sized(shapes.scale(graph.reduce('sum', value, 0), 1 / count), [1]);
    const centred = graph.binary('sub', flat, mean(flat));
    const variance = graph.binary('add', mean(square(context, centred)), shapes.number(op.attrs.epsilon));
    const normal = graph.binary('div', centred, graph.unary('sqrt', variance));
    const scaled = graph.binary('mul', normal, shapes.flat(gain!));
    return shapes.sized(graph.binary('add', scaled, shapes.flat(bias!)), x!.sizes);
  }),
  rule(L2Normalize, (context, [x], op) => {
    const { graph, shapes } = context;
    const flat = shapes.flat(x!);
    const squares = shapes.sized(graph.reduce('sum', square(context, flat), 0), [1]);
    const length = graph.unary('sqrt', graph.binary('maximum', squares, shapes.number(op.attrs.epsilon)));
    return shapes.sized(graph.binary('div', flat, length), x!.sizes);
  }),
  rule(FmPairs, (context, [x], { attrs: { fields, dim } }) => {
    const { graph, shapes } = context;
    const vectors = shapes.sized(x!, [fields, dim]);
    const ofSum = square(context, graph.reduce('sum', vectors, 0));
    const ofEach = graph.reduce('sum', square(context, vectors), 0);
    return shapes.scale(graph.reduce('sum', graph.binary('sub', ofSum, ofEach), 0), 0.5);
  }),
  rule(PairProducts, ({ graph, shapes }, [left, right], op) => {
    const { lefts, rights, dim } = op.attrs;
    const pairs = graph.binary('mul', shapes.sized(left!, [lefts, 1, dim]), shapes.sized(right!, [1, rights, dim]));
    return shapes.sized(pairs, sizesOf(op as never));
  }),
  rule(Cin, ({ graph, shapes }, [left, right, w], { attrs: { lefts, rights, dim, outs } }) => {
    const pairs = graph.binary('mul', shapes.sized(left!, [lefts, 1, dim]), shapes.sized(right!, [1, rights, dim]));
    const byColumn = graph.transpose(shapes.sized(pairs, [lefts * rights, dim]), [1, 0]);
    return graph.transpose(graph.matMul(byColumn, shapes.sized(w!, [lefts * rights, outs])), [1, 0]);
  }),
];
