/**
 * @file A small deep model of one's own: embeddings → concat → dense layers → logit.
 *
 * Who likes what is decided by a rule no sum of per-id biases can express: a user likes items of the same colour.
 * Run it from a checkout after `npm ci`: `node examples/own-model.mjs [steps]`.
 */
import { data, defineModel, defineSchema, evaluate, f, graphs, LocalTrainer, nn, ops, tables } from 'monolith-ts';

const steps = Number(process.argv[2] ?? 600);
const batchSize = 256;
const [users, items, colours] = [500, 100, 2];

const schema = defineSchema({ user: f.id(), item: f.id(), like: f.label() });
const model = defineModel(schema, { name: 'own-model' }, ({ user, item }, m) => {
  const embedded = m.embed([user, item], { dim: 8 }); // a table for each: user 7 is not item 7
  return m.binary(nn.mlp(ops.concatColumns(embedded), [32, 1]));
}).build('train');

/** Numbers in [0, 1) that are the same in every run. */
let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const draw = (count) => Math.floor(random() * count);

function makeBatch() {
  const rows = Array.from({ length: batchSize }, () => {
    const [user, item] = [draw(users), draw(items)];
    return { user, item, like: user % colours === item % colours };
  });
  return schema.batch(data.encodeRows(schema, rows).feeds);
}

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
  const batches = data.loadBatches(trainer.session, Array.from({ length: 200 }, makeBatch));
  const heldOut = batches.splice(0, 20);
  let at = 0;
  await trainer.train({ next: () => batches[at++ % batches.length], batchesAhead: Number.POSITIVE_INFINITY });
  const { auc, loss } = await evaluate(trainer.session, model, heldOut);
  console.log(`held out: AUC ${auc.toFixed(4)}, loss ${loss.toFixed(4)}`);
  const rows = model.graph
    .getCollection(graphs.TABLES)
    .map((table) => tables.HashTable.of(trainer.session, table).size);
  console.log(`${rows.join(' and ')} rows for ${users} users and ${items} items`);
} finally {
  await trainer.close();
}
