/**
 * @file Two towers: a vector for a user, one for an item, and what is likely is near. Trained on what was bought alone,
 * with the other items of a batch as what was not; then the items nearest to each user are looked up.
 *
 * Run it from a checkout after `npm ci`: `node examples/two-towers.mjs [thousands of purchases]`.
 */
import { defineSchema, Estimator, f, zoo } from 'monolith-ts';

const count = 1000 * Number(process.argv[2] ?? 60);
const [users, items, kinds, first] = [500, 300, 15, 20];

let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const draw = (most) => Math.floor(most * random());
/** Everybody has two kinds of things they buy. */
const tastes = Array.from({ length: users }, () => [draw(kinds), draw(kinds)]);
const itemOf = (kind) => kind + kinds * draw(items / kinds);

function purchase() {
  const user = draw(users);
  const item = random() < 0.9 ? itemOf(tastes[user][draw(2)]) : draw(items);
  return { user, item, kind: item % kinds };
}

const purchases = Array.from({ length: count }, purchase);
const test = purchases.splice(0, 500);
const schema = defineSchema({ user: f.id(), item: f.id(), kind: f.id() });
const model = zoo.twoTowers(schema, { item: ['item', 'kind'], dim: 16, hidden: [32, 16] });
const estimator = new Estimator(model, { batchSize: 128, seed: 1 });
const run = await estimator.train(purchases, { epochs: 3 });
console.log(`step ${run.step}: loss ${run.loss.toFixed(4)}`);

/** Whether what a user bought is among the first items of all, by the model. */
let hits = 0;
const asked = test.slice(0, 100);
const pairs = asked.flatMap(({ user }) =>
  Array.from({ length: items }, (_, item) => ({ user, item, kind: item % kinds })),
);
const scores = new Float32Array(pairs.length);
let at = 0;
for await (const { prediction } of estimator.predict(pairs)) scores[at++] = prediction;
for (const [place, { item }] of asked.entries()) {
  const own = scores.subarray(place * items, (place + 1) * items);
  const above = own.reduce((sum, score) => sum + (score > own[item] ? 1 : 0), 0);
  if (above < first) hits++;
}
const share = hits / asked.length;
console.log(`recall at ${first} of ${items} items: ${share.toFixed(2)}; by chance ${(first / items).toFixed(2)}`);
await estimator.close();
