/**
 * @file Clicks in the shape of Criteo: 13 counts, some of them missing, and 26 columns of texts that are ids. DeepFM
 * with the counts as logarithms.
 *
 * Run it from a checkout after `npm ci`: `node examples/criteo.mjs [thousands of rows]`.
 */
import { defineSchema, Estimator, f, metrics, zoo } from 'monolith-ts';

const count = 1000 * Number(process.argv[2] ?? 100);
const sizes = Array.from({ length: 26 }, (_, column) => Math.round(3 * 1.42 ** column)); // 3 to 19,000 ids
const numbers = Array.from({ length: 13 }, (_, column) => `I${column + 1}`);
const texts = Array.from({ length: 26 }, (_, column) => `C${column + 1}`);

/** A number from -1 to 1 that belongs to some ids. */
function trait(...ids) {
  let hash = 7;
  for (const id of ids) hash = Math.imul(hash ^ (id + 1) ^ (hash >>> 15), 0x9e3779b1);
  return ((Math.imul(hash ^ (hash >>> 13), 0x85ebca6b) >>> 8) / 2 ** 24) * 2 - 1;
}
let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

function impression() {
  const row = {};
  let logit = -1.2;
  for (const [column, name] of numbers.entries()) {
    const value = Math.floor(Math.exp(6 * random() ** 2) - 1);
    row[name] = random() < 0.1 ? null : value; // missing, as in life
    if (row[name] !== null) logit += 0.25 * trait(column, 1) * (Math.log1p(value) - 2);
  }
  const ids = sizes.map((size) => Math.floor(size * random() ** 3));
  for (const [column, id] of ids.entries()) {
    row[texts[column]] = (id * 2654435761 + column).toString(16);
    logit += 0.5 * trait(column, id, 2);
  }
  // What an ad is and where it stands count together: sums of single columns do not see it.
  for (const [one, other] of [
    [0, 5],
    [3, 8],
    [6, 10],
  ])
    logit += 1.5 * trait(ids[one], ids[other], one, 3);
  row.chance = 1 / (1 + Math.exp(-logit));
  row.click = random() < row.chance ? 1 : 0;
  return row;
}

const rows = Array.from({ length: count }, impression);
const test = rows.splice(0, count / 10);

const counts = Object.fromEntries(numbers.map((name) => [name, f.number({ map: Math.log1p })]));
const ids = Object.fromEntries(texts.map((name) => [name, f.id()]));
const schema = defineSchema({ click: f.label(), ...counts, ...ids });
const estimator = new Estimator(zoo.deepfm(schema, { dim: 8 }), { batchSize: 128, seed: 1 });
const run = await estimator.train(rows, { epochs: 1 });

const { metrics: found, loss } = await estimator.evaluate(test);
const known = metrics.auc(
  Float32Array.from(test, ({ click }) => click),
  Float32Array.from(test, ({ chance }) => chance),
);
console.log(
  `held out: AUC ${found.auc.toFixed(4)}, loss ${loss.toFixed(4)}; the best that can be: ${known.toFixed(4)}`,
);
console.log(`${Math.round(run.examplesPerSecond).toLocaleString('en-US')} rows/s of 39 features`);
await estimator.close();
