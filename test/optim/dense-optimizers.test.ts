import fc from 'fast-check';
import t from 'tap';
import type { Views } from '../../src/memory/views.js';
import {
  Adamom,
  applyDense,
  applyDenseLegacy,
  createDenseSlots,
  Rmsprop,
  scalarOf,
} from '../../src/optim/dense-optimizers.js';
import { axisStatistic, inverseRoot, precondition, Shampoo } from '../../src/optim/shampoo.js';
import { symmetricEigen } from '../../src/optim/symmetric-eigen.js';
import * as reference from '../../src/runtime/reference/optim/dense.js';
import type { OptimKernels } from '../../src/runtime/wasm/optim.js';
import { PolynomialDecay } from '../../src/sparse/learning-rate.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { randomFloats, stream } from '../kernels/both.js';
import { KernelHarness } from '../kernels/harness.js';
import { runPair } from '../kernels/pair.js';

type Names = 'applyAdamomF32' | 'applyDenseRmspropF32';
type Twins = { readonly [K in Names]: (m: Views, ...args: Parameters<OptimKernels[K]>) => void };
const twins: Twins = reference;
const h = await KernelHarness.create(16 << 20);
const memory = { kernels: h.wasm, memory: h.memory, arena: h.arena };
const vector = (...values: number[]) => new Tensor('float32', [values.length], Float32Array.from(values));

t.test('adamom and rmsprop equal their references bit for bit', async () => {
  const inputs = fc.record({
    n: fc.integer({ min: 0, max: 67 }),
    skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 5, maxLength: 5 }),
    flags: fc.integer({ min: 0, max: 3 }),
    seed: fc.integer(),
  });
  fc.assert(
    fc.property(inputs, ({ n, skews, flags, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const begin = h.arena.mark();
        const put = (i: number, positive = false) =>
          h.putF32(positive ? randomFloats(next, n).map(Math.abs) : randomFloats(next, n), skews[i]);
        const [w, m, v, c, g] = [put(0), put(1), put(2, true), put(3, true), put(4)];
        const rates = [0.1, 0.9, 0.99, 1e-3, 0.01];
        const adamom = [w, m, v, c, g, n, ...rates, flags & 1, flags >> 1];
        runPair(h, begin, h.wasm.applyAdamomF32, twins.applyAdamomF32, adamom);
        const rmsprop = [w, m, v, g, n, ...rates, flags & 1];
        runPair(h, begin, h.wasm.applyDenseRmspropF32, twins.applyDenseRmspropF32, rmsprop);
      }),
    ),
    { numRuns: 80 },
  );
});

t.test('a step follows the schedule and leaves the gradient alone', async (t) => {
  const [variable, gradient] = [vector(1, 2), vector(1, 1)];
  const learningRate = new PolynomialDecay({ initialLearningRate: 0, decaySteps: 10, endLearningRate: 1 });
  const optimizer = Rmsprop({ learningRate, epsilon: 0, beta2: 0 });
  const slots = createDenseSlots(optimizer, variable, 'w');
  t.same([...slots.keys()], ['w/Rmsprop/m', 'w/Rmsprop/v']);
  applyDense(optimizer, { variable, gradient, slots: [...slots.values()], globalStep: 5 }, memory);
  t.same([...variable.data], [0.5, 1.5]);
  t.same([...gradient.data], [1, 1]);
});

t.test('without slot updates adamom moves by its old slots and rmsprop stays', async (t) => {
  const slots = [vector(1), vector(4), vector(1)];
  const variable = vector(1);
  const gradient = vector(7);
  applyDense(Adamom({ learningRate: 1, epsilon: 0, updateSlots: false }), { variable, gradient, slots }, memory);
  t.same([variable.data[0], slots[0]!.data[0]], [0.5, 1]);
  applyDense(Rmsprop({ learningRate: 1, updateSlots: false }), { variable, gradient, slots }, memory);
  t.equal(variable.data[0], 0.5);
  applyDense(
    Adamom({ learningRate: 1, epsilon: 1, updateSlots: false, useV2: true }),
    { variable, gradient, slots },
    memory,
  );
  t.equal(variable.data[0], Math.fround(0.5 - Math.fround(1 / 3)));
});

t.test('shapes and scalars are checked in the words of upstream', async (t) => {
  const slots = [vector(0), vector(0)];
  t.throws(() => applyDense(Rmsprop(), { variable: vector(1), gradient: vector(1, 2), slots }, memory), {
    message: 'var and grad do not have the same shape[1] [2]',
  });
  t.throws(() => scalarOf('lr', vector(1)), { message: 'lr is not a scalar: [1]' });
  t.equal(scalarOf('lr', new Tensor('float32', [], Float32Array.of(2))), 2);
  t.throws(applyDenseLegacy, { code: 'ML_DENSE_LEGACY' });
  t.throws(() => new Shampoo().stepSparse(), { code: 'ML_DENSE_SPARSE' });
});

t.test('eigenvectors turn a symmetric matrix into its eigenvalues', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.integer(), (k, seed) => {
      const next = stream(seed);
      const half = Array.from({ length: k * k }, () => next() - 0.5);
      const a = half.map((x, i) => x + half[(i % k) * k + Math.floor(i / k)]!);
      const { values, vectors } = symmetricEigen(a, k);
      for (let column = 0; column < k; column++) {
        for (let row = 0; row < k; row++) {
          let sum = 0;
          for (let i = 0; i < k; i++) sum += a[row * k + i]! * vectors[i * k + column]!;
          if (Math.abs(sum - values[column]! * vectors[row * k + column]!) > 1e-10) return false;
        }
        if (column > 0 && values[column]! < values[column - 1]!) return false;
      }
      return true;
    }),
    { numRuns: 50 },
  );
  t.pass();
});

t.test('the inverse root of a full spectrum is one', async (t) => {
  const root = inverseRoot([5, 3, 3, 5], 2, 2, 100, 100, 1e-6);
  const identity = [1, 0, 0, 1];
  const first = precondition(identity, root);
  const twice = precondition(first, root);
  // (S^(-1/2))^2 S = I; the operator is symmetric, so the rotation of axes does not show.
  const product = [5 * twice[0]! + 3 * twice[2]!, 3 * twice[0]! + 5 * twice[2]!];
  t.ok(Math.abs(product[0]! - 1) < 1e-5 && Math.abs(product[1]!) < 1e-5, 'it is', { product });
});

t.test('statistics contract all axes but one', async (t) => {
  const gradient = [1, 2, 3, 4, 5, 6];
  t.same([...axisStatistic(gradient, [2, 3], 0)], [14, 32, 32, 77]);
  t.same([...axisStatistic(gradient, [2, 3], 1)], [17, 22, 27, 22, 29, 36, 27, 36, 45]);
  t.same([...axisStatistic([2, 3], [2], 0)], [4, 6, 6, 9]);
});

t.test('shampoo steps as adagrad with momentum first, and as a preconditioned step once it is warm', async (t) => {
  const plain = new Shampoo({ learningRate: 1, beta1: 0, warmup: 1000 });
  const variable = Float32Array.of(1, 1);
  plain.step(variable, Float32Array.of(2, -2), plain.createSlots([2]), 0);
  t.same([...variable], [0, 2]);
  const warm = new Shampoo({ learningRate: 1, beta1: 0, warmup: 1, tau1: 1, tau2: 1 });
  const slots = warm.createSlots([2, 2]);
  const weights = new Float32Array(4);
  const gradient = Float32Array.of(2, 0, 0, 1);
  for (const step of [1, 2]) warm.step(weights, gradient, slots, step);
  // S = diag(8, 2) on both axes: the step has the direction of (2 / sqrt 8, 1 / sqrt 2), both alike.
  const moved = [weights[0]! + 1, weights[3]! + 1];
  t.ok(Math.abs(moved[0]! - moved[1]!) < 1e-5, 'both axes are scaled alike', { moved });
  t.ok(Math.abs(slots.axes[0]!.root.values[0]! - 2 ** -0.25) < 1e-5);
});
