import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import type { Tensor } from '../../src/graph/graph.js';
import { mul, sub } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { reshape } from '../../src/graph/ops/shape.js';
import { group, placeholder } from '../../src/graph/ops/state.js';
import { DenseLayer } from '../../src/layers/dense-layer.js';
import { trainableVariables } from '../../src/layers/layer.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { awayFromZero } from '../graph/differences.js';
import { stream } from '../kernels/both.js';
import { withSession } from '../runtime/with-session.js';
import { CASES, D, inputs, N } from './cases.js';

const ROWS = 32;
const STEPS = 120;

t.test('a model of any layer learns', async (t) => {
  const i = inputs();
  const { graph } = i;
  const label = placeholder(graph, { name: 'label' });
  // One graph and one run for all of them: the losses have no variables in common.
  const losses = Object.entries(CASES).map(([name, { build }], index) => {
    const out = graph.nameScope(`case_${index}`, () => {
      const rows = build(i);
      return new DenseLayer(1).call(reshape(rows, [-1]));
    });
    const error = sub(reshape(out, []), label);
    return { name, loss: reduceMean(mul(error, error)) };
  });
  const variables = trainableVariables(graph);
  const grads = gradients(
    losses.map(({ loss }) => loss),
    variables,
  );
  const pairs = variables.map((variable, index) => [grads[index]!, variable] as const);
  const train = group(graph, applyGradients(pairs, AdagradOptimizer({ learningRate: 0.1 })));
  const next = stream(8);
  const [x, s] = [awayFromZero(next, ROWS * D), awayFromZero(next, ROWS * N * D)];
  const m = Float32Array.from({ length: ROWS * N }, () => (next() < 0.8 ? 1 : 0));
  // What is to be learned: products within the row, which also the layers without weights show.
  const labels = Float32Array.from({ length: ROWS }, (_, r) => {
    const at = (n: number, c: number) => s[(r * N + n) * D + c]!;
    return x[r * D]! + 0.5 * x[r * D + 1]! * x[r * D + 2]! + 0.5 * at(0, 0) * at(1, 0) + at(2, 1);
  });
  await withSession(graph, { threads: 2, batchSize: ROWS, memoryBytes: 128 << 20 }, async (session) => {
    const feeds = { x, s, m, label: labels };
    const fetches: Tensor[] = losses.map(({ loss }) => loss);
    const before = (await session.run(fetches, feeds)) as number[];
    for (let step = 0; step < STEPS; step++) await session.run([train], feeds);
    const after = (await session.run(fetches, feeds)) as number[];
    losses.forEach(({ name }, index) => {
      t.ok(after[index]! < 0.9 * before[index]!, `${name}: loss ${before[index]} falls to ${after[index]}`);
    });
  });
});
