/** @file The op behind elementwise functions of one operand, and how a function of it is made. */
import type { UNARY_KIND } from '../../memory/kinds.js';
import { misfit, type OpDef, type Tensor } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { floats } from './checks.js';
import { nameOf, type OpOptions } from './options.js';

export type UnaryKind = keyof typeof UNARY_KIND;
/** What goes back to x, given what came for y = f(x). */
type Gradient = (grad: Tensor, x: Tensor, y: Tensor) => Tensor | undefined;

const gradients = new Map<UnaryKind, Gradient>();

export const Unary: OpDef<{ readonly kind: UnaryKind }> = {
  type: 'Unary',
  infer: ([x], { kind }) => {
    if (floats(kind, x!).spec.partial) throw misfit(kind, `${x!.name} must be completed with batchSum`);
    return [x!.spec];
  },
  gradient: (op, [grad]) => [grad && gradients.get(op.attrs.kind)!(grad, op.inputs[0]!, op.output)],
};

/** The function of a kind, with its gradient. Ops of it are named after it: `log` makes `Log`. */
export function unaryOp(kind: UnaryKind, gradient: Gradient): (x: Tensor, options?: OpOptions) => Tensor {
  gradients.set(kind, gradient);
  const usual = kind.charAt(0).toUpperCase() + kind.slice(1);
  return (x, options = {}) => x.graph.add(Unary, [batchSum(x)], { kind }, nameOf(kind, options, usual)).output;
}
