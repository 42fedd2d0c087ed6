/**
 * @file What somebody looked at before says what they look at next: a deep interest network (DIN), which weighs each
 * item of the history by how much it has to do with the item at hand.
 *
 * The same rows are given to a model without the history too: what is learnt from it is the difference.
 * Run it from a checkout after `npm ci`: `node examples/sequence.mjs [thousands of rows]`.
 */
import { defineSchema, Estimator, f, zoo } from 'monolith-ts';

const count = 1000 * Number(process.argv[2] ?? 40);
const [items, kinds, longest] = [400, 20, 12];

let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const draw = (most) => Math.floor(most * random());

/** Somebody with two interests among the kinds of items: an item of one of them is looked at, mostly. */
function visit() {
  const interests = [draw(kinds), draw(kinds)];
  const history = Array.from({ length: 3 + draw(longest - 2) }, () => {
    const kind = random() < 0.85 ? interests[draw(2)] : draw(kinds);
    return kind + kinds * draw(items / kinds);
  });
  const fits = random() < 0.5;
  const item = (fits ? interests[draw(2)] : draw(kinds)) + kinds * draw(items / kinds);
  return { item, history, hour: draw(24), looked: random() < (fits ? 0.9 : 0.1) ? 1 : 0 };
}

const visits = Array.from({ length: count }, visit);
const test = visits.splice(0, count / 10);
const schema = defineSchema({
  item: f.id(),
  history: f.ids({ max: longest }),
  hour: f.id(),
  looked: f.label(),
});

async function heldOut(model) {
  const estimator = new Estimator(model, { batchSize: 128, seed: 1 });
  await estimator.train(visits, { epochs: 3 });
  const { metrics, loss } = await estimator.evaluate(test);
  await estimator.close();
  return { auc: metrics.auc, loss };
}

const without = await heldOut(zoo.deepfm(schema, { features: ['item', 'hour'], dim: 8 }));
console.log(`without the history: AUC ${without.auc.toFixed(4)}`);
const din = await heldOut(zoo.din(schema, { target: 'item', history: 'history', dim: 8 }));
console.log(`held out: AUC ${din.auc.toFixed(4)}, loss ${din.loss.toFixed(4)}`);
