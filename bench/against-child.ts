/**
 * @file One turn of `bench -- against`: what a checkout of this project does, measured in a process of its own.
 *
 *   against-child.js CHECKOUT table   its tables, by the public calls: CPU time per id of each case; `quick`, few ids
 *   against-child.js CHECKOUT ctr …   its `bench -- ctr` with these options, and the CPU time of the whole process
 *
 * A checkout may be older than this file: names are looked for where they stand and where they stood.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Package from '../src/index.js';
import { cpuNsPerCall } from './harness.js';

/** CPU time a case is measured for, after as much to warm up. */
const BUDGET_MS = 120;
const QUICK = { budgetMs: 2, share: 1 / 200 };
const CASES = [
  { dim: 16, count: 400_000 },
  { dim: 64, count: 100_000 },
] as const;
const OPTIMIZERS = [
  ['adagrad', 'AdagradOptimizer'],
  ['ftrl', 'FtrlOptimizer'],
  ['adam', 'AdamOptimizer'],
] as const;
const MEMORY_BYTES = 2 ** 30;

type Tables = Pick<typeof Package.tables, 'defineTable' | 'HashTable' | 'TableMemory'>;
type Optimizer = typeof Package.sparse.adagrad;

/** Ids as people have them, in an order of their own: no two alike. */
function spreadIds(count: number, seed: bigint): BigInt64Array {
  return BigInt64Array.from({ length: count }, (_, i) => BigInt.asIntN(64, (BigInt(i) + seed) * 0x9e3779b97f4a7c15n));
}

async function measureTables(checkout: string, quick: boolean): Promise<Record<string, number>> {
  const budgetMs = quick ? QUICK.budgetMs : BUDGET_MS;
  const found = await import(pathToFileURL(join(checkout, 'build/src/index.js')).href);
  const { HashTable, TableMemory, defineTable }: Tables = found.tables ?? found;
  const results: Record<string, number> = {};
  for (const { dim, count: full } of CASES) {
    const count = quick ? full * QUICK.share : full;
    const ids = spreadIds(count, 1n);
    const values = new Float32Array(count * dim).fill(0.01);
    const insertions: number[] = [];
    for (const [name, older] of OPTIMIZERS) {
      const optimizer: Optimizer = found.sparse?.[name] ?? found[older];
      const memory = await TableMemory.create({ budgetBytes: MEMORY_BYTES });
      const make = (table: string) =>
        HashTable.create(memory, defineTable(table, [{ dim, optimizer: optimizer({ learningRate: 0.01 }) }]));
      const table = make('kept');
      table.assign(ids, values);
      const nsPerId = (call: () => void): number => {
        cpuNsPerCall(call, budgetMs);
        return cpuNsPerCall(call, budgetMs) / count;
      };
      results[`dim ${dim}, update ${name}`] = nsPerId(() => table.optimize(ids, values));
      if (name !== 'adagrad') continue;
      results[`dim ${dim}, lookup`] = nsPerId(() => table.lookup(ids));
      results[`dim ${dim}, assign again`] = nsPerId(() => table.assign(ids, values));
      for (let turn = 0; turn < 8; turn++) {
        const fresh = make(`fresh${turn}`);
        const begin = process.cpuUsage();
        fresh.assign(ids, values);
        const { user, system } = process.cpuUsage(begin);
        // The first ones run code that is not optimized yet.
        if (turn >= 3) insertions.push(((user + system) * 1000) / count);
        fresh.dispose();
      }
      results[`dim ${dim}, new ids`] = insertions.toSorted((a, b) => a - b)[insertions.length >> 1]!;
    }
  }
  return results;
}

const [checkout = '.', what, ...rest] = process.argv.slice(2);
if (what === 'table') console.log(JSON.stringify(await measureTables(checkout, rest.includes('quick'))));
else {
  const module = join(checkout, 'build/bench/ctr.js');
  process.argv.splice(1, process.argv.length, module, ...rest);
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify({ cpu_s: (user + system) / 1e6 }));
  });
  await import(pathToFileURL(module).href);
}
