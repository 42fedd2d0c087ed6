/**
 * @file What is known of the lowering of each type of op before it runs: where in a step its code may be, and what it
 * can do with its inputs and output.
 */
import { misfit, type Op, type OpDef, type Tensor } from '../../graph/graph.js';
import type { ColumnsAttrs } from '../../graph/ops/columns.js';

/**
 * Where the code of an op runs. A step is a list of stages with a barrier between any two: in a slice stage every
 * thread runs the code of its slices, in a thread stage every thread runs its code once.
 */
export type Phase =
  /** Emits nothing: names, views and groups. */
  | { readonly runs: 'nothing' }
  /** Slice code. `crosses`: it reads what other slices made, so a barrier comes before it. */
  | { readonly runs: 'slices'; readonly crosses?: boolean }
  /**
   * Thread code. `reads: 'range'`: of inputs shaped like the first one it reads no more than `threadRange` of this
   * thread, `'ranges'`: of all inputs.
   * `gives: 'range'`: it writes that range of its output; `'copy'`: every thread writes an output of its own. Without
   * these a barrier stands between it and other thread code.
   */
  | { readonly runs: 'threads'; readonly reads?: 'range' | 'ranges'; readonly gives?: 'range' | 'copy' }
  /**
   * Thread code that changes what outlives the step. It runs after all that was not asked to run after it.
   * `slicesFirst`: it emits slice code too, which comes before.
   */
  | { readonly runs: 'update'; readonly reads?: 'range'; readonly slicesFirst?: boolean };

export interface LoweringTraits<A> {
  /** It can add to its output. */
  readonly accumulates?: boolean | ((op: Op<A>) => boolean);
  /** Its output may be columns of a wider matrix. */
  readonly strided?: boolean;
  /** It writes each of `parts`, the Columns ops that alone use its output, and not the output as a whole. */
  readonly spreads?: (op: Op<A>, parts: readonly Op<ColumnsAttrs>[]) => boolean;
  /** It takes the parts of an assembled input one by one, so that nobody puts them together. */
  readonly takesParts?: (op: Op<A>, input: number) => boolean;
  /**
   * Of this input it uses no more than sums over the rows that are equal in the tensor it names: the gradient of a
   * lookup is added up per id.
   */
  readonly addsUp?: (op: Op<A>, input: number) => Tensor;
  /** It reads rows of tables, which gradients that wait are still to step. */
  readonly readsRows?: boolean;
  /** It takes gradients out of the step: a step that is cut leaves it to a part of its own. */
  readonly isPushed?: boolean;
  /** It changes what the model has learnt: variables by an optimizer, rows of tables. Only programs that train may. */
  readonly learns?: boolean;
  /** Default: slice code. */
  readonly phase?: Phase | ((op: Op<A>) => Phase);
}

const known = new Map<OpDef<unknown>, LoweringTraits<unknown>>();

export function setTraits<A>(def: OpDef<A>, traits: LoweringTraits<A>): void {
  known.set(def as OpDef<unknown>, traits as LoweringTraits<unknown>);
}

export function traitsOf(op: Op): LoweringTraits<unknown> {
  const traits = known.get(op.def);
  if (traits === undefined) throw misfit(op, `the runtime cannot run ops of type ${op.type}`);
  return traits;
}

export function accumulates(op: Op): boolean {
  const { accumulates: adds = false } = traitsOf(op);
  return typeof adds === 'boolean' ? adds : adds(op);
}

export function isStrided(op: Op): boolean {
  return accumulates(op) || (traitsOf(op).strided ?? false);
}

/** Whether a program of these ops updates something: without a mode of its graph and of the run, it then trains. */
export function updates(ops: readonly Op[]): boolean {
  return ops.some((op) => phaseOf(op).runs === 'update');
}

export function phaseOf(op: Op): Phase {
  const { phase = { runs: 'slices' } } = traitsOf(op);
  return typeof phase === 'function' ? phase(op) : phase;
}
