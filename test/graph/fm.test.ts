import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { concatColumns } from '../../src/graph/ops/columns.js';
import { addN } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { fmPairs } from '../../src/graph/ops/pairs.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { stream } from '../kernels/both.js';
import { BACKENDS } from '../runtime/with-session.js';
import { awayFromZero, differences, valuesOf } from './differences.js';

for (const backend of BACKENDS) {
  t.test(`fmPairs has the gradient that differences show (${backend})`, async (t) => {
    const graph = new Graph();
    const fields = ['a', 'b', 'c'].map((name) => placeholder(graph, { name, width: 5 }));
    const x = concatColumns(fields);
    const w = variable(graph, { name: 'w', shape: [15, 1], initial: () => awayFromZero(stream(2), 15) });
    // The rows are used twice, so that both gradients go to one sum, as in DeepFM.
    const deep = concatColumns([matMul(x, w)]);
    t.same(await differences(addN([fmPairs(x, { dim: 5 }), deep]), { backend }), []);
  });
}

t.test('fmPairs adds up the dot products of pairs', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 6 });
  const [value] = await valuesOf(
    [fmPairs(x, { dim: 2 })],
    { x: Float32Array.of(1, 2, 3, 4, 5, 6, 1, 0, 0, 1, 1, 1) },
    { rows: 2 },
  );
  t.same([...value!], [11 + 17 + 39, 0 + 1 + 1]);
});

t.test('the gradient of fmPairs is written where it is wanted', async (t) => {
  const graph = new Graph();
  const [a, b] = [placeholder(graph, { name: 'a', width: 2 }), placeholder(graph, { name: 'b', width: 2 })];
  const grads = gradients([reduceMean(fmPairs(concatColumns([a, b]), { dim: 2 }))], [a, b]);
  const feeds = { a: Float32Array.of(1, 2), b: Float32Array.of(3, 4) };
  const [da, db] = await valuesOf([grads[0]!, grads[1]!], feeds, { rows: 1 });
  t.same([...da!, ...db!], [3, 4, 1, 2]);
});

t.test('fmPairs refuses rows that are no whole fields', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 7 });
  t.throws(() => fmPairs(x, { dim: 2 }), { code: 'ML_GRAPH' });
  t.throws(() => fmPairs(x), { code: 'ML_GRAPH' });
  t.throws(() => fmPairs(x, { dim: 0 }), { code: 'ML_GRAPH' });
});
