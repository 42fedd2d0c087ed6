/**
 * @file Measures sharding of ids against a native twin: `npm run bench -- sharding [--quick --json]`.
 *
 * Both sides take turns, round by round, on the same ids, and must agree on every offset. A ratio is the median over
 * rounds of WASM time divided by native time: CPU time per id, everything from ids to lists and offsets.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { orderFeatures } from '../src/feature/serving/feature-order.js';
import { createKernelSharding } from '../src/feature/serving/sharding-backend.js';
import { type ShardedFids, shardFidColumns } from '../src/feature/serving/sharding-sparse-fids.js';
import { Arena } from '../src/memory/arena.js';
import { mix64 } from '../src/memory/hash.js';
import { createSharedMemory } from '../src/memory/shared-memory.js';
import { view } from '../src/memory/views.js';
import { instantiateKernels } from '../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../src/runtime/backends/wasm/load-kernels.js';

const SOURCE = fileURLToPath(new URL('../../bench/native/sharding.cpp', import.meta.url));
const SEED = 20240607;
const DIM = 16;
/** Batches in turn, so that no branch predictor knows the next. */
const BATCHES = 4;

interface Size {
  readonly features: number;
  readonly fidsPerFeature: number;
  readonly distinct: number;
  readonly servers: number;
  readonly unique: boolean;
}

const FULL: readonly Size[] = [
  { features: 100, fidsPerFeature: 1024, distinct: 700, servers: 4, unique: true },
  { features: 100, fidsPerFeature: 1024, distinct: 1_000_000, servers: 4, unique: true },
  { features: 40, fidsPerFeature: 8192, distinct: 20_000, servers: 7, unique: true },
  { features: 8, fidsPerFeature: 65536, distinct: 1_000_000, servers: 8, unique: true },
  { features: 100, fidsPerFeature: 1024, distinct: 700, servers: 7, unique: false },
];
const QUICK: readonly Size[] = [{ features: 3, fidsPerFeature: 50, distinct: 30, servers: 3, unique: true }];

export interface ShardingReport {
  readonly machine: string;
  readonly node: string;
  readonly seed: number;
  readonly native: string;
  readonly results: readonly (Size & { readonly wasmNs: number; readonly nativeNs: number; readonly ratio: number })[];
}

/** Runs all sizes and returns the numbers; prints nothing. */
export async function runShardingBench({ quick = false }: { quick?: boolean } = {}): Promise<ShardingReport> {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-bench-'));
  try {
    const binary = join(dir, 'sharding');
    const flags = [quick ? '-O1' : '-O3', '-march=native', '-std=c++17', '-o', binary, SOURCE];
    const compiled = spawnSync('g++', flags, { encoding: 'utf8' });
    const works = compiled.status === 0;
    const native = works
      ? `g++ ${flags.slice(0, 2).join(' ')}`
      : `none (${compiled.error?.message ?? compiled.stderr})`;
    const results = [];
    for (const size of quick ? QUICK : FULL) results.push(await measure(size, dir, works ? binary : undefined, quick));
    return { machine: `${cpus()[0]?.model} x ${cpus().length}`, node: process.version, seed: SEED, native, results };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measure(size: Size, dir: string, binary: string | undefined, quick: boolean) {
  const { features, fidsPerFeature: n, servers, unique } = size;
  const memory = createSharedMemory(quick ? 2 << 20 : 192 << 20);
  const kernels = instantiateKernels(await compileKernels(), memory);
  const arena = new Arena('bench', 65536, memory.buffer.byteLength);
  const total = features * n;
  const ids = view(BigInt64Array, memory.buffer, arena.alloc(total * BATCHES * 8, 'ids'), total * BATCHES);
  fill(ids, size);
  const names = Array.from(
    { length: features },
    (_, f) => [`f${String(f).padStart(4, '0')}`, { table: 't', sliceDims: [DIM] }] as const,
  );
  const order = orderFeatures({ featureConfigs: new Map(names) });
  const splits = Int32Array.of(0, n);
  const batches = Array.from({ length: BATCHES }, (_, b) => ({
    batchSize: 1,
    columns: order.features.map(({ index: f }) => {
      return { shared: false, fids: ids.subarray(b * total + f * n, b * total + (f + 1) * n), splits };
    }),
  }));
  const backend = createKernelSharding(kernels, memory, arena, n);
  const mark = arena.mark();
  let turn = 0;
  const run = (batch = batches[turn++ % BATCHES]!): ShardedFids => {
    arena.release(mark);
    return shardFidColumns(batch, order, { psNum: servers, unique, backend });
  };
  const expected = checksum(run(batches[0]).fidOffset);
  const [rounds, budgetMs] = quick ? [1, 1] : [7, 60];
  time(run, total, budgetMs * 3);
  const file = join(dir, 'ids');
  writeFileSync(file, new Uint8Array(memory.buffer, ids.byteOffset, ids.byteLength));
  const pairs = Array.from({ length: rounds }, () => {
    const wasm = time(run, total, budgetMs);
    if (binary === undefined) return [wasm, Number.NaN] as const;
    const args = [file, features, n, servers, DIM, Number(unique), budgetMs].map(String);
    const [ns, sum] = execFileSync(binary, args, { encoding: 'utf8' }).trim().split(' ');
    if (sum !== String(expected)) throw new Error('the native twin gives other offsets');
    return [wasm, Number(ns)] as const;
  });
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;
  return {
    ...size,
    wasmNs: median(pairs.map(([wasm]) => wasm)),
    nativeNs: median(pairs.map(([, ns]) => ns)),
    ratio: median(pairs.map(([wasm, ns]) => wasm / ns)),
  };
}

function fill(ids: BigInt64Array, { distinct }: Size): void {
  const words = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2);
  const lanes = new Uint32Array(2);
  for (let i = 0; i < ids.length; i++) {
    mix64(i, SEED, lanes);
    mix64(lanes[0]! % distinct, 77, lanes);
    words[2 * i] = lanes[0]!;
    // Version 2 ids have bit 63 clear.
    words[2 * i + 1] = lanes[1]! & 0x7fffffff;
  }
}

function checksum(offsets: BigUint64Array): bigint {
  let sum = 0n;
  for (const word of offsets) sum = BigInt.asUintN(64, sum * 31n + word);
  return sum;
}

/** Nanoseconds of CPU time per id. */
function time(run: () => unknown, items: number, budgetMs: number): number {
  let runs = 0;
  const start = process.cpuUsage();
  let usedUs = 0;
  do {
    run();
    runs++;
    const used = process.cpuUsage(start);
    usedUs = used.user + used.system;
  } while (usedUs < budgetMs * 1000);
  return (usedUs * 1000) / runs / items;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const report = await runShardingBench({ quick: process.argv.includes('--quick') });
  if (process.argv.includes('--json')) console.log(JSON.stringify(report, undefined, 2));
  else {
    console.log(`${report.machine}, node ${report.node}, seed ${report.seed}, native: ${report.native}`);
    for (const { features, fidsPerFeature, distinct, servers, unique, wasmNs, nativeNs, ratio } of report.results) {
      const ids = `${fidsPerFeature} ids of ${distinct}`;
      const name = `${features} features x ${ids}, ${servers} servers${unique ? ', unique' : ''}`;
      const times = `${wasmNs.toFixed(2)} ns  C++ ${nativeNs.toFixed(2)} ns`;
      const numbers = `${times}  time ratio ${ratio.toFixed(2)} (bar 1.6)`;
      console.log(name.padEnd(62), numbers);
    }
  }
}
