/**
 * @file What differs between a program that trains and one that does not: a choice of two values, and dropout.
 *
 * Which of the two a program does is its mode: that of the run, else of the graph; in a graph without one, programs
 * that update something train and others do not. Of two values only the one that is used is computed. Which elements a
 * dropout drops is a function of seed, global step, example and column: it does not depend on threads.
 */

import { checkOptions } from '../../base/check-options.js';
import { misfit, type OpDef, sameShape, type Tensor } from '../graph.js';
import { asPartial } from './batch-sum.js';
import { floats, rowsOfFloats } from './checks.js';
import type { OpOptions } from './options.js';
import { constant, globalStep } from './state.js';

/** What ops that know training from evaluation take. */
export interface TrainingOption {
  /** Fixed to always (true) or never (false). Default: in programs that train, and in no other. */
  readonly training?: boolean;
}

export interface IfTrainingOptions extends OpOptions, TrainingOption {}

/** Inputs: the value of programs that train, the value of others. */
export const IfTraining: OpDef<null> = {
  type: 'IfTraining',
  infer: ([yes, no]) => {
    const isPart = [yes!, no!].map(({ spec }) => spec.partial ?? false);
    if (!sameShape(floats('IfTraining', yes!).spec.shape, floats('IfTraining', no!).spec.shape)) {
      throw misfit('IfTraining', `${yes!.name} and ${no!.name} have other shapes`);
    }
    if (yes!.perExample) throw misfit('IfTraining', `${yes!.name} must be a value that all examples share`);
    if (isPart[0] !== isPart[1]) throw misfit('IfTraining', 'of the two values one is a sum over the batch');
    return [yes!.spec];
  },
  gradient: (op, [grad]) => {
    if (grad === undefined) return [];
    const none = zerosLike(grad);
    return [op.graph.add(IfTraining, [grad, none], null).output, op.graph.add(IfTraining, [none, grad], null).output];
  },
};

function zerosLike(x: Tensor): Tensor {
  const zeros = constant(x.graph, new Float32Array(x.columns), {
    shape: x.spec.shape as readonly number[],
    name: 'zeros',
  });
  return x.spec.partial ? asPartial(zeros) : zeros;
}

/**
 * `yes` in programs that train, `no` in others. Both have one shape and are shared by all examples.
 *
 * ```ts
 * const mean = ifTraining(batchSum(reduceMean(x, { axis: 'batch' })), movingMean);
 * ```
 */
export function ifTraining(yes: Tensor, no: Tensor, options: IfTrainingOptions = {}): Tensor {
  const { training, name = 'if_training' } = checkOptions('ifTraining', options, ['training', 'name']);
  if (training !== undefined) return training ? yes : no;
  return yes.graph.add(IfTraining, [yes, no], null, name).output;
}

/** Collection with an entry for each dropout of a graph: their number is the default seed of the next. */
const DROPOUTS = 'dropouts';

export interface DropoutAttrs {
  readonly rate: number;
  readonly seed: number;
  /** Fixed to always or never, or `null`: in programs that train. */
  readonly training: boolean | null;
}

export interface DropoutOptions extends OpOptions, TrainingOption {
  /** The share of elements that become zero, from 0 up to but not including 1. */
  readonly rate: number;
  /** Told apart from other dropouts by this and the seed of the session. Default: by their order. */
  readonly seed?: number;
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
  checkOptions('dropout', options, ['rate', 'seed', 'training', 'name']);
  const seed = options.seed ?? graph.getCollection(DROPOUTS).length;
  const attrs = { rate: options.rate, seed, training: options.training ?? null };
  const out = graph.add(Dropout, [x, globalStep(graph)], attrs, options.name).output;
  graph.addToCollection(DROPOUTS, out);
  return out;
}
