/** @file Elementwise ops taken apart. */
import { Activation, LeakyRelu, Prelu, SmoothActivation } from '../../../graph/ops/activations.js';
import { ClipByValue } from '../../../graph/ops/clip.js';
import { AddN, Binary, Mul, Scale, Sub } from '../../../graph/ops/elementwise.js';
import { AddBias, ScaleColumns, ScaleRows } from '../../../graph/ops/rows.js';
import { inCommonWords, Unary } from '../../../graph/ops/unary-op.js';
import { type RuleContext, rule, sizesOf } from '../rule.js';
import type { Value } from '../standard-graph.js';

const { SQRT1_2, PI } = Math;

/** x * (1 + f(x)) / 2, which both forms of gelu are. */
function halves({ graph, shapes }: RuleContext, x: Value, f: Value): Value {
  return graph.binary('mul', shapes.scale(x, 0.5), graph.binary('add', f, shapes.number(1)));
}

function smooth(context: RuleContext, x: Value, kind: 'gelu' | 'geluTanh' | 'swish' | 'softplus'): Value {
  const { graph, shapes } = context;
  switch (kind) {
    case 'gelu':
      return halves(context, x, graph.unary('erf', shapes.scale(x, SQRT1_2)));
    case 'geluTanh': {
      const cube = graph.binary('mul', graph.binary('mul', x, x), x);
      const inner = graph.binary('add', x, shapes.scale(cube, 0.044715));
      return halves(context, x, graph.unary('tanh', shapes.scale(inner, Math.sqrt(2 / PI))));
    }
    case 'swish':
      return graph.binary('mul', x, graph.unary('sigmoid', x));
    case 'softplus':
      return graph.unary('softplus', x);
    default:
      return kind satisfies never;
  }
}

/** max(x, 0) + slope * min(x, 0). */
function leaky({ graph, shapes }: RuleContext, x: Value, slope: Value): Value {
  const below = graph.binary('minimum', x, shapes.number(0));
  return graph.binary('add', graph.unary('relu', x), graph.binary('mul', below, slope));
}

export const ELEMENTWISE_RULES = [
  rule(Activation, ({ graph }, [x], { attrs: { kind } }) => graph.unary(kind, x!)),
  rule(SmoothActivation, (context, [x], { attrs: { kind } }) => smooth(context, x!, kind)),
  rule(LeakyRelu, (context, [x], { attrs: { slope } }) => leaky(context, x!, context.shapes.number(slope))),
  rule(Prelu, (context, [x, slope]) => leaky(context, x!, context.shapes.sized(slope!, x!.sizes))),
  rule(Unary, (context, [x], { attrs: { kind } }) => {
    return inCommonWords(kind, context.shapes, x!) ?? context.refuse(`${kind} has no spelling in common words`);
  }),
  rule(Binary, ({ shapes }, [a, b], op) => shapes.sized(shapes.binary(op.attrs.kind, a!, b!), sizesOf(op as never))),
  rule(AddN, ({ graph }, inputs) => inputs.reduce((sum, input) => graph.binary('add', sum, input))),
  rule(Scale, ({ shapes }, [x], { attrs: { factor } }) => shapes.scale(x!, factor)),
  rule(Sub, ({ graph }, [a, b]) => graph.binary('sub', a!, b!)),
  rule(Mul, ({ graph }, [a, b]) => graph.binary('mul', a!, b!)),
  rule(AddBias, ({ graph, shapes }, [x, bias]) => graph.binary('add', x!, shapes.sized(bias!, x!.sizes))),
  rule(ScaleColumns, ({ graph, shapes }, [x, factors]) => graph.binary('mul', x!, shapes.sized(factors!, x!.sizes))),
  rule(ScaleRows, ({ graph, shapes }, [factors, x]) =>
    graph.binary('mul', shapes.sized(factors!, new Array(x!.sizes.length).fill(1)), x!),
  ),
  rule(ClipByValue, ({ graph, shapes }, [x], { attrs: { low, high } }) =>
    graph.binary('maximum', graph.binary('minimum', x!, shapes.number(high)), shapes.number(low)),
  ),
];
