/** @file The op behind elementwise functions of one operand, and how a function of it is made. */
import type { UNARY_KIND } from '../../memory/kinds.js';
import { misfit, type OpDef, type Tensor } from '../graph.js';
import { batchSum } from './batch-sum.js';
import { floats } from './checks.js';
import { nameOf, type OpOptions } from './options.js';

export type UnaryKind = keyof typeof UNARY_KIND;
/** What goes back to x, given what came for y = f(x). */
type Gradient = (grad: Tensor, x: Tensor, y: Tensor) => Tensor | undefined;

/** Kinds that every system has a word for; exports spell the others out. */
const COMMON_KINDS = ['abs', 'sqrt', 'exp', 'log', 'sign'] as const satisfies readonly UnaryKind[];
export type CommonKind = (typeof COMMON_KINDS)[number];

/** What other systems have words for. `T` is a value of theirs. */
export interface CommonWords<T> {
  number(value: number): T;
  unary(kind: CommonKind, x: T): T;
  binary(kind: 'add' | 'sub' | 'mul' | 'div', a: T, b: T): T;
}
/** A function in such words. */
type Spelling = <T>(words: CommonWords<T>, x: T) => T;

const gradients = new Map<UnaryKind, Gradient>();
const spellings = new Map<UnaryKind, Spelling>();

export const Unary: OpDef<{ readonly kind: UnaryKind }> = {
  type: 'Unary',
  infer: ([x], { kind }) => {
    if (floats(kind, x!).spec.partial) throw misfit(kind, `${x!.name} must be completed with batchSum`);
    return [x!.spec];
  },
  gradient: (op, [grad]) => [grad && gradients.get(op.attrs.kind)!(grad, op.inputs[0]!, op.output)],
};

/**
 * The function of a kind, with its gradient, and for exports how it is spelled where it is no common kind. Ops of it
 * are named after it: `log` makes `Log`.
 */
export function unaryOp(
  kind: UnaryKind,
  gradient: Gradient,
  spelling?: Spelling,
): (x: Tensor, options?: OpOptions) => Tensor {
  gradients.set(kind, gradient);
  if (spelling !== undefined) spellings.set(kind, spelling);
  const usual = kind.charAt(0).toUpperCase() + kind.slice(1);
  return (x, options = {}) => x.graph.add(Unary, [batchSum(x)], { kind }, nameOf(kind, options, usual)).output;
}

/** f(x) in the words of another system, or nothing where it has none. */
export function inCommonWords<T>(kind: UnaryKind, words: CommonWords<T>, x: T): T | undefined {
  const common = COMMON_KINDS.find((known) => known === kind);
  return common === undefined ? spellings.get(kind)?.(words, x) : words.unary(common, x);
}
