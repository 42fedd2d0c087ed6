import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { cast } from '../../src/graph/ops/cast.js';
import { columns, concatColumns } from '../../src/graph/ops/columns.js';
import { div, minimum, mul } from '../../src/graph/ops/elementwise.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { globalStep, idsPlaceholder, increment, placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';

for (const backend of BACKENDS) {
  t.test(`the step and ids that are fed can be computed with (${backend})`, async (t) => {
    const graph = new Graph();
    const [ids, x] = [idsPlaceholder(graph, { name: 'ids', width: 3 }), placeholder(graph, { name: 'x', width: 2 })];
    const warm = minimum(div(cast(globalStep(graph), 'float32'), 4), 1);
    const all = cast(ids, 'float32');
    const beside = concatColumns([x, cast(columns(ids, 1, 2), 'float32')]);
    const step = increment(globalStep(graph));
    const feeds = {
      ids: BigInt64Array.of(1n, -2n, 3n, 2n ** 40n, 2n ** 24n + 1n, 0n, 7n, 8n, 9n),
      x: Float32Array.of(0.5, 1, 1.5, 2, 2.5, 3),
    };
    await withSession(graph, { backend, threads: 2 }, async (session) => {
      const [first, values, rows] = await session.run([warm, all, beside, step], feeds);
      t.equal(first, 0, 'the step as it was before');
      t.same(values, Float32Array.of(1, -2, 3, 2 ** 40, 2 ** 24, 0, 7, 8, 9));
      t.same(rows, Float32Array.of(0.5, 1, -2, 1.5, 2, 2 ** 24, 2.5, 3, 8));
      const later = [];
      for (let i = 0; i < 5; i++) later.push((await session.run([warm, step], feeds))[0]);
      t.same(later, [0.25, 0.5, 0.75, 1, 1]);
    });
  });
}

t.test('floats stay as they are, whole numbers pass no gradient on, and other types are refused', async (t) => {
  const graph = new Graph();
  const [ids, x] = [idsPlaceholder(graph, { name: 'ids', width: 2 }), placeholder(graph, { name: 'x', width: 2 })];
  t.equal(cast(x, 'float32'), x);
  const [none, some] = gradients([reduceMean(mul(cast(ids, 'float32'), x))], [ids, x]);
  t.equal(none, undefined);
  t.ok(some);
  t.throws(() => cast(x, 'int64' as never), { code: 'ML_GRAPH', message: /computes with float32/ });
  t.throws(() => cast(raggedPlaceholder(graph, { name: 'r', valuesPerRow: 2 }), 'float32'), {
    code: 'ML_GRAPH',
    message: /ragged/,
  });
});
