/** @file Cases of the optimizers of dense variables (src/optim). */
import { Adamom, applyDense, type DenseOptimizer, Rmsprop } from '../../../src/optim/dense-optimizers.js';
import { inverseRoot, precondition } from '../../../src/optim/shampoo.js';
import { symmetricEigen } from '../../../src/optim/symmetric-eigen.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { KernelHarness } from '../../kernels/harness.js';
import { type Fields, fieldsOf, type ParityCase, type ParityHandlers } from '../case.js';

const h = await KernelHarness.create(1 << 20);

/** One step of a scalar; the result has the slots by their names. */
function stepOnce(optimizer: DenseOptimizer, given: Fields): Record<string, number> {
  const scalar = (value: number) => new Tensor('float32', [], Float32Array.of(value));
  const variable = scalar(given.var as number);
  const slots = optimizer.slotNames.map(() => scalar(0));
  const memory = { kernels: h.wasm, memory: h.memory, arena: h.arena };
  applyDense(optimizer, { variable, gradient: scalar(given.grad as number), slots }, memory);
  const values = optimizer.slotNames.map((name, i) => [name, slots[i]!.data[0]!] as const);
  return { var: variable.data[0]!, ...Object.fromEntries(values) };
}

function adamom({ input }: ParityCase) {
  const given = fieldsOf(
    input,
    ['var', 'grad'],
    ['learning_rate', 'weight_decay', 'ada_decay', 'mom_decay', 'epsilon'],
  );
  const [learningRate, weightDecay, adaDecay] = numbers(given, ['learning_rate', 'weight_decay', 'ada_decay']);
  const [momDecay, epsilon] = numbers(given, ['mom_decay', 'epsilon']);
  return stepOnce(Adamom(definite({ learningRate, weightDecay, adaDecay, momDecay, epsilon })), given);
}

function rmsprop({ input }: ParityCase) {
  const options = ['learning_rate', 'weight_decay', 'beta1', 'beta2', 'epsilon'];
  const given = fieldsOf(input, ['var', 'grad'], [...options, 'use_v2']);
  const [learningRate, weightDecay, beta1, beta2, epsilon] = numbers(given, options);
  const useV2 = given.use_v2 === true;
  return stepOnce(Rmsprop({ ...definite({ learningRate, weightDecay, beta1, beta2, epsilon }), useV2 }), given);
}

const numbers = (given: Fields, names: readonly string[]) => names.map((name) => given[name] as number | undefined);

/** Without the keys that are undefined. */
function definite<T extends Record<string, number | undefined>>(options: T): { [K in keyof T]?: number } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: number;
  };
}

function shampoo({ input }: ParityCase) {
  const optional = ['matrix_diagonal', 'p', 'head', 'tail', 'damping', 'grad', 'axis0_operator', 'axis1_operator'];
  const given = fieldsOf(input, [], optional);
  if (given.matrix_diagonal !== undefined) {
    const diagonal = given.matrix_diagonal as number[];
    const k = diagonal.length;
    const matrix = Array.from({ length: k * k }, (_, i) => (i % (k + 1) === 0 ? diagonal[i / (k + 1)]! : 0));
    const [p, head, tail, damping] = [given.p, given.head, given.tail, given.damping] as [
      number,
      number,
      number,
      number,
    ];
    const root = inverseRoot(matrix, k, p, head, tail, damping);
    const operator = diagonal.map((_, i) => {
      const unit = new Float64Array(k);
      unit[i] = 1;
      return precondition(unit, root)[i]!;
    });
    return {
      selected_eigenvalues_minus_offset: root.values,
      offset: root.offset,
      effective_operator_diagonal: operator,
    };
  }
  let tensor: ArrayLike<number> = (given.grad as number[][]).flat();
  for (const operator of [given.axis0_operator, given.axis1_operator] as number[][][]) {
    const size = operator.length;
    const { values, vectors } = symmetricEigen(operator.flat(), size);
    const root = {
      size,
      rank: size,
      vectors: Float32Array.from(vectors),
      values: Float32Array.from(values),
      offset: 0,
    };
    tensor = precondition(tensor, root);
  }
  const width = (given.grad as number[][])[0]!.length;
  const rows = (given.grad as number[][]).map((_, i) => Array.from(tensor).slice(i * width, (i + 1) * width));
  return { preconditioned: rows };
}

export const handlers: ParityHandlers = {
  'dense.adamom': (parity) => h.scope(() => adamom(parity)),
  'dense.rmsprop': (parity) => h.scope(() => rmsprop(parity)),
  'dense.shampoo': shampoo,
};
