/**
 * @file A small deep model of one's own: embeddings → concat → matMul and relu → logit.
 *
 * Who likes what is decided by a rule no sum of per-id biases can express: a user likes items of the same colour.
 * Run it from a checkout after `npm ci`: `node examples/own-model.mjs [steps]`.
 */
import {
  data,
  evaluate,
  FeatureFactory,
  Graph,
  graphs,
  LocalTrainer,
  losses,
  ops,
  optim,
  sparse,
  tables,
} from 'monolith-ts';

const steps = Number(process.argv[2] ?? 600);
const batchSize = 256;
const [users, items, colours] = [500, 100, 2];
const [dim, hidden] = [8, 32];
// Slots with equal configs share a table: ids that carry their slot keep user 7 and item 7 apart.
const SLOTS = { user: 1, item: 2 };

/** Numbers in [0, 1) that are the same in every run. */
let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const uniform = (count, bound) => Float32Array.from({ length: count }, () => (2 * random() - 1) * bound);

function buildModel() {
  const graph = new Graph();
  const label = ops.placeholder(graph, { name: 'label' });
  const features = new FeatureFactory();
  const inputs = ['user', 'item'].map((name) => {
    const slot = features.createFeatureSlot({
      name,
      slotId: SLOTS[name],
      defaultVecOptimizer: sparse.adagrad({ learningRate: 0.05, initialAccumulatorValue: 1e-6 }),
    });
    return { slot, slice: slot.addFeatureSlice(dim), ids: ops.raggedPlaceholder(graph, { name, valuesPerRow: 1 }) };
  });
  // Slots and slices first, lookups after: the slices decide the width of a row.
  const columns = inputs.map(({ slot, ids }) => features.createFeatureColumn(slot, ids));
  const embedded = ops.concatColumns(columns.map((column, i) => column.embeddingLookup(inputs[i].slice)));

  const w1 = ops.variable(graph, {
    name: 'w1',
    shape: [2 * dim, hidden],
    initial: () => uniform(2 * dim * hidden, 0.5),
  });
  const b1 = ops.variable(graph, { name: 'b1', shape: [hidden], initial: () => new Float32Array(hidden) });
  const w2 = ops.variable(graph, { name: 'w2', shape: [hidden, 1], initial: () => uniform(hidden, 0.5) });
  const logit = ops.matMul(ops.relu(ops.addBias(ops.matMul(embedded, w1), b1)), w2, { name: 'logit' });
  const pred = ops.sigmoid(logit, { name: 'pred' });
  const loss = ops.reduceMean(losses.sigmoidCrossEntropyWithLogits(logit, label), { name: 'loss' });

  const lookups = columns.map((column) => column.getAllEmbeddingsConcat());
  const weights = [w1, b1, w2];
  const grads = ops.gradients([loss], [...lookups, ...weights]);
  const updates = [
    ...features.applyEmbeddingGradients(columns.map((column, i) => [grads[i], column])),
    ...optim.applyGradients(
      weights.map((weight, i) => [grads[columns.length + i], weight]),
      optim.adagrad({ learningRate: 0.05 }),
    ),
  ];
  const trainOp = ops.group(graph, [ops.increment(ops.globalStep(graph)), ...updates], { name: 'train_op' });
  return { name: 'own-model', graph, label, pred, loss, trainOp };
}

const schema = [
  { name: 'label', kind: 'dense', width: 1 },
  { name: 'user', kind: 'ragged' },
  { name: 'item', kind: 'ragged' },
];
const onePerExample = Int32Array.from({ length: batchSize + 1 }, (_, row) => row);

function makeBatch() {
  const draw = (count) => Array.from({ length: batchSize }, () => Math.floor(random() * count));
  const [user, item] = [draw(users), draw(items)];
  const sameColour = (_, row) => (user[row] % colours === item[row] % colours ? 1 : 0);
  const idsOf = (slot, list) => BigInt64Array.from(list, (id) => tables.fidV2(slot, BigInt(id)));
  return {
    rows: batchSize,
    feeds: [
      { kind: 'dense', values: Float32Array.from({ length: batchSize }, sameColour) },
      { kind: 'ragged', splits: onePerExample, values: idsOf(SLOTS.user, user) },
      { kind: 'ragged', splits: onePerExample, values: idsOf(SLOTS.item, item) },
    ],
  };
}

const model = buildModel();
const fetches = [model.loss];
const report = {
  quietSteps: () => Number.POSITIVE_INFINITY, // nothing to do in between: hearing of the steps later is fine
  beforeRun: () => fetches,
  afterRun: ({ globalStep }, [loss]) => {
    if (globalStep % Math.ceil(steps / 4) === 0) console.log(`step ${globalStep}: loss ${loss.toFixed(4)}`);
  },
};
const trainer = await LocalTrainer.create({
  model,
  modelDir: null,
  steps,
  hooks: [report],
  session: { schema, batchSize },
});
try {
  const batches = data.loadBatches(
    trainer.session,
    Array.from({ length: 200 }, () => makeBatch()),
  );
  const heldOut = batches.splice(0, 20);
  let at = 0;
  await trainer.train({ next: () => batches[at++ % batches.length], batchesAhead: Number.POSITIVE_INFINITY });
  const { auc, loss } = await evaluate(trainer.session, model, heldOut);
  console.log(`held out: AUC ${auc.toFixed(4)}, loss ${loss.toFixed(4)}`);
  const [table] = model.graph.getCollection(graphs.TABLES);
  console.log(`${tables.HashTable.of(trainer.session, table).size} rows for ${users} users and ${items} items`);
} finally {
  await trainer.close();
}
