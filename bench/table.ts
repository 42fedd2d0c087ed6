/**
 * @file Measures embedding tables against a native twin: `npm run bench -- table [--quick --json]`.
 *
 * Lookups pooled in bags of four and updates of unique ids, on tables far larger than any cache. Both sides count CPU
 * time and take turns, round by round; a ratio is the median over rounds of WASM time divided by native time, so that 1
 * is as fast as native and less is faster. The speed-up of two threads is one thread's CPU time divided by that of the
 * slower of two, which others on the machine disturb less than the time that passes; but threads that rarely run at the
 * same time do not compete for memory either, so it counts only where others leave both cores alone. What others used
 * includes the twin, about a quarter of a core.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RandomUniformInitializer } from '../src/sparse/config/initializers.js';
import { AdagradOptimizer, AdamOptimizer, FtrlOptimizer } from '../src/sparse/config/optimizers.js';
import { defineTable } from '../src/sparse/config/table-config.js';
import { benchMain, type Machine, machine, machineText, table } from './harness.js';
import { medianOf, type RoundOptions, ratioOf, takeTurns } from './rounds.js';
import { batchFile, DISTRIBUTIONS, type Distribution, drawBatches, tableIds } from './table-ids.js';
import { compileTable, type NativeTable, startTable } from './table-native.js';
import { BAG, TableSystem } from './table-system.js';

const SEED = 20240611;

interface Group {
  readonly dim: 16 | 64;
  readonly optimizer: keyof typeof OPTIMIZERS;
  readonly rows: number;
}
interface Size {
  readonly memoryBytes: number;
  readonly arenaBytes: number;
  readonly batches: number;
  readonly batchIds: number;
  readonly rounds: RoundOptions;
  readonly groups: readonly Group[];
}
const FULL: Size = {
  memoryBytes: 4 * 2 ** 30,
  arenaBytes: 192 << 20,
  batches: 16,
  batchIds: 65536,
  rounds: { rounds: 5, roundsMax: 9 },
  groups: [
    { dim: 16, optimizer: 'adagrad', rows: 10_000_000 },
    { dim: 64, optimizer: 'adagrad', rows: 4_000_000 },
    { dim: 16, optimizer: 'ftrl', rows: 10_000_000 },
    { dim: 64, optimizer: 'ftrl', rows: 4_000_000 },
    { dim: 16, optimizer: 'adam', rows: 10_000_000 },
    { dim: 64, optimizer: 'adam', rows: 4_000_000 },
  ],
};
const QUICK: Size = {
  memoryBytes: 64 << 20,
  arenaBytes: 16 << 20,
  batches: 2,
  batchIds: 4096,
  rounds: { rounds: 1, roundsMax: 1 },
  groups: [
    { dim: 16, optimizer: 'adagrad', rows: 20_000 },
    { dim: 64, optimizer: 'ftrl', rows: 5_000 },
    { dim: 16, optimizer: 'adam', rows: 5_000 },
  ],
};

/** Optimizers with the constants of bench/native/table.cpp. */
const OPTIMIZERS = {
  adagrad: AdagradOptimizer({ learningRate: 0.05, initialAccumulatorValue: 0.1 }),
  ftrl: FtrlOptimizer({
    learningRate: 0.05,
    initialAccumulatorValue: 0.1,
    beta: 1,
    l1Regularization: 0.001,
    l2Regularization: 0.01,
  }),
  adam: AdamOptimizer({ learningRate: 0.05, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }),
};
/** Floats of state per weight; Adam keeps two more per row. */
const STATE_FLOATS = { adagrad: 1, ftrl: 2, adam: 2 } as const;
const BARS = {
  pool: { uniform: 1.5, 'zipf 1.1': 1.25 },
  adagrad: 1.8,
  ftrl: 2,
  adam: 2,
  threads: 1.7,
  bytes: 1.35,
} as const;

export interface Result {
  readonly name: string;
  readonly wasmNs: number;
  readonly nativeNs?: number;
  /** Accepted are `bar` and less. */
  readonly ratio?: number;
  readonly bar: number;
  /** Speed of two threads over one; accepted are `threadsBar` and more. */
  readonly speedUp: number;
  readonly wallSpeedUp: number;
  readonly threadsBar: number;
  readonly foreignShare: number;
}
/** Heap bytes of a table over the bytes of its weights and state. */
export interface Bytes {
  readonly name: string;
  readonly bytesPerRow: number;
  readonly ratio: number;
  readonly bar?: number;
}
export interface Report extends Machine {
  readonly seed: number;
  readonly native: string;
  readonly results: readonly Result[];
  readonly bytes: readonly Bytes[];
}

/** Runs all cases and returns the numbers; prints nothing. */
export async function runTableBench({ quick = false }: { quick?: boolean } = {}): Promise<Report> {
  const size = quick ? QUICK : FULL;
  const dir = mkdtempSync(join(tmpdir(), 'monolith-bench-'));
  const system = await TableSystem.create(size.memoryBytes, size.arenaBytes);
  try {
    const { program, text } = compileTable(dir, quick);
    const results: Result[] = [];
    const bytes: Bytes[] = [];
    for (const group of size.groups) {
      const native = await build(group, size, system, dir, program);
      try {
        bytes.push(bytesOf(group, system));
        for (const [index, distribution] of DISTRIBUTIONS.entries()) {
          // Pooling reads weights alone: the state of another optimizer changes nothing about it.
          const kinds = (['pool', 'update', 'train'] as const).slice(group.optimizer === 'adagrad' ? 0 : 1);
          for (const kind of kinds) {
            results.push(await measure({ kind, group, distribution, index, rounds: size.rounds }, system, native));
          }
        }
      } finally {
        await native?.close();
      }
    }
    return { ...machine(), seed: SEED, native: text, results, bytes };
  } finally {
    await system.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Makes the table of a group on both sides, and its batches. */
async function build(group: Group, size: Size, system: TableSystem, dir: string, program: string | undefined) {
  const { dim, optimizer, rows } = group;
  const segments = [{ dim, initializer: RandomUniformInitializer(-0.05, 0.05), optimizer: OPTIMIZERS[optimizer] }];
  const ids = tableIds(rows);
  system.build(defineTable('bench', segments), ids, size.batchIds);
  const idFile = join(dir, 'ids');
  writeFileSync(idFile, ids);
  const files = DISTRIBUTIONS.flatMap((distribution, index) => {
    const common = { distribution, rows, count: size.batches, size: size.batchIds };
    const pool = drawBatches({ ...common, unique: false }, SEED + index);
    const updates = drawBatches({ ...common, unique: true }, SEED + 2 + index);
    system.place(distribution, pool, updates);
    return [pool, updates].map((batches, kind) => {
      const file = join(dir, `batches-${index}-${kind}`);
      writeFileSync(file, batchFile(batches));
      return file;
    });
  });
  if (program === undefined) return undefined;
  return startTable(program, [dim, optimizer, rows, idFile, BAG, ...files]);
}

function bytesOf({ dim, optimizer, rows }: Group, system: TableSystem): Bytes {
  const bytesPerRow = system.heapBytes / system.rows;
  const payload = 4 * (dim * (1 + STATE_FLOATS[optimizer]) + (optimizer === 'adam' ? 2 : 0));
  const one = { name: `${rows} rows, dim ${dim}, ${optimizer}`, bytesPerRow, ratio: bytesPerRow / payload };
  return dim === 16 && optimizer === 'adagrad' ? { ...one, bar: BARS.bytes } : one;
}

const LABELS = {
  pool: () => `pool bags of ${BAG}`,
  update: (optimizer: string) => `${optimizer} with lookup`,
  /** The steps of training, with ids dealt to owners between lookup and update; the twin does without. */
  train: (optimizer: string) => `find, deal, ${optimizer}`,
};

interface Measurement {
  readonly kind: keyof typeof LABELS;
  readonly group: Group;
  readonly distribution: Distribution;
  readonly index: number;
  readonly rounds: RoundOptions;
}

async function measure(
  { kind, group, distribution, index, rounds: options }: Measurement,
  system: TableSystem,
  native: NativeTable | undefined,
): Promise<Result> {
  const wasm = (threads: 1 | 2) => () => system[kind](distribution, threads);
  const twin = async () => {
    const measured = kind === 'pool' ? native!.run('pool', index * 2) : native!.run('update', index * 2 + 1);
    return { wallNs: 0, ...(await measured) };
  };
  const systems = [wasm(1), wasm(2), ...(native ? [twin] : [])];
  // The first calls run baseline code and meet cold memory; they also tell whether both sides compute the same.
  const first = await Promise.all([await wasm(1)(), await wasm(2)(), native ? await twin() : undefined]);
  const sums = first.filter((one) => one !== undefined).map(({ checksum }) => checksum);
  // Rows were stepped before on either side, with and without fused multiply-add, and not as often.
  if (kind === 'pool' && index === 0) agree(sums);
  const rounds = await takeTurns(systems, options);
  const cpuNs = (one: { ns: number }) => one.ns;
  return {
    name: `${LABELS[kind](group.optimizer)}, dim ${group.dim}, ${group.rows} rows, ${distribution}`,
    wasmNs: medianOf(rounds, 0, cpuNs),
    ...(native ? { nativeNs: medianOf(rounds, 2, cpuNs), ratio: ratioOf(rounds, 0, 2, cpuNs) } : {}),
    bar: kind === 'pool' ? BARS.pool[distribution] : BARS[group.optimizer],
    speedUp: ratioOf(rounds, 0, 1, cpuNs),
    wallSpeedUp: ratioOf(rounds, 0, 1, ({ wallNs }) => wallNs),
    threadsBar: BARS.threads,
    foreignShare: rounds.foreignShare,
  };
}

function agree(sums: readonly number[]): void {
  const [least, most] = [Math.min(...sums), Math.max(...sums)];
  if (most - least > 1e-4 * most) throw new Error(`the sides pool different sums: ${sums.join(', ')}`);
}

function text(report: Report): string {
  const head = ['case', 'ns/id', 'native', 'ratio', 'bar', '2 threads', 'by wall', 'bar', 'others'];
  const number = (value: number | undefined) => value?.toFixed(2) ?? '-';
  const rows = report.results.map((r) => [
    r.name,
    number(r.wasmNs),
    number(r.nativeNs),
    number(r.ratio),
    `<= ${r.bar}`,
    number(r.speedUp),
    number(r.wallSpeedUp),
    `>= ${r.threadsBar}`,
    number(r.foreignShare),
  ]);
  const bytes = report.bytes.map(({ name, bytesPerRow, ratio, bar }) => [
    name,
    bytesPerRow.toFixed(1),
    number(ratio),
    bar === undefined ? '' : `<= ${bar}`,
  ]);
  return [
    `${machineText(report)}, seed ${report.seed}, native: ${report.native}`,
    table(head, rows),
    '',
    table(['memory', 'bytes/row', '/ weights and state', 'bar'], bytes),
  ].join('\n');
}

await benchMain(import.meta.url, runTableBench, text);
