import t from 'tap';
import { GradientDescentOptimizer } from '../../src/compat/optimizers.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { clipByGlobalNorm, clipByNorm, clipByValue, globalNorm } from '../../src/graph/ops/clip.js';
import { scale } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias, rowDot } from '../../src/graph/ops/rows.js';
import { group, placeholder, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { OnesInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { clipByGlobalNorm as clipValues } from '../../src/tensor/ops/clip-by-global-norm.js';
import { Tensor as Value } from '../../src/tensor/tensor.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';

const [WIDTH, DEPTH] = [70, 40];

/** Gradients of a matrix of more than one block, and of a vector. */
function model() {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: DEPTH });
  const w = variable(graph, {
    name: 'w',
    shape: [DEPTH, WIDTH],
    initial: () => new Float32Array(DEPTH * WIDTH).fill(1),
  });
  const bias = variable(graph, { name: 'bias', shape: [WIDTH], initial: () => new Float32Array(WIDTH) });
  const rows = addBias(matMul(x, w), bias);
  const loss = reduceMean(rowDot(rows, rows));
  return { graph, loss, variables: [w, bias], grads: gradients([loss], [w, bias]) as [Tensor, Tensor] };
}

const x = Float32Array.from({ length: DEPTH * 4 }, (_, i) => Math.sin(i) / 10);

for (const backend of BACKENDS) {
  t.test(`gradients of a step are clipped as the values are: ${backend}`, async (t) => {
    const { graph, grads } = model();
    const { clipped, globalNorm: norm } = clipByGlobalNorm(grads, 0.7);
    const { clipped: untouched } = clipByGlobalNorm(grads, 1e9);
    const alone = clipByNorm(grads[1], 0.3);
    const cut = clipByValue(grads[0], -0.01, 0.005);
    const fetches = [...grads, ...clipped, ...untouched, alone, cut, norm as Tensor];
    await withSession(graph, { backend, threads: 3 }, async (session) => {
      const found = await session.run(fetches, { x });
      const [gw, gb, cw, cb, uw, ub, one, value] = found as Float32Array[];
      const values = [gw!, gb!].map((data) => new Value('float32', [data.length], data));
      const wanted = clipValues(values, 0.7);
      t.equal(found.at(-1), wanted.globalNorm, 'the norm');
      t.ok(wanted.globalNorm > 0.7, 'which is larger');
      t.same(
        [cw, cb],
        wanted.clipped.map(({ data }) => data),
        'clipped',
      );
      t.same([uw, ub], [gw, gb], 'below the limit nothing changes');
      t.same(one, clipValues([values[1]!], 0.3).clipped[0]!.data, 'one by its own norm');
      t.same(
        value,
        gw!.map((g) => Math.min(Math.max(g, Math.fround(-0.01)), Math.fround(0.005))),
        'by value',
      );
    });
  });
}

t.test('a norm has the same bits for any number of threads', async (t) => {
  const run = async (threads: number) => {
    const { graph, grads } = model();
    const norm = globalNorm(grads);
    return withSession(graph, { threads, deterministic: true }, (session) => session.run([norm], { x }));
  };
  t.same(await run(1), await run(5));
});

t.test('an optimizer steps by clipped gradients, then by the decay', async (t) => {
  const { graph, loss, variables } = model();
  const optimizer = new GradientDescentOptimizer({ learningRate: 1 });
  const pairs = optimizer.computeGradients(loss, variables);
  const { clipped } = clipByGlobalNorm(
    pairs.map(([gradient]) => gradient),
    0.7,
  );
  const train = optimizer.applyGradients(
    clipped.map((gradient, i) => [gradient, variables[i]!] as const),
    { weightDecay: 0.5 },
  );
  await withSession(graph, { threads: 3 }, async (session) => {
    const [gradient] = (await session.run([clipped[0]!, train], { x })) as [Float32Array, undefined];
    const wanted = gradient.map((g) => 1 - Math.fround(g + 0.5));
    t.same(session.readVariable('w'), wanted);
  });
});

for (const backend of BACKENDS) {
  t.test(`rows per example share the norm of the rest: ${backend}`, async (t) => {
    // The gradients of a variable and of an embedding of 3 are 1, so their norm is 2.
    const graph = new Graph();
    const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 1 });
    const [one, ge] = [placeholder(graph, { name: 'one' }), placeholder(graph, { name: 'g', width: 3 })];
    const segment = { dim: 3, initializer: OnesInitializer(), optimizer: SgdOptimizer({ learningRate: 1 }) };
    const config = defineTable('t', [segment]);
    const emb = embeddingLookup(ids, config);
    const w = variable(graph, { name: 'w', shape: [1], initial: () => Float32Array.of(1) });
    const [gw] = gradients([reduceMean(rowDot(one, addBias(scale(one, 0), w)))], [w]) as [Tensor];
    const { clipped } = clipByGlobalNorm([gw, ge], 1);
    const dense = new GradientDescentOptimizer({ learningRate: 1 }).applyGradients([[clipped[0], w]]);
    const train = group(graph, [dense, ...applyEmbeddingGradients([[clipped[1]!, emb]])]) as Op;
    await withSession(graph, { backend, threads: 2 }, async (session) => {
      await session.run([train], { ids: raggedOf([[7n]]), one: Float32Array.of(1), g: Float32Array.of(1, 1, 1) });
      t.same([...session.readVariable('w')], [0.5]);
      t.same([...HashTable.of(session, config).lookup(BigInt64Array.of(7n))], [0.5, 0.5, 0.5]);
    });
  });
}
