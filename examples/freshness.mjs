/**
 * @file What freshness is worth: clicks whose taste drifts, one training that sees them once, and three servers that
 * take what it learnt at three intervals. Each is asked about the next batch before the training sees it.
 *
 * Run it from a checkout after `npm ci`: `node examples/freshness.mjs [thousands of clicks] [seeds] [folder]`. With a
 * folder, the table and a plot of it are in its report.html.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineModel, defineSchema, Estimator, f, metrics, ops, sparse } from 'monolith-ts';
import { DeltaHook, Follower, reportFreshness, ServedModel } from 'monolith-ts/serve';

const [thousands = 60, seeds = 3] = process.argv.slice(2, 4).map(Number);
const folder = process.argv[4];
const batchSize = 250;
const steps = Math.floor((thousands * 1000) / batchSize);
const [users, items] = [200, 100];
/** Steps between two looks of a server: the paper's minutes, hours and a day. */
const INTERVALS = [1, 8, 32];
/** Steps in which a taste comes and goes. */
const PERIOD = 64;
/** Answers of the beginning, when nobody knows anything, are left out. */
const WARM_UP = 32;

const schema = defineSchema({ user: f.id(), item: f.id(), click: f.label() });
const model = defineModel(schema, { name: 'drift' }, ({ user, item }, m) => {
  const [ofUser, ofItem] = m.embed([user, item], { dim: 1, optimizer: sparse.sgd({ learningRate: 20 }) });
  return m.binary(ops.add(ofUser, ofItem));
});

/** Clicks in their order: what an item is worth goes up and down, each at its own time. */
function clicks(seed) {
  let state = seed * 7919;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const phase = Array.from({ length: items }, random);
  const liking = Array.from({ length: users }, () => random() - 0.5);
  return Array.from({ length: steps * batchSize }, (_, at) => {
    const [user, item] = [Math.floor(users * random()), Math.floor(items * random())];
    const score = liking[user] + 3 * Math.sin(2 * Math.PI * (at / batchSize / PERIOD + phase[item]));
    return { user, item, click: random() < 1 / (1 + Math.exp(-score)) ? 1 : 0 };
  });
}

/** A server that takes what was learnt every so many steps, and the answers it gave. */
async function serverOf(dir, every) {
  const served = await ServedModel.open('drift', dir, { pollMs: 0, load: { session: { memoryBytes: 2 ** 26 } } });
  const follower = new Follower(served);
  const [labels, scores] = [[], []];
  return {
    async ask(step, rows) {
      if (step % every === 0) await follower.refresh();
      if (step < WARM_UP) return;
      labels.push(...rows.map(({ click }) => click));
      scores.push(...(await served.current.model.predict(rows.map(({ user, item }) => ({ user, item })))));
    },
    auc: () => metrics.auc(labels, scores),
    async close() {
      await follower.close();
      await served.close();
    },
  };
}

/** The AUC of each server over one run. */
async function aucsOf(seed) {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-freshness-'));
  const rows = clicks(seed);
  const estimator = new Estimator(model, { batchSize, threads: 1, seed, session: { memoryBytes: 2 ** 26 } });
  const fresh = new DeltaHook({ model, dir, everySteps: 1, wholeEvery: 1e9, touchedMax: 4096 });
  const servers = [];
  const asking = {
    async afterCreateSession() {
      for (const every of INTERVALS) servers.push(await serverOf(dir, every));
    },
    async afterRun({ globalStep }) {
      const next = rows.slice(globalStep * batchSize, (globalStep + 1) * batchSize);
      if (next.length > 0) for (const server of servers) await server.ask(globalStep, next);
    },
  };
  try {
    await estimator.train(rows, { epochs: 1, hooks: () => [fresh, asking] });
    return servers.map((server) => server.auc());
  } finally {
    for (const server of servers) await server.close();
    await estimator.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const table = [];
for (let seed = 1; seed <= seeds; seed++) table.push(await aucsOf(seed));
console.log(`interval  ${table.map((_, at) => `seed ${at + 1}`).join('  ')}    mean`);
const means = INTERVALS.map((every, at) => {
  const aucs = table.map((row) => row[at]);
  const mean = aucs.reduce((sum, auc) => sum + auc, 0) / aucs.length;
  console.log(`${String(every).padStart(8)}  ${aucs.map((auc) => auc.toFixed(4)).join('  ')}  ${mean.toFixed(4)}`);
  return mean;
});
const ordered = means.every((mean, at) => at === 0 || mean < means[at - 1]);
console.log(
  `the fresher, the better: ${ordered ? 'yes' : 'no'}; ${(means[0] - means.at(-1)).toFixed(4)} of AUC between them`,
);
if (folder !== undefined) {
  const points = INTERVALS.map((interval, at) => ({ interval, aucs: table.map((row) => row[at]) }));
  console.log(`plotted in ${await reportFreshness(folder, { points })}`);
}
