/**
 * @file Grows one table past what one memory holds: `npm run bench -- scale [--rows 40000000 --quick --json]`.
 *
 * Batches of new ids are stepped by Adagrad into a table that is spread over as many memories as its budget needs. What
 * is looked at: every row is there with its value, bytes against what `monolith plan` foretells, and the longest batch
 * beside the usual one, since a table that stopped to move all of its index would show it there.
 */
import { TABLE_BYTES_MAX } from '../src/memory/table-layout.js';
import { TableMemory } from '../src/runtime/tables/table-memory.js';
import { ZerosInitializer } from '../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../src/sparse/config/optimizers.js';
import { defineTable } from '../src/sparse/config/table-config.js';
import { tableSize } from '../src/sparse/config/table-size.js';
import { HashTable } from '../src/sparse/table/hash-table.js';
import { benchMain, type Machine, machine, machineText, median, table as textTable } from './harness.js';

const DIM = 16;
const BATCH = 16384;
/** An odd factor: i times it gives each id once, scattered over all 64 bits. */
const SPREAD = 0x9e3779b97f4a7c15n;

export interface ScaleReport extends Machine {
  readonly rows: number;
  readonly banks: number;
  /** Bytes of keys, rows, state and slack, in all banks. */
  readonly bytes: number;
  readonly foretoldBytes: number;
  /** Bytes over those of weights and state. */
  readonly ratio: number;
  readonly batch: number;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly rowsPerS: number;
  readonly residentBytes: number;
  /** Rows of a sample that were not what they should be. */
  readonly wrong: number;
}

export interface ScaleOptions {
  readonly rows?: number;
  readonly quick?: boolean;
  readonly bankBytes?: number;
}

function batchIds(from: number, count: number): BigInt64Array {
  return BigInt64Array.from({ length: count }, (_, i) => BigInt.asIntN(64, BigInt(from + i + 1) * SPREAD));
}

export async function runScaleBench(options: ScaleOptions): Promise<ScaleReport> {
  const { quick = false, rows = quick ? 100_000 : 40_000_000 } = options;
  const bankBytes = options.bankBytes ?? (quick ? 8 << 20 : undefined);
  const shape = { rows, dim: DIM, stateFloats: DIM, threads: 1 };
  const foretold = tableSize(shape);
  // Calls need some memory of their own to stage ids in, and small tables vary more than large ones.
  const budgetBytes = Math.min(Math.ceil(foretold.budgetBytes * 1.1) + (8 << 20), TABLE_BYTES_MAX);
  const memory = await TableMemory.create({ budgetBytes, ...(bankBytes !== undefined && { bankBytes }) });
  const optimizer = AdagradOptimizer({ learningRate: 1, initialAccumulatorValue: 0 });
  const config = defineTable('scale', [{ dim: DIM, initializer: ZerosInitializer(), optimizer }]);
  const table = HashTable.create(memory, config);
  const times: number[] = [];
  for (let from = 0; from < rows; from += BATCH) {
    const ids = batchIds(from, Math.min(BATCH, rows - from));
    const gradients = new Float32Array(ids.length * DIM).fill(-1);
    const start = performance.now();
    table.optimize(ids, gradients);
    times.push(performance.now() - start);
  }
  const bytes = memory.usedBytes;
  return {
    ...machine(),
    rows: table.size,
    banks: memory.banks.length,
    bytes,
    foretoldBytes: foretold.totalBytes,
    ratio: bytes / (rows * DIM * 8),
    batch: BATCH,
    medianMs: median(times),
    slowestMs: Math.max(...times),
    rowsPerS: rows / (times.reduce((sum, ms) => sum + ms, 0) / 1000),
    residentBytes: process.memoryUsage().rss,
    wrong: countWrong(table, rows),
  };
}

/** A first step of Adagrad from nothing, by a gradient of -1 at rate 1, is exactly 1. */
function countWrong(table: HashTable, rows: number): number {
  let wrong = 0;
  const step = Math.max(1, Math.floor(rows / 50));
  for (let from = 0; from < rows; from += step) {
    const ids = batchIds(from, Math.min(100, rows - from));
    const values = table.lookup(ids);
    for (let i = 0; i < ids.length; i++) if (values.subarray(i * DIM, (i + 1) * DIM).some((x) => x !== 1)) wrong++;
  }
  return wrong;
}

function text(report: ScaleReport): string {
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const lines: [string, string][] = [
    ['rows, all looked up in samples', `${report.rows}, ${report.wrong} wrong`],
    ['memories', String(report.banks)],
    ['bytes', `${mib(report.bytes)}, ${report.ratio.toFixed(2)} of weights and state`],
    ['foretold by plan', mib(report.foretoldBytes)],
    ['resident', mib(report.residentBytes)],
    [`median batch of ${report.batch}`, `${report.medianMs.toFixed(2)} ms`],
    ['slowest batch', `${report.slowestMs.toFixed(2)} ms`],
    ['new rows per second', report.rowsPerS.toFixed(0)],
  ];
  return `${machineText(report)}\n${textTable(['growing one table', ''], lines)}`;
}

const rowsFlag = process.argv.indexOf('--rows');
await benchMain(
  import.meta.url,
  ({ quick }) => runScaleBench({ quick, ...(rowsFlag > 0 && { rows: Number(process.argv[rowsFlag + 1]) }) }),
  text,
);
