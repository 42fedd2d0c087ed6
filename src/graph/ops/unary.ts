/** @file Elementwise ops of one operand: functions, negation, the end of gradients, whole numbers as floats. */

import type { UNARY_KIND } from '../../memory/kinds.js';
import { misfit, type OpDef, type Tensor, type TensorSpec } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { floats } from './checks.js';
import { binary, scale } from './elementwise.js';
import { nameOf, type OpOptions } from './options.js';

export type UnaryKind = keyof typeof UNARY_KIND;

export const Unary: OpDef<{ readonly kind: UnaryKind }> = {
  type: 'Unary',
  infer: ([x], { kind }) => {
    if (floats(kind, x!).spec.partial) throw misfit(kind, `${x!.name} must be completed with batchSum`);
    return [x!.spec];
  },
  gradient: (op, [grad]) => [grad && unaryGradient(op.attrs.kind, grad, op.inputs[0]!, op.output)],
};

function unaryGradient(kind: UnaryKind, grad: Tensor, x: Tensor, y: Tensor): Tensor | undefined {
  switch (kind) {
    case 'abs':
      return binary('mul', grad, unary('sign', x));
    case 'sqrt':
      return scale(binary('div', grad, y), 0.5);
    case 'exp':
      return binary('mul', grad, y);
    case 'log':
      return binary('div', grad, x);
    case 'sign':
      return undefined;
    default:
      return kind satisfies never;
  }
}

function unary(kind: UnaryKind, x: Tensor, name: string = kind): Tensor {
  return x.graph.add(Unary, [batchSum(x)], { kind }, name).output;
}

/** |x|. */
export const abs = (x: Tensor, options: OpOptions = {}): Tensor => unary('abs', x, nameOf('abs', options, 'Abs'));
/** The square root of each element. */
export const sqrt = (x: Tensor, options: OpOptions = {}): Tensor => unary('sqrt', x, nameOf('sqrt', options, 'Sqrt'));
/** e to the power of each element. */
export const exp = (x: Tensor, options: OpOptions = {}): Tensor => unary('exp', x, nameOf('exp', options, 'Exp'));
/** The natural logarithm of each element. */
export const log = (x: Tensor, options: OpOptions = {}): Tensor => unary('log', x, nameOf('log', options, 'Log'));
/** 1, 0 or -1. */
export const sign = (x: Tensor, options: OpOptions = {}): Tensor => unary('sign', x, nameOf('sign', options, 'Sign'));
/** -x. */
export const neg = (x: Tensor, options: OpOptions = {}): Tensor =>
  scale(x, -1, { name: nameOf('neg', options, 'Neg') });
/** x * x. */
export const square = (x: Tensor, options: OpOptions = {}): Tensor =>
  binary('mul', x, x, nameOf('square', options, 'Square'));

export const StopGradient: OpDef<null> = {
  type: 'StopGradient',
  infer: ([x]) => [x!.spec],
  gradient: () => [undefined],
};

/** `x`, which counts as a constant when gradients are taken. */
export function stopGradient(x: Tensor, options: OpOptions = {}): Tensor {
  return x.graph.add(StopGradient, [x], null, nameOf('stopGradient', options)).output;
}

export const Cast: OpDef<null> = {
  type: 'Cast',
  infer: ([x]) => {
    const { dtype, shape, ragged } = x!.spec;
    if (dtype !== 'int64') throw misfit('Cast', `${x!.name} holds ${dtype}`);
    if (ragged) throw misfit('Cast', `${x!.name} is ragged: only a lookup takes it`);
    return [{ dtype: 'float32', shape } satisfies TensorSpec];
  },
  gradient: () => [undefined],
};

/**
 * `x` as float32: int64 is rounded to the nearest float, floats stay as they are. Passes no gradient on to whole numbers.
 *
 * ```ts
 * const warm = minimum(div(cast(globalStep(graph), 'float32'), 1000), 1);
 * ```
 */
export function cast(x: Tensor, dtype: 'float32', options: OpOptions = {}): Tensor {
  const name = nameOf('cast', options);
  if (dtype !== 'float32') throw misfit(name ?? 'Cast', `a graph computes with float32, not with ${String(dtype)}`);
  return x.spec.dtype === 'float32' ? x : x.graph.add(Cast, [x], null, name).output;
}
