/**
 * @file Dropout: in steps that train, each element is zero with a given probability and the others are scaled up.
 *
 * A program that updates something trains; one that does not, as those of evaluation and prediction, leaves values as they
 * are. Which elements go is a function of seed, global step, example and column: it does not depend on threads.
 */
import { misfit, type OpDef, type Tensor } from '../graph.js';
import { rowsOfFloats } from './checks.js';
import type { TrainingOption } from './if-training.js';
import { globalStep } from './state.js';

/** Collection with an entry for each dropout of a graph: their number is the default seed of the next. */
const DROPOUTS = 'dropouts';

export interface DropoutAttrs {
  readonly rate: number;
  readonly seed: number;
  /** Fixed to always or never, or `null`: in programs that update something. */
  readonly training: boolean | null;
}

export interface DropoutOptions extends TrainingOption {
  /** The share of elements that become zero, from 0 up to but not including 1. */
  readonly rate: number;
  /** Told apart from other dropouts by this and the seed of the session; by their order unless told. */
  readonly seed?: number;
  readonly name?: string;
}

/** Inputs: x and the global step. */
export const Dropout: OpDef<DropoutAttrs> = {
  type: 'Dropout',
  infer: ([x], { rate }) => {
    if (!(rate >= 0 && rate < 1)) throw misfit('Dropout', `rate ${rate} is not from 0 up to 1`);
    return [rowsOfFloats('Dropout', x!).spec];
  },
  gradient: (op, [grad]) => [
    grad && op.graph.add(Dropout, [grad, op.inputs[1]!], op.attrs, `${op.name}_grad`).output,
    undefined,
  ],
};

/**
 * `x` with a share of its elements zero and the others scaled by 1 / (1 - rate), while the model trains.
 *
 * ```ts
 * const hidden = dropout(relu(matMul(x, weights)), { rate: 0.5 });
 * ```
 */
export function dropout(x: Tensor, options: DropoutOptions): Tensor {
  const { graph } = x;
  const seed = options.seed ?? graph.getCollection(DROPOUTS).length;
  const attrs = { rate: options.rate, seed, training: options.training ?? null };
  const out = graph.add(Dropout, [x, globalStep(graph)], attrs, options.name).output;
  graph.addToCollection(DROPOUTS, out);
  return out;
}
