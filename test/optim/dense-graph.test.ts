import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { addBias } from '../../src/graph/ops/layers.js';
import { reduceMean, rowDot, scale } from '../../src/graph/ops/math.js';
import { globalStep, group, increment, placeholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { Adamom, applyDense, type DenseOptimizer, Rmsprop } from '../../src/optim/dense-optimizers.js';
import { PolynomialDecay } from '../../src/sparse/learning-rate.js';
import { Tensor as Value } from '../../src/tensor/tensor.js';
import { KernelHarness } from '../kernels/harness.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

const WIDTH = 37;
const h = await KernelHarness.create(1 << 20);
const learningRate = new PolynomialDecay({ initialLearningRate: 0, decaySteps: 4, endLearningRate: 0.5 });
const OPTIMIZERS: readonly DenseOptimizer[] = [
  Adamom({ learningRate: 0.1, weightDecay: 0.01, name: 'A' }),
  Rmsprop({ learningRate, useV2: true }),
  Rmsprop({ learningRate, updateSlots: false }),
];

const feed = (step: number) => ({
  x: Float32Array.from({ length: WIDTH * 4 }, (_, i) => Math.fround(Math.sin(i * 1.7 + step))),
});

/** loss = mean of x · bias, so the gradient of the bias is the mean of x. */
function linear(optimizer: DenseOptimizer) {
  const graph = new Graph();
  const x = placeholder(graph, 'x', WIDTH);
  const bias = variable(graph, 'bias', [WIDTH], () => new Float32Array(WIDTH).fill(0.5));
  const [gradient] = gradients([reduceMean(rowDot(x, addBias(scale(x, 0), bias)))], [bias]) as [Tensor];
  const step = increment(globalStep(graph));
  return { graph, gradient, train: group(graph, [step, ...applyGradients([[gradient, bias]], optimizer)]) as Op };
}

for (const [i, optimizer] of OPTIMIZERS.entries()) {
  t.test(`${optimizer.name} ${i} in a graph steps as it does by itself`, async (t) => {
    for (const backend of BACKENDS) {
      const { graph, gradient, train } = linear(optimizer);
      await withSession(graph, { backend, threads: 2, deterministic: true }, async (session) => {
        const zeros = () => new Value('float32', [WIDTH], new Float32Array(WIDTH));
        const target = new Value('float32', [WIDTH], new Float32Array(WIDTH).fill(0.5));
        const slots = optimizer.slotNames.map(zeros);
        const memory = { kernels: h.wasm, memory: h.memory, arena: h.arena };
        for (let step = 0; step < 4; step++) {
          const [sum] = await session.run([gradient, train], feed(step));
          const value = new Value('float32', [WIDTH], sum as Float32Array);
          applyDense(optimizer, { variable: target, gradient: value, slots, globalStep: step }, memory);
        }
        t.same([...session.readVariable('bias')], [...target.data], backend);
        for (const [index, name] of optimizer.slotNames.entries()) {
          t.same([...session.readVariable(`bias/${optimizer.name}/${name}`)], [...slots[index]!.data], name);
        }
      });
    }
  });
}
