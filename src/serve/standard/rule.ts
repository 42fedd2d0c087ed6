/** @file How ops are written for other systems: a rule for each type. */
import type { Op } from '../../graph/graph.js';
import type { Shapes, StandardGraph, Value } from './standard-graph.js';

export interface RuleContext {
  readonly graph: StandardGraph;
  readonly shapes: Shapes;
  /** ML_EXPORT for what the op asks that other systems have no words for. */
  refuse(reason: string): never;
}

/** The values of the outputs of an op, given those of its inputs. */
export type Rule<A = unknown> = (context: RuleContext, inputs: readonly Value[], op: Op<A>) => Value | readonly Value[];

/** A rule of an op definition, by its type. */
export function rule<A>(
  def: { readonly type: string; infer(inputs: never, attrs: A): unknown },
  write: Rule<A>,
): readonly [string, Rule] {
  return [def.type, write as Rule];
}

/** Sizes after the batch of an op's output. */
export const sizesOf = (op: Op, index = 0): number[] => {
  const { shape } = op.outputs[index]!.spec;
  return (shape[0] === 'batch' ? shape.slice(1) : shape) as number[];
};
