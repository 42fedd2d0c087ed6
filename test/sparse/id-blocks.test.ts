import t from 'tap';
import { FeatureFactory } from '../../src/feature/model/feature-factory.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { columns, concatColumns } from '../../src/graph/ops/columns.js';
import { addN, mul } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { rowDot } from '../../src/graph/ops/rows.js';
import {
  globalStep,
  group,
  idsPlaceholder,
  increment,
  placeholder,
  raggedPlaceholder,
  variable,
} from '../../src/graph/ops/state.js';
import { ConstantsInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer, SgdOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable, type TableConfig } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { BACKENDS, raggedOf, withSession } from '../runtime/with-session.js';

const FIELDS = 3;

/** A model with a bias and two slices per feature, which are summed, multiplied and concatenated. */
function build(columnsOfFeed: boolean) {
  const graph = new Graph();
  const dense = placeholder(graph, { name: 'dense', width: 2 });
  const feed = columnsOfFeed ? idsPlaceholder(graph, { name: 'ids', width: FIELDS + 1 }) : undefined;
  const features = new FeatureFactory({ filterCapacity: 1000 });
  const optimizer = AdagradOptimizer({ learningRate: 0.5 });
  const slots = Array.from({ length: FIELDS }, (_, i) => {
    const slot = features.createFeatureSlot({
      slotId: i + 1,
      hasBias: true,
      biasOptimizer: optimizer,
      defaultVecOptimizer: optimizer,
    });
    return { slot, slices: [slot.addFeatureSlice(4), slot.addFeatureSlice(3)] as const };
  });
  const lookups = slots.map(({ slot, slices }, i) => {
    const ids =
      feed === undefined ? raggedPlaceholder(graph, { name: `f${i}`, valuesPerRow: 2 }) : columns(feed, i, i + 1);
    const column = features.createFeatureColumn(slot, ids);
    const [a, b] = slices.map((slice) => column.embeddingLookup(slice)) as [Tensor, Tensor];
    return { column, a, b, bias: column.getBias() };
  });
  const wide = concatColumns(lookups.map(({ a }) => a));
  const weights = variable(graph, {
    name: 'weights',
    shape: [FIELDS * 4 + 2, 1],
    initial: () => Float32Array.from({ length: FIELDS * 4 + 2 }, (_, i) => (i - 5) / 9),
  });
  const product = columns(matMul(concatColumns([wide, dense]), weights), 0, 1);
  const [first, second, third] = lookups as [(typeof lookups)[0], (typeof lookups)[0], (typeof lookups)[0]];
  const dots = [rowDot(first.b, second.b), rowDot(mul(second.b, third.b), third.b)];
  const logit = addN([product, ...lookups.map(({ bias }) => bias), ...dots, rowDot(wide, wide)], { name: 'logit' });
  const loss = reduceMean(logit);
  const step = increment(globalStep(graph));
  const grads = gradients(
    [loss],
    lookups.map(({ column }) => column.getAllEmbeddingsConcat()),
  ) as Tensor[];
  const updates = features.applyEmbeddingGradients(lookups.map(({ column }, i) => [grads[i]!, column] as const));
  return { graph, logit, loss, trainOp: group(graph, [step, ...updates]) as Op };
}

/** Logits of every step, and all rows at the end. */
async function train(backend: (typeof BACKENDS)[number], columnsOfFeed: boolean, steps: readonly bigint[][][]) {
  const { graph, logit, loss, trainOp } = build(columnsOfFeed);
  return withSession(graph, { backend, batchSize: 8 }, async (session) => {
    const seen: unknown[] = [];
    for (const rows of steps) {
      const dense = Float32Array.from({ length: rows.length * 2 }, (_, i) => i / 4);
      const ids = columnsOfFeed
        ? { ids: BigInt64Array.from(rows.flatMap((row) => [...row, -1n])) }
        : Object.fromEntries(row0(rows).map((_, i) => [`f${i}`, raggedOf(rows.map((row) => [row[i]!]))]));
      seen.push(...(await session.run([logit, loss, trainOp], { dense, ...ids })));
    }
    const [table] = session.graph.getCollection<TableConfig>('tables');
    const rows = [...HashTable.of(session, table!).rows()].map(({ id, weights, state }) => [id, weights, state]);
    return { seen, rows: rows.sort((a, b) => ((a[0] as bigint) < (b[0] as bigint) ? -1 : 1)) };
  });
}
const row0 = (rows: readonly bigint[][]) => rows[0] ?? new Array<bigint>(FIELDS).fill(0n);

for (const backend of BACKENDS) {
  t.test(`columns of a feed of ids train as ragged features of one id do (${backend})`, async (t) => {
    // Batches of other sizes, ids that come again within an example, a slice and a batch.
    const steps = [8, 1, 5, 7].map((rows, step) =>
      Array.from({ length: rows }, (_, r) =>
        Array.from({ length: FIELDS }, (_, f) => BigInt((r * (3 + step) + f * r) % 6)),
      ),
    );
    const [dense, ragged] = [await train(backend, true, steps), await train(backend, false, steps)];
    const numbers = (values: readonly unknown[]) =>
      values.flatMap((value) => (value instanceof Float32Array ? [...value] : [Number(value ?? 0)]));
    const misfits = (a: number[], b: number[]) =>
      a.filter((value, i) => !(Math.abs(value - b[i]!) <= 1e-4 * (1 + Math.abs(value))));
    t.same(misfits(numbers(dense.seen), numbers(ragged.seen)), []);
    t.same(misfits(numbers(dense.rows.flat()), numbers(ragged.rows.flat())), []);
    t.equal(dense.rows.length, 6);
    t.equal(ragged.rows.length, 6);
  });

  t.test(`a lookup may sum several columns, be fetched, and have a gradient that was fed (${backend})`, async (t) => {
    const graph = new Graph();
    const ids = idsPlaceholder(graph, { name: 'ids', width: 3 });
    const config = { dim: 2, initializer: ConstantsInitializer(1), optimizer: SgdOptimizer(), learningRate: 1 };
    const table = defineTable('t', [config]);
    const pair = embeddingLookup(columns(ids, 1, 3), table);
    const grad = placeholder(graph, { name: 'grad', width: 2 });
    const [update] = applyEmbeddingGradients([[grad, pair]]) as [Op];
    await withSession(graph, { backend }, async (session) => {
      const feeds = {
        ids: BigInt64Array.of(9n, 1n, 2n, 9n, 2n, 2n, 9n, 3n, 1n),
        grad: Float32Array.of(1, 10, 2, 20, 3, 30),
      };
      await session.run([update], feeds);
      const [found, fed] = await session.run([pair, ids], feeds);
      // 1 has gradients [1, 10] and [3, 30], 2 has [1, 10] and twice [2, 20], 3 has [3, 30].
      t.same(found, [-3 - 4, -39 - 49, 2 * -4, 2 * -49, -2 - 3, -29 - 39]);
      t.same(fed, feeds.ids);
    });
  });
}

t.test('ids must be ids, and of a feed', async (t) => {
  const graph = new Graph();
  const table = defineTable('t', [{ dim: 2 }]);
  t.throws(() => embeddingLookup(placeholder(graph, { name: 'x', width: 2 }), table), { code: 'ML_GRAPH' });
  const ids = idsPlaceholder(graph, { name: 'ids', width: 2 });
  t.throws(() => concatColumns([ids, ids]), { code: 'ML_GRAPH' });
  t.throws(() => columns(raggedPlaceholder(graph, { name: 'r', valuesPerRow: 1 }), 0, 1), { code: 'ML_GRAPH' });
  const lookup = embeddingLookup(ids, table);
  await withSession(graph, {}, async (session) => {
    await t.rejects(
      session.run([lookup], { ids: new BigInt64Array(3), x: new Float32Array(4), r: raggedOf([[], []]) }),
      {
        code: 'ML_FEED',
      },
    );
  });
});
