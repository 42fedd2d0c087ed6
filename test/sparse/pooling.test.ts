import t from 'tap';
import { FirstN, ReduceMean, ReduceSum } from '../../src/feature/model/combiners.js';
import { FeatureFactory } from '../../src/feature/model/feature-factory.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { sequenceLengths, sequenceMask } from '../../src/graph/ops/sequence.js';
import { reshape } from '../../src/graph/ops/shape.js';
import { placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import { ConstantsInitializer } from '../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import type { Pooling } from '../../src/sparse/steps/pooled-shape.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor as Values } from '../../src/tensor/tensor.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';

const DIM = 3;
const ROWS = [[1n, 2n], [], [3n, 1n, 1n, 4n], [2n], [4n]] as const;
const TABLE = () =>
  defineTable('t', [{ dim: DIM, initializer: ConstantsInitializer(0), optimizer: SgdOptimizer(), learningRate: 1 }]);
const weightsOf = (id: bigint) => Float32Array.from({ length: DIM }, (_, c) => Number(id) * 10 + c);

for (const backend of BACKENDS) {
  t.test(`lookups pool as the combiners do, in both directions (${backend})`, async (t) => {
    const cases = [
      ['sum', new ReduceSum()],
      ['mean', new ReduceMean()],
      [{ firstN: 2 }, new FirstN(2)],
      [{ firstN: 5 }, new FirstN(5)],
    ] as const satisfies readonly (readonly [Pooling, unknown])[];
    const ids = ROWS.flat();
    const { splits } = raggedOf(ROWS);
    const key = RaggedTensor.fromRowSplits(
      Values.vector('int64', BigInt64Array.from(ids)),
      Values.vector('int32', splits),
    );
    const embedding = new Values(
      'float32',
      [ids.length, DIM],
      Float32Array.from(ids.flatMap((id) => [...weightsOf(id)])),
    );
    for (const [pooling, combiner] of cases) {
      const graph = new Graph();
      const feed = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 4 });
      const config = TABLE();
      const lookup = embeddingLookup(feed, config, { pooling });
      const expected = combiner.combine(key, embedding);
      t.same(lookup.spec.shape, ['batch', ...expected.shape.slice(1)]);
      const seed = placeholder(graph, { name: 'seed', width: lookup.columns });
      const [grad] = gradients([lookup], [lookup], {
        gradYs: [reshape(seed, lookup.spec.shape.slice(1) as number[])],
      }) as [Tensor];
      const updates = applyEmbeddingGradients([[grad, lookup]]);
      const next = stream(3);
      const seeds = Float32Array.from({ length: ROWS.length * lookup.columns }, () => Math.floor(next() * 12));
      await withSession(graph, { backend, threads: 2 }, async (session) => {
        const table = HashTable.of(session, config);
        table.restore(
          [1n, 2n, 3n, 4n].map((id) => ({
            id,
            lastUpdateSec: 0,
            weights: weightsOf(id),
            state: new Float32Array(),
          })),
        );
        const feeds = { ids: raggedOf(ROWS), seed: seeds };
        const [found] = await session.run([lookup], feeds);
        t.same(found, expected.data, `values of ${JSON.stringify(pooling)}`);
        await session.run([...updates], feeds);
        const back = combiner.gradient(key, new Values('float32', expected.shape, seeds));
        const wanted = new Map([1n, 2n, 3n, 4n].map((id) => [id, weightsOf(id)]));
        ids.forEach((id, i) => {
          const row = wanted.get(id)!;
          for (let c = 0; c < DIM; c++) row[c]! -= back.data[i * DIM + c]!;
        });
        for (const { id, weights } of table.rows()) {
          const far = [...weights].findIndex((value, c) => Math.abs(value - wanted.get(id)![c]!) > 1e-4);
          t.equal(far, -1, `row ${id} after ${JSON.stringify(pooling)}`);
        }
      });
    }
  });

  t.test(`masks and lengths of sequences (${backend})`, async (t) => {
    const graph = new Graph();
    const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 4 });
    const fetches = [sequenceMask(ids, 3), sequenceLengths(ids, 3)];
    await withSession(graph, { backend, threads: 2 }, async (session) => {
      const [mask, lengths] = await session.run(fetches, { ids: raggedOf(ROWS) });
      t.same([...(mask as Float32Array)], [1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 0]);
      t.same([...(lengths as Float32Array)], [2, 0, 3, 1, 1]);
    });
  });
}

t.test('a feature column may be a sequence of slices', async (t) => {
  const graph = new Graph();
  const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 4 });
  const features = new FeatureFactory();
  const slot = features.createFeatureSlot({ name: 'slot', hasBias: true });
  const slice = slot.addFeatureSlice(4);
  const column = features.createFeatureColumn(slot, ids, new FirstN(2));
  t.same(column.embeddingLookup(slice).spec.shape, ['batch', 2, 4]);
  t.same(column.getBias().spec.shape, ['batch', 2, 1]);
  t.same(column.getSizeTensor().spec.shape, ['batch', 2]);
  const pooled = features.createFeatureColumn(slot, ids, new ReduceMean());
  t.same(pooled.embeddingLookup(slice).spec.shape, ['batch', 4]);
  t.throws(() => pooled.getSizeTensor(), { code: 'ML_GRAPH' });
  t.throws(() => embeddingLookup(ids, TABLE(), { name: 'x', pooling: { firstN: 0 } }), { code: 'ML_GRAPH' });
});
