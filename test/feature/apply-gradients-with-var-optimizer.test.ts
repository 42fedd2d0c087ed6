import t from 'tap';
import { GradientDescentOptimizer } from '../../src/compat/optimizers.js';
import {
  applyGradientsWithVarOptimizer,
  type VarOptimizerOptions,
} from '../../src/feature/model/apply-gradients-with-var-optimizer.js';
import { FeatureFactory } from '../../src/feature/model/feature-factory.js';
import { Graph, type Op } from '../../src/graph/graph.js';
import { add, mul } from '../../src/graph/ops/elementwise.js';
import { batchNorm } from '../../src/graph/ops/norms.js';
import { reduceSum } from '../../src/graph/ops/reductions.js';
import { constant, globalStep, placeholder, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { setVarOptimizer } from '../../src/optim/var-optimizers.js';
import { OnesInitializer } from '../../src/sparse/config/initializers.js';
import { Fp32Compressor, SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';

type Options = Omit<VarOptimizerOptions, 'loss' | 'varOptimizer'>;
const SGD = {
  initializer: OnesInitializer(),
  optimizer: SgdOptimizer({ learningRate: 1 }),
  compressor: Fp32Compressor(),
};

/**
 * loss = sum of factors * embedding + 12 * w, all weights 1 and all rates too: gradients of norm 5 and 12, together 13.
 */
function model(options: Options = {}, factors: readonly number[] = [3, 4], slope = 12) {
  const graph = new Graph();
  const factory = new FeatureFactory();
  const slot = factory.createFeatureSlot({ name: 'user' });
  const slice = slot.addFeatureSlice(factors.length, SGD);
  slot.addFeatureSlice(1, SGD);
  const column = factory.createFeatureColumn(slot, raggedPlaceholder(graph, { name: 'user', valuesPerRow: 1 }));
  const w = variable(graph, { name: 'w', shape: [], initial: () => Float32Array.of(1) });
  const embedded = mul(column.embeddingLookup(slice), constant(graph, factors, { shape: [factors.length] }));
  const loss = add(reduceSum(embedded), mul(w, slope));
  const varOptimizer = new GradientDescentOptimizer({ learningRate: 1 });
  const train = applyGradientsWithVarOptimizer({
    loss,
    varOptimizer,
    featureColumns: [column],
    globalStep: globalStep(graph),
    ...options,
  });
  return { graph, train, table: factory.tableOf(slot) };
}

const feeds = { user: raggedOf([[7n]]) };

/** What is left of the weight and of the row after some steps, in steps taken: 1 less what there is. */
async function stepsOf(options: Options, steps = 1, backend: 'wasm' | 'reference' = 'wasm') {
  const { graph, train, table } = model(options);
  return withSession(graph, { backend, batchSize: 1, threads: 2 }, async (session) => {
    for (let step = 0; step < steps; step++) await session.run([train], feeds);
    const row = HashTable.of(session, table).lookup(BigInt64Array.of(7n));
    const taken = [...session.readVariable('w'), ...row].map((value) => Math.round((1 - Number(value)) * 1e4) / 1e4);
    return { w: taken[0], row: taken.slice(1), step: session.globalStep };
  });
}

for (const backend of BACKENDS) {
  t.test(`the case of the reference: one norm over all gradients (${backend})`, async (t) => {
    const { graph, train, table } = model({ clipNorm: 1 }, [1, 1, 1], 1);
    await withSession(graph, { backend, batchSize: 1, threads: 2 }, async (session) => {
      const [, norm] = await session.run([train.name, 'global_gradient_norm:0'], feeds);
      t.equal(norm, 2);
      t.same([...session.readVariable('w')], [0.5]);
      t.same([...HashTable.of(session, table).lookup(BigInt64Array.of(7n))], [0.5, 0.5, 0.5, 1]);
      t.equal(session.globalStep, 1);
    });
  });
}

t.test('every way of clipping', async (t) => {
  const cases: [Options, number, [number, number]][] = [
    [{}, 12, [3, 4]],
    [{ clipNorm: 100 }, 12, [3, 4]],
    [{ clipNorm: 6.5 }, 6, [1.5, 2]],
    [{ clipNorm: 6.5, sparseClipNorm: 2.6 }, 6, [0.6, 0.8]],
    [{ clipType: 'ClipByDenseAndSparse', clipNorm: 6, sparseClipNorm: 2.5 }, 6, [1.5, 2]],
    [{ clipType: 'ClipByDenseAndSparse', clipNorm: 6 }, 6, [3, 4]],
    [{ clipType: 'ClipByNorm', clipNorm: 4 }, 4, [2.4, 3.2]],
    [{ clipType: 'ClipByValue', clipNorm: 3.5 }, 3.5, [3, 3.5]],
    [{ clipType: 'NoClip', clipNorm: 1 }, 12, [3, 4]],
    [{ denseReduceMean: true, batchSize: 4 }, 3, [3, 4]],
    [{ clipNorm: 6.5, denseWeightDecay: 0.25 }, 6.25, [1.5, 2]],
  ];
  for (const [options, w, row] of cases) {
    t.same(await stepsOf(options), { w, row: [...row, 0], step: 1 }, JSON.stringify(options));
  }
});

t.test('the norm of lookups warms up from 0 with the steps', async (t) => {
  // Steps 0, 1, 2, 3 of 2: the limit of the lookups is 0, half, all and all of 6.5; that of variables stays.
  const taken = await stepsOf({ clipNorm: 6.5, sparseNormWarmupSteps: 2 }, 4);
  t.same(taken, { w: 24, row: [0.75 + 1.5 + 1.5, 1 + 2 + 2, 0], step: 4 });
});

t.test('a variable may have an optimizer of its own, and moving averages are moved', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 2 });
  const [a, b] = ['a', 'b'].map((name) => variable(graph, { name, shape: [2], initial: () => Float32Array.of(1, 1) }));
  setVarOptimizer(b!, SgdOptimizer({ learningRate: 0.5 }));
  const normal = batchNorm(x, { center: false, scale: false, name: 'bn', momentum: 0 });
  const loss = reduceSum(add(mul(x, a!), add(mul(x, b!), normal)));
  const varOptimizer = new GradientDescentOptimizer({ learningRate: 1 });
  const train = applyGradientsWithVarOptimizer({ loss, varOptimizer });
  await withSession(graph, { batchSize: 2, threads: 2 }, async (session) => {
    await session.run([train], { x: Float32Array.of(1, 2, 3, 4) });
    t.same([...session.readVariable('a')], [1 - 4, 1 - 6]);
    t.same([...session.readVariable('b')], [1 - 2, 1 - 3]);
    t.same([...session.readVariable('bn/moving_mean')], [2, 3]);
  });
});

t.test('without a gradient nothing is done, and odd options are refused', async (t) => {
  const graph = new Graph();
  const loss = reduceSum(placeholder(graph, { name: 'x', width: 2 }));
  variable(graph, { name: 'w', shape: [], initial: () => Float32Array.of(1) });
  const varOptimizer = SgdOptimizer({ learningRate: 1 });
  const nothing: Op = applyGradientsWithVarOptimizer({ loss, varOptimizer });
  t.equal(nothing.controlInputs.length, 0);
  const wrong = (options: object) => () => applyGradientsWithVarOptimizer({ loss, varOptimizer, ...options });
  t.throws(wrong({ clipType: 'ClipBySomething' }), { code: 'ML_UNSUPPORTED', hint: /ClipByGlobalNorm/ });
  t.throws(wrong({ clipNorm: 0 }), { code: 'ML_GRAPH', message: /clipNorm 0 must be above 0/ });
});
