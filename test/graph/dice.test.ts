import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { dice } from '../../src/graph/ops/activations.js';
import { UPDATE_OPS } from '../../src/graph/ops/norms.js';
import { group, placeholder, variable } from '../../src/graph/ops/state.js';
import { BACKENDS, withSession } from '../runtime/with-session.js';
import { differences } from './differences.js';

const ALPHA = [0.25, -0.5];

function build(training?: boolean) {
  const graph = new Graph();
  const alpha = variable(graph, { name: 'alpha', shape: [2], initial: () => Float32Array.from(ALPHA) });
  return {
    graph,
    out: dice(placeholder(graph, { name: 'x', width: 2 }), alpha, {
      momentum: 0.5,
      ...(training !== undefined && { training }),
    }),
  };
}

const x = Float32Array.of(1, 5, -2, 0.5, 3, -4, 0.5, 2, -1, 1);

/** By the definition, with the statistics given or those of x. */
function byHand(mean?: readonly number[], variance?: readonly number[]): number[] {
  const columns = [0, 1].map((c) => [...x].filter((_, i) => i % 2 === c));
  const means = mean ?? columns.map((column) => column.reduce((sum, v) => sum + v, 0) / column.length);
  const spreads =
    variance ?? columns.map((column, c) => column.reduce((sum, v) => sum + (v - means[c]!) ** 2, 0) / column.length);
  return [...x].map((v, i) => {
    const c = i % 2;
    const p = 1 / (1 + Math.exp(-(v - means[c]!) / Math.sqrt(spreads[c]! + 1e-9)));
    return p * v + (1 - p) * ALPHA[c]! * v;
  });
}

const near = (found: unknown, expected: readonly number[]) =>
  expected.every((value, i) => Math.abs((found as Float32Array)[i]! - value) < 1e-5);

for (const backend of BACKENDS) {
  t.test(`dice is what its definition says, of the batch and of moving averages (${backend})`, async (t) => {
    const { graph, out } = build();
    const updates = group(graph, graph.getCollection(UPDATE_OPS));
    await withSession(graph, { backend, threads: 3 }, async (session) => {
      const [unmoved] = await session.run([out], { x });
      t.ok(near(unmoved, byHand([0, 0], [1, 1])), 'moving averages that never moved', { unmoved });
      const [found] = await session.run([out, updates], { x });
      t.ok(near(found, byHand()), 'training', { found });
      const moved = session.variableNames.filter((name) => name.includes('moving'));
      t.equal(moved.length, 2);
      t.ok(
        moved.every((name) => !session.readVariable(name).some((v) => v === 0 || v === 1)),
        'the averages moved',
      );
    });
    const evaluation = build(false);
    await withSession(evaluation.graph, { backend }, async (session) => {
      const [found] = await session.run([evaluation.out], { x });
      t.ok(near(found, byHand([0, 0], [1, 1])), 'told never to train', { found });
    });
    t.same(await differences(build(true).out, { backend }), [], 'gradients equal differences');
  });
}

t.test('alpha must have a value per column', async (t) => {
  const graph = new Graph();
  const alpha = variable(graph, { name: 'alpha', shape: [3], initial: () => new Float32Array(3) });
  t.throws(() => dice(placeholder(graph, { name: 'x', width: 2 }), alpha), { code: 'ML_GRAPH' });
});
