/**
 * @file A table by itself, without a graph: assign, look up, train, save, restore, inspect.
 *
 * It learns how often items are clicked from a stream in which each item has a rate of its own. New items keep coming,
 * so the table grows as it goes. Run it from a checkout after `npm ci`: `node examples/table.mjs [steps]`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineTable, HashTable, restoreTable, saveTable, sparse, TableMemory, tableSize } from 'monolith-ts/tables';

const steps = Number(process.argv[2] ?? 1000);
const batchSize = 512;
/** A logit that is learned, and beside it the number of times the item was seen: a gradient of -1 at rate 1 counts. */
const segments = [
  {
    dim: 1,
    initializer: sparse.zeros(),
    optimizer: sparse.adagrad({ initialAccumulatorValue: 0.1 }),
    learningRate: 0.3,
  },
  { dim: 1, initializer: sparse.zeros(), optimizer: sparse.sgd({ learningRate: 1 }) },
];

// Room for a million such rows.
const { budgetBytes } = tableSize({ rows: 1_000_000, dim: 2, stateFloats: 1, segments: 2 });
const memory = await TableMemory.create({ budgetBytes });
const table = HashTable.create(memory, defineTable('items', segments));

/** Numbers in [0, 1) that are the same in every run. */
let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const clickRate = (item) => 0.1 + 0.8 * (((item * 37) % 101) / 100);
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** Items of a batch, the later the more of them, and whether they were clicked. */
function draw(step) {
  const items = Array.from({ length: batchSize }, () => Math.floor(random() ** 2 * (1000 + step)));
  return { ids: BigInt64Array.from(items, BigInt), clicks: items.map((item) => (random() < clickRate(item) ? 1 : 0)) };
}

const rows = new Float32Array(batchSize * table.dim);
for (let step = 1; step <= steps; step++) {
  const { ids, clicks } = draw(step);
  table.lookup(ids, rows); // an item that was never seen reads as zeros and gets no row
  let loss = 0;
  const gradients = new Float32Array(rows.length);
  clicks.forEach((click, i) => {
    const p = sigmoid(rows[2 * i]);
    loss -= Math.log(click === 1 ? p : 1 - p) / batchSize;
    gradients.set([p - click, -1], 2 * i);
  });
  table.optimize(ids, gradients, { globalStep: step, timeSec: 1_700_000_000 + step, enableDedup: true });
  if (step % Math.ceil(steps / 4) === 0) console.log(`step ${step}: loss ${loss.toFixed(4)}, ${table.size} rows`);
}

// What is known of an item may also be put in by hand: its logit, and that it was seen five times.
const known = BigInt64Array.of(1_000_000_007n);
table.assign(known, Float32Array.of(2, 5));

const dir = mkdtempSync(join(tmpdir(), 'monolith-table-'));
try {
  const saved = await saveTable(table, join(dir, 'items'));
  console.log(`saved ${saved.rows} rows, ${saved.bytes} bytes, ${saved.files.length} file`);

  // Any table with the same segments takes them, here or in another process.
  const copy = HashTable.create(memory, defineTable('copy', segments));
  await restoreTable(copy, join(dir, 'items'));
  const [logit, seen] = copy.lookup(known);
  console.log(`restored ${copy.size} rows; item ${known[0]}: p ${sigmoid(logit).toFixed(3)}, seen ${seen}`);

  // The command line reads the files without any of this.
  const monolith = fileURLToPath(new URL('cli/main.js', import.meta.resolve('monolith-ts')));
  const inspect = (...flags) => execFileSync(process.execPath, [monolith, 'inspect', join(dir, 'items'), ...flags]);
  console.log(inspect('--id', '7').toString().trimEnd());
} finally {
  rmSync(dir, { recursive: true });
}
