/** @file Sums over a large batch: as exact as f32 can show, not off by a rounding for each example. */
import t from 'tap';
import * as ml from '../../src/index.js';
import { BACKENDS, withSession } from './with-session.js';

/** Of 60,000 equal terms a chain in f32 is off by 6e-4, blocks by about 4e-6. */
const MOST = 2e-5;

for (const backend of BACKENDS) {
  for (const threads of [1, 2]) {
    t.test(`gradients and means of 60,000 examples are exact on ${backend} with ${threads} threads`, async (t) => {
      const [rows, value] = [backend === 'wasm' ? 60_000 : 20_000, 0.1];
      const graph = new ml.Graph();
      const x = ml.ops.placeholder(graph, { name: 'x', width: 5 });
      const mean = ml.ops.reduceMean(x, { axis: 'batch' });
      ml.ops.batchNorm(x, { momentum: 0, name: 'bn' });
      const w = ml.ops.variable(graph, { name: 'w', shape: [5, 9], initial: () => new Float32Array(45) });
      const b = ml.ops.variable(graph, { name: 'b', shape: [9], initial: () => new Float32Array(9) });
      const slope = ml.ops.variable(graph, { name: 'slope', shape: [5], initial: () => new Float32Array(5) });
      const gain = ml.ops.variable(graph, { name: 'gain', shape: [5], initial: () => new Float32Array(5).fill(1) });
      const loss = ml.ops.addN([
        ml.ops.reduceMean(ml.ops.reduceSum(ml.ops.addBias(ml.ops.matMul(x, w), b), { axis: 'columns' })),
        ml.ops.reduceMean(ml.ops.reduceSum(ml.ops.mul(x, gain), { axis: 'columns' })),
        ml.ops.reduceMean(ml.ops.reduceSum(ml.ops.prelu(ml.ops.scale(x, -1), slope), { axis: 'columns' })),
      ]);
      const gradients = ml.ops.gradients([loss], [w, b, gain, slope]);
      const train = ml.ops.group(graph, graph.getCollection(ml.graphs.UPDATE_OPS));
      await withSession(graph, { backend, threads, batchSize: rows, memoryBytes: 64 << 20 }, async (session) => {
        const fetches = [mean, ...gradients, train] as ml.Tensor[];
        const out = await session.run(fetches, { x: new Float32Array(5 * rows).fill(value) });
        const exact = Math.fround(value);
        const wanted = { mean: exact, weights: exact, bias: 1, gain: exact, slope: -exact };
        Object.entries(wanted).forEach(([name, want], i) => {
          const worst = Math.max(...[...(out[i] as Float32Array)].map((found) => Math.abs(found / want - 1)));
          t.ok(worst < MOST, name, { worst, MOST });
        });
        const variance = Number(session.readVariable('bn/moving_variance')[0]);
        t.ok(variance < 1e-11, 'a constant column has no variance', { variance });
      });
    });
  }
}
