import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { relu } from '../../src/graph/ops/activations.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias } from '../../src/graph/ops/rows.js';
import { globalStep, group, increment, placeholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { stream } from '../kernels/both.js';
import { withSession } from '../runtime/with-session.js';
import { trainFfm } from '../train/ffm-run.js';
import { withSimulated } from './simulated.js';

const LOSS_TOLERANCE = 1e-5;
const STEPS = 100;
const CUDA = { backend: 'cuda', cuda: { driver: 'sim' } } as const;
const CPU = { backend: 'wasm', threads: 1, kernels: 'plain' } as const;

const apart = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, index) => Math.abs(value - b[index]!)));

const [FEATURES, HIDDEN, BATCH] = [6, 19, 30];

/** Two dense layers that learn whether the first feature outweighs the second. */
function perceptron() {
  const graph = new Graph();
  const [x, label] = [placeholder(graph, { name: 'x', width: FEATURES }), placeholder(graph, { name: 'label' })];
  const next = stream(1);
  const random = (count: number) => () => Float32Array.from({ length: count }, () => next() - 0.5);
  const parameters = [
    variable(graph, { name: 'w1', shape: [FEATURES, HIDDEN], initial: random(FEATURES * HIDDEN) }),
    variable(graph, { name: 'b1', shape: [HIDDEN], initial: random(HIDDEN) }),
    variable(graph, { name: 'w2', shape: [HIDDEN, 1], initial: random(HIDDEN) }),
    variable(graph, { name: 'b2', shape: [1], initial: random(1) }),
  ] as const;
  const [w1, b1, w2, b2] = parameters;
  const hidden = relu(addBias(matMul(x, w1), b1));
  const logits = addBias(matMul(hidden, w2), b2);
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logits, label));
  const grads = gradients([loss], parameters) as Tensor[];
  const updates = applyGradients(
    grads.map((grad, index) => [grad, parameters[index]!] as const),
    AdagradOptimizer({ learningRate: 0.1, initialAccumulatorValue: 0.1 }),
  );
  const train = group(graph, [increment(globalStep(graph)), ...updates]) as Op;
  return { graph, loss, logits, train };
}

function batch(step: number) {
  const next = stream(step + 100);
  const rows = step === 7 ? 3 : BATCH - (step % 5);
  const x = Float32Array.from({ length: rows * FEATURES }, () => next() * 2 - 1);
  const label = Float32Array.from({ length: rows }, (_, r) => (x[r * FEATURES]! > x[r * FEATURES + 1]! ? 1 : 0));
  return { x, label };
}

async function trained(options: Partial<SessionOptions>) {
  const { graph, loss, logits, train } = perceptron();
  return withSession(graph, { batchSize: BATCH, ...options }, async (session) => {
    const losses: number[] = [];
    for (let step = 0; step < STEPS; step++) losses.push((await session.run([loss, train], batch(step)))[0] as number);
    // Another program over the variables as they are now, and one more after they were written from outside.
    const [scores] = await session.run([logits], batch(0));
    session.writeVariable('b2', Float32Array.of(5));
    const [moved] = await session.run([logits], batch(0));
    const weights = session.readVariable('w1').slice() as Float32Array;
    return { losses, scores: scores as Float32Array, moved: moved as Float32Array, weights, step: session.globalStep };
  });
}

t.test(
  'a small network trains on the GPU as on the CPU',
  withSimulated(async (t) => {
    const [cpu, gpu] = [await trained(CPU), await trained(CUDA)];
    t.ok(apart(gpu.losses, cpu.losses) <= LOSS_TOLERANCE, `losses are ${apart(gpu.losses, cpu.losses)} apart`);
    t.ok(gpu.losses.at(-1)! < gpu.losses[0]!, 'and they fall');
    for (const what of ['scores', 'moved', 'weights'] as const) {
      t.ok(apart(gpu[what], cpu[what]) <= 1e-4, `${what} are ${apart(gpu[what], cpu[what])} apart`);
    }
    t.ok(apart(gpu.moved, gpu.scores) > 1, 'what is written to a variable counts');
    t.equal(gpu.step, STEPS);
  }),
);

t.test(
  'the demo model trains on the GPU as on the CPU, and checkpoints move between them',
  withSimulated(async (t) => {
    const cpu = await trainFfm({ steps: STEPS, session: CPU });
    const gpu = await trainFfm({ steps: STEPS, session: CUDA });
    t.ok(apart(gpu, cpu) <= LOSS_TOLERANCE, `losses are ${apart(gpu, cpu)} apart`);
    for (const [first, then] of [
      [CUDA, CPU],
      [CPU, CUDA],
    ] as const) {
      const modelDir = await mkdtemp(join(tmpdir(), 'cuda-'));
      try {
        const losses = [
          ...(await trainFfm({ steps: 10, session: first, modelDir })),
          ...(await trainFfm({ steps: 10, session: then, modelDir })),
        ];
        t.equal(losses.length, 20);
        t.ok(apart(losses, cpu.slice(0, 20)) <= LOSS_TOLERANCE, `${first.backend}, then ${then.backend}`);
      } finally {
        await rm(modelDir, { recursive: true });
      }
    }
  }),
);
