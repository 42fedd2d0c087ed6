/**
 * @file People in the shape of the census data that is called Adult: who earns more than 50K. Wide & deep over numbers
 * and a few columns of words, with a label that is a text.
 *
 * Run it from a checkout after `npm ci`: `node examples/census.mjs [thousands of people]`.
 */
import { defineSchema, Estimator, f, metrics, zoo } from 'monolith-ts';

const count = 1000 * Number(process.argv[2] ?? 40);
const words = {
  workclass: ['private', 'government', 'self-employed', 'none'],
  education: ['school', 'college', 'bachelor', 'master', 'doctor'],
  marital: ['single', 'married', 'divorced', 'widowed'],
  occupation: ['sales', 'tech', 'craft', 'service', 'farming', 'clerical', 'executive', 'transport'],
  relationship: ['own-child', 'husband', 'wife', 'not-in-family'],
  country: Array.from({ length: 40 }, (_, number) => `country-${number + 1}`),
};

let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const oneOf = (list) => list[Math.floor(list.length * random() ** 1.5)];

function person() {
  const row = Object.fromEntries(Object.entries(words).map(([name, list]) => [name, oneOf(list)]));
  row.age = Math.floor(18 + 60 * random());
  row.hours = Math.floor(20 + 40 * random());
  row.gain = random() < 0.92 ? 0 : Math.floor(20_000 * random());
  const learnt = words.education.indexOf(row.education);
  const settled = row.marital === 'married';
  const leads = row.occupation === 'executive' || row.occupation === 'tech';
  const logit =
    -4 +
    1.6 * settled +
    0.6 * learnt +
    (leads ? 0.5 * learnt : 0) + // a degree counts for more in some jobs
    0.05 * (row.hours - 40) -
    0.0025 * (row.age - 48) ** 2 +
    0.0006 * row.gain;
  row.chance = 1 / (1 + Math.exp(-logit));
  row.income = random() < row.chance ? '>50K' : '<=50K';
  if (random() < 0.05) row.workclass = null; // not told
  return row;
}

const people = Array.from({ length: count }, person);
const test = people.splice(0, count / 10);
const validation = people.splice(0, count / 10);

const schema = defineSchema({
  income: f.label({ positive: ['>50K'] }),
  ...Object.fromEntries(Object.keys(words).map((name) => [name, f.id()])),
  age: f.number(),
  hours: f.number(),
  gain: f.number({ map: Math.log1p }),
});
const estimator = new Estimator(zoo.wideAndDeep(schema, { dim: 4 }), { batchSize: 128, seed: 1 });
await estimator.train(people, { epochs: 8, evaluate: { data: validation, stopEarly: { metric: 'auc', patience: 2 } } });

const { metrics: found, loss } = await estimator.evaluate(test);
const known = metrics.auc(
  Float32Array.from(test, ({ income }) => (income === '>50K' ? 1 : 0)),
  Float32Array.from(test, ({ chance }) => chance),
);
console.log(
  `held out: AUC ${found.auc.toFixed(4)}, loss ${loss.toFixed(4)}; the best that can be: ${known.toFixed(4)}`,
);
await estimator.close();
