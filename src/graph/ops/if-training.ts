/**
 * @file A value that is one thing while a program trains and another while it evaluates: batch norm is made of it.
 *
 * A program that updates something trains; one that does not evaluates or predicts. So one graph serves both, and of the
 * two values only the one that is used is computed.
 */
import { misfit, type OpDef, sameShape, type Tensor } from '../graph.js';
import { asPartial } from './batch-sum.js';
import { floats } from './checks.js';
import { constant } from './state.js';

/** What ops that know training from evaluation take. */
export interface TrainingOption {
  /** Fixed to always (true) or never (false). Default: in programs that update something, and in no other. */
  readonly training?: boolean;
}

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
  const zeros = constant(x.graph, new Float32Array(x.columns), x.spec.shape as readonly number[], 'zeros');
  return x.spec.partial ? asPartial(zeros) : zeros;
}

/**
 * `yes` in programs that update something, `no` in others. Both have one shape and are shared by all examples.
 *
 * ```ts
 * const mean = ifTraining(batchSum(reduceMean(x, { axis: 'batch' })), movingMean);
 * ```
 */
export function ifTraining(yes: Tensor, no: Tensor, options: TrainingOption = {}, name = 'if_training'): Tensor {
  if (options.training !== undefined) return options.training ? yes : no;
  return yes.graph.add(IfTraining, [yes, no], null, name).output;
}
