/** @file Cases of the optimizers of dense variables (src/optim). */

import { AdamomOptimizer, RmspropOptimizer } from '../../../src/compat/optimizers.js';
import { gradients } from '../../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../../src/graph/graph.js';
import { scale } from '../../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../../src/graph/ops/reductions.js';
import { addBias, rowDot } from '../../../src/graph/ops/rows.js';
import { placeholder, variable } from '../../../src/graph/ops/state.js';
import { inverseRootScratch } from '../../../src/memory/dense-layout.js';
import type { Optimizer } from '../../../src/optim/optimizer.js';
import { KernelHarness } from '../../kernels/harness.js';
import { withSession } from '../../runtime/with-session.js';
import { type Fields, fieldsOf, listOf, type ParityCase, type ParityHandlers } from '../case.js';
import { Series } from '../derived.js';
import { stepsOf } from '../steps.js';

const STEPS = ['steps', 'grad', 'grads'];
const h = await KernelHarness.create(1 << 20);

/** Steps of a variable [1] whose gradients are fed; the result has the slots by their names, after each step. */
function runSteps(optimizer: Optimizer, given: Fields): Promise<Record<string, Series>> {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x' });
  const target = variable(graph, {
    name: 'var',
    shape: [1],
    initial: () => Float32Array.of(listOf<number>(given.var)[0]!),
  });
  const loss = reduceMean(rowDot(x, addBias(scale(x, 0), target)));
  const [gradient] = gradients([loss], [target]) as [Tensor];
  const train = optimizer.applyGradients([[gradient, target]]);
  return withSession(graph, {}, async (session) => {
    const each = new Map(session.variableNames.map((name) => [name, [] as unknown[]]));
    for (const { grad } of stepsOf(given, 1)) {
      await session.run([train], { x: Float32Array.from(grad) });
      for (const [name, values] of each) values.push(session.readVariable(name)[0]);
    }
    return Object.fromEntries([...each].map(([name, values]) => [name.replace(/^.*\//, ''), new Series(values)]));
  });
}

function adamom({ input }: ParityCase) {
  const given = fieldsOf(
    input,
    ['var'],
    ['learning_rate', 'weight_decay', 'ada_decay', 'mom_decay', 'epsilon', ...STEPS],
  );
  const [learningRate, weightDecay, adaDecay] = numbers(given, ['learning_rate', 'weight_decay', 'ada_decay']);
  const [momDecay, epsilon] = numbers(given, ['mom_decay', 'epsilon']);
  return runSteps(new AdamomOptimizer(definite({ learningRate, weightDecay, adaDecay, momDecay, epsilon })), given);
}

function rmsprop({ input }: ParityCase) {
  const options = ['learning_rate', 'weight_decay', 'beta1', 'beta2', 'epsilon'];
  const given = fieldsOf(input, ['var'], [...options, 'use_v2', ...STEPS]);
  const [learningRate, weightDecay, beta1, beta2, epsilon] = numbers(given, options);
  const useV2 = given.use_v2 === true;
  return runSteps(
    new RmspropOptimizer({ ...definite({ learningRate, weightDecay, beta1, beta2, epsilon }), useV2 }),
    given,
  );
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
  return given.matrix_diagonal === undefined ? rotated(given) : inverseRoot(given);
}

interface Root {
  readonly pvec: number;
  readonly pval: number;
  readonly o: number;
  readonly kept: number;
}

/** The kernel's inverse root of a matrix, in memory. */
function rootOf(matrix: readonly number[], k: number, [p, head, tail, damping]: readonly number[]): Root {
  const kept = Math.min(k, head! + tail!);
  const [pvec, pval, o] = [h.alloc(k * kept * 4), h.alloc(kept * 4), h.alloc(4)];
  const scratch = h.alloc(inverseRootScratch(k) * 8);
  h.wasm.inverseRootF32(h.putF32(matrix), k, p!, head!, tail!, damping!, pvec, pval, o, scratch);
  return { pvec, pval, o, kept };
}

/** The kernel's operator on axis 0 of `tensor`, with that axis moved last. */
function precondition(tensor: readonly number[], k: number, { pvec, pval, o, kept }: Root): number[] {
  const rest = tensor.length / k;
  const [out, projected] = [h.alloc(tensor.length * 4), h.alloc(rest * kept * 4)];
  const scratch = h.alloc(h.wasm.gemmScratchBytes(rest, Math.max(k, kept), Math.max(k, kept)));
  h.wasm.preconditionF32(h.putF32(tensor), k, rest, pvec, kept, pval, o, out, projected, scratch);
  return [...h.f32(out, tensor.length)];
}

const diagonalOf = (values: readonly number[]) =>
  values.flatMap((value, i) => values.map((_, j) => (i === j ? value : 0)));

function inverseRoot(given: Fields) {
  const diagonal = given.matrix_diagonal as number[];
  const k = diagonal.length;
  const options = [given.p, given.head, given.tail, given.damping] as number[];
  const root = rootOf(diagonalOf(diagonal), k, options);
  const unit = (i: number) => diagonal.map((_, j) => (i === j ? 1 : 0));
  return {
    selected_eigenvalues_minus_offset: h.f32(root.pval, root.kept),
    offset: h.f32(root.o, 1)[0],
    effective_operator_diagonal: diagonal.map((_, i) => precondition(unit(i), k, root)[i]),
  };
}

/**
 * An operator is the inverse square root of its inverse square: eigenvectors are the operator's, roots its eigenvalues.
 */
function rotated(given: Fields) {
  const grad = given.grad as number[][];
  let tensor = grad.flat();
  for (const operator of [given.axis0_operator, given.axis1_operator] as number[][][]) {
    const size = operator.length;
    tensor = precondition(tensor, size, rootOf(inverseSquare(operator), size, [2, size, 1, 1e-9]));
  }
  const width = grad[0]!.length;
  return { preconditioned: grad.map((_, i) => tensor.slice(i * width, (i + 1) * width)) };
}

/** By elimination with a unit matrix beside, then squared. */
function inverseSquare(matrix: readonly (readonly number[])[]): number[] {
  const size = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...matrix.map((_, j) => (i === j ? 1 : 0))]);
  rows.forEach((pivot, i) => {
    const head = pivot[i]!;
    for (let c = 0; c < 2 * size; c++) pivot[c] = pivot[c]! / head;
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = row[i]!;
      for (let c = 0; c < 2 * size; c++) row[c] = row[c]! - factor * pivot[c]!;
    }
  });
  const inverse = rows.map((row) => row.slice(size));
  return inverse.flatMap((row) => inverse[0]!.map((_, j) => row.reduce((sum, x, i) => sum + x * inverse[i]![j]!, 0)));
}

export const handlers: ParityHandlers = {
  'dense.adamom': adamom,
  'dense.rmsprop': rmsprop,
  'dense.shampoo': (parity) => h.scope(() => shampoo(parity)),
};
