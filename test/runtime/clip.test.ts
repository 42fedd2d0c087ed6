import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { clipByGlobalNorm, clipByValue, globalNorm } from '../../src/graph/ops/clip.js';
import { mul } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias } from '../../src/graph/ops/rows.js';
import { constant, group, placeholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import * as plain from '../../src/tensor/ops/clip-by-global-norm.js';
import { Tensor as Dense } from '../../src/tensor/tensor.js';
import { stagesOf } from './stages-of.js';
import { BACKENDS, withSession } from './with-session.js';

const [ROWS, K, N] = [7, 13, 170];
const X = Float32Array.from({ length: ROWS * K }, (_, i) => Math.fround(Math.sin(i * 2.3)));

function model(clipNorm: number, useNorm?: number) {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: K });
  const init = (count: number) => () => Float32Array.from({ length: count }, (_, i) => Math.cos(i));
  // 2210 floats are three grains, the last of them short.
  const variables = [
    variable(graph, { name: 'w', shape: [K, N], initial: init(K * N) }),
    variable(graph, { name: 'b', shape: [N], initial: init(N) }),
  ] as const;
  const y = addBias(matMul(x, variables[0]), variables[1]);
  const grads = gradients([reduceMean(mul(y, y))], variables) as Tensor[];
  const given = useNorm === undefined ? undefined : constant(graph, [useNorm], { shape: [] });
  const { clipped, globalNorm } = clipByGlobalNorm(grads, clipNorm, { useNorm: given });
  const pairs = clipped.map((grad, i) => [grad, variables[i]!] as const);
  const train = group(graph, applyGradients(pairs, SgdOptimizer({ learningRate: 1 })));
  return { graph, grads, clipped, norm: globalNorm as Tensor, train };
}

t.test('gradients are clipped by their common norm as the plain function does it', async (t) => {
  for (const backend of BACKENDS) {
    for (const [clipNorm, useNorm] of [[0.01], [1000], [0.01, 0.02]] as const) {
      const { graph, grads, clipped, norm, train } = model(clipNorm, useNorm);
      await withSession(graph, { backend, threads: 3 }, async (session) => {
        t.equal(stagesOf(session, [norm, train]), useNorm === undefined ? 'stt' : 'st', 'stages');
        const [w, b, size, ...found] = await session.run([...grads, norm, ...clipped], { x: X });
        const dense = [w, b].map((data) => Dense.vector('float32', data as Float32Array));
        const expected = plain.clipByGlobalNorm(dense, clipNorm, useNorm);
        t.ok(Math.abs((size as number) - expected.globalNorm) <= 1e-6 * expected.globalNorm, 'norm');
        found.forEach((data, i) => {
          const wanted = expected.clipped[i]!.data;
          (data as Float32Array).forEach((value, j) => {
            if (!(Math.abs(value - wanted[j]!) <= 1e-6 * Math.abs(wanted[j]!))) t.equal(value, wanted[j], `${i} ${j}`);
          });
        });
        const before = session.readVariable('b').slice();
        await session.run([train], { x: X });
        const step = expected.clipped[1]!.data;
        session.readVariable('b').forEach((value, j) => {
          if (!(Math.abs(Number(value) - (Number(before[j]!) - step[j]!)) <= 1e-6)) t.fail(`b[${j}] is ${value}`);
        });
      });
    }
  }
});

t.test('clipped training has the same bytes for any number of threads in deterministic mode', async (t) => {
  const found = new Set<string>();
  for (const threads of [1, 2, 5]) {
    const { graph, norm, train } = model(0.01);
    await withSession(graph, { threads, deterministic: true, batchSize: 20 }, async (session) => {
      const norms = [];
      for (let step = 0; step < 3; step++) norms.push((await session.run([norm, train], { x: X }))[0]);
      found.add(JSON.stringify([norms, [...(session.readVariable('w') as Float32Array)]]));
    });
  }
  t.equal(found.size, 1);
});

t.test('what has no common norm is refused', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: K });
  for (const clipped of [x, reduceMean(x)])
    t.throws(() => clipByValue(clipped, 1, 0), { code: 'ML_GRAPH', message: /1 to 0 is no range/ });
  t.same(clipByGlobalNorm([], 1), { clipped: [], globalNorm: 0 });
  t.same(clipByGlobalNorm([undefined], 1), { clipped: [undefined], globalNorm: 0 });
  t.throws(() => globalNorm([]), { code: 'ML_GRAPH', message: /nothing to take the norm of/ });
  t.throws(() => clipByGlobalNorm(x as never, 1), { code: 'ML_CLIP_LIST' });
  t.throws(() => clipByGlobalNorm([reduceMean(x)], 0), { message: /cannot be clipped to 0/ });
});
