/**
 * @file Measures the sparse kernels against native twins: `npm run bench -- sparse [--quick --json]`.
 *
 * Both sides count CPU time and take turns, round by round; a ratio is the median over rounds of native time divided by
 * WASM time (1 is as fast as native, 3 is three times as fast). Where there is no g++ only WASM times are shown.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchMain, type Machine, machine, machineText, median } from './harness.js';
import { type Case, SparseBench } from './sparse-cases.js';

const SOURCE = fileURLToPath(new URL('../../bench/native/sparse.cpp', import.meta.url));
const SEED = 20240607;

export interface Result {
  readonly name: string;
  readonly wasmNs: number;
  readonly twins: readonly { readonly label: string; readonly ns: number; readonly ratio: number }[];
  readonly bar?: number;
}
export interface Report extends Machine {
  readonly seed: number;
  /** Compiler of the native twins, or why there are none. */
  readonly native: string;
  readonly results: readonly Result[];
}

type CaseMaker = (bench: SparseBench) => Case;

const FULL: readonly CaseMaker[] = [
  ...[
    [1000, 600],
    [4096, 1500],
    [16384, 16384],
    [131072, 50000],
    [1000000, 1000000],
  ].map(
    ([n, distinct]): CaseMaker =>
      (bench) =>
        bench.unique(n!, distinct!),
  ),
  ...([16, 17, 32, 64] as const).map(
    (dim): CaseMaker =>
      (bench) =>
        bench.pool(2048, 4, 4000, dim),
  ),
  (bench) => bench.pool(8192, 1, 4000, 16),
  (bench) => bench.pool(16384, 4, 500000, 16),
  ...[
    [16, 0],
    [64, 0.45],
    [256, 0.6],
    [1024, 0.65],
    [4096, 0.65],
    [65536, 0.65],
  ].flatMap(([bytes, bar]): CaseMaker[] => [
    (bench) => bench.copy('pack', bytes!, 4 << 20, bar!),
    (bench) => bench.copy('unpack', bytes!, 4 << 20, bar!),
  ]),
  (bench) => bench.copy('pack', 256, 128 << 20, 0),
  (bench) => bench.copy('pack', 1024, 128 << 20, 0),
];
const QUICK: readonly CaseMaker[] = [
  (bench) => bench.unique(500, 300),
  (bench) => bench.pool(64, 3, 50, 17),
  (bench) => bench.copy('pack', 64, 1 << 14, 0),
  (bench) => bench.copy('unpack', 2000, 1 << 14, 0),
];

/** Runs all cases and returns the numbers; prints nothing. */
export async function runSparseBench({ quick = false }: { quick?: boolean } = {}): Promise<Report> {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-bench-'));
  try {
    const native = compileNative(dir, quick);
    const bench = await SparseBench.create(quick ? 4 << 20 : 640 << 20, SEED);
    const [rounds, budgetMs] = quick ? [1, 1] : [5, 40];
    const results = (quick ? QUICK : FULL).map((make) => measure(make(bench), dir, native.binary, rounds, budgetMs));
    return { ...machine(), seed: SEED, native: native.text, results };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function compileNative(dir: string, quick: boolean): { binary?: string; text: string } {
  const binary = join(dir, 'sparse');
  const flags = [quick ? '-O1' : '-O3', '-march=native', '-std=c++17', '-o', binary, SOURCE];
  const done = spawnSync('g++', flags, { encoding: 'utf8' });
  if (done.error) return { text: `none (${done.error.message})` };
  if (done.status !== 0) return { text: `none (g++ failed: ${done.stderr.slice(0, 400)})` };
  return { binary, text: `g++ ${flags.slice(0, 2).join(' ')}` };
}

function measure(one: Case, dir: string, binary: string | undefined, rounds: number, budgetMs: number): Result {
  const file = join(dir, 'input');
  writeFileSync(file, one.input);
  // The first calls run baseline code: warm up until the optimizing compiler had its chance.
  timeWasm(one, budgetMs * 3);
  const wasm: number[] = [];
  const native = one.twins.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    wasm.push(timeWasm(one, budgetMs));
    if (binary === undefined) continue;
    one.twins.forEach(({ args: [name, ...rest] }, i) => {
      const text = execFileSync(binary, [name, file, ...rest, String(budgetMs)], { encoding: 'utf8' });
      native[i]!.push(Number(text));
    });
  }
  const twins = one.twins.map(({ label }, i) => {
    const ratios = native[i]!.map((ns, round) => ns / wasm[round]!);
    return { label, ns: median(native[i]!), ratio: median(ratios) };
  });
  const result = { name: one.name, wasmNs: median(wasm), twins: binary === undefined ? [] : twins };
  return one.bar === undefined ? result : { ...result, bar: one.bar };
}

/** Nanoseconds of CPU time per item. */
function timeWasm(one: Case, budgetMs: number): number {
  one.run();
  let runs = 0;
  const start = process.cpuUsage();
  let usedUs = 0;
  do {
    for (let i = 0; i < 4; i++, runs++) one.run();
    const used = process.cpuUsage(start);
    usedUs = used.user + used.system;
  } while (usedUs < budgetMs * 1000);
  return (usedUs * 1000) / runs / one.items;
}

function text(report: Report): string {
  const lines = report.results.map(({ name, wasmNs, twins, bar }) => {
    const columns = twins.map(({ label, ns, ratio }) => `${label} ${ns.toFixed(2)} ns, ratio ${ratio.toFixed(2)}`);
    if (bar) columns.push(`bar ${bar}`);
    return [name.padEnd(46), `${wasmNs.toFixed(2)} ns`.padStart(12), ...columns].join('  ');
  });
  return [`${machineText(report)}, seed ${report.seed}, native: ${report.native}`, ...lines].join('\n');
}

await benchMain(import.meta.url, runSparseBench, text);
