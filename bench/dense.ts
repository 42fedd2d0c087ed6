/**
 * @file Standing measurement of the dense kernels: WASM against the plain TypeScript reference and, where g++ exists, a
 * native twin compiled on the spot.
 *
 * `npm run bench -- dense [--quick] [--json]`. The systems take turns in every round and CPU time is what counts, so
 * other work on the machine hits them alike; the ratios are medians over the rounds of one run.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DenseCase, denseCases } from './dense-cases.js';
import { benchMain, cpuNsPerCall, type Machine, machine, machineText, median, table } from './harness.js';

const SOURCE = fileURLToPath(new URL('../../bench/native/dense.cpp', import.meta.url));

export interface DenseResult {
  readonly name: string;
  readonly unit: string;
  /** Rate of the WASM kernel. */
  readonly rate: number;
  readonly wasmNs: number;
  readonly plainNs: number;
  /** Absent without a compiler. */
  readonly nativeNs?: number;
  /** Time of the other system over time of WASM: above 1, WASM is quicker. */
  readonly plainOverWasm: number;
  readonly nativeOverWasm?: number;
}

export interface DenseReport extends Machine {
  readonly seed: number;
  readonly rounds: number;
  readonly native: boolean;
  readonly results: readonly DenseResult[];
}

/** Compiles the native twin into `dir`; its path, or undefined where there is no g++. */
function buildNative(dir: string): string | undefined {
  if (spawnSync('g++', ['--version']).status !== 0) return undefined;
  const binary = join(dir, 'dense');
  execFileSync('g++', ['-O3', '-march=native', '-fno-math-errno', '-o', binary, SOURCE]);
  return binary;
}

function measure(item: DenseCase, binary: string | undefined, rounds: number, budgetMs: number): DenseResult {
  // Warm up past the baseline compiler before the first counted round.
  cpuNsPerCall(item.wasm, budgetMs);
  const times = { wasm: [] as number[], plain: [] as number[], native: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const wasmNs = cpuNsPerCall(item.wasm, budgetMs);
    times.wasm.push(wasmNs);
    times.plain.push(cpuNsPerCall(item.plain, budgetMs) / item.plainShare);
    if (binary) {
      const calls = Math.max(1, Math.round((budgetMs * 1e6) / wasmNs));
      times.native.push(Number(execFileSync(binary, [...item.native, String(calls)], { encoding: 'utf8' })));
    }
  }
  const overWasm = (other: readonly number[]) => median(other.map((ns, round) => ns / times.wasm[round]!));
  const wasmNs = median(times.wasm);
  return {
    ...{ name: item.name, unit: item.unit, rate: item.work / wasmNs, wasmNs, plainNs: median(times.plain) },
    plainOverWasm: overWasm(times.plain),
    ...(binary ? { nativeNs: median(times.native), nativeOverWasm: overWasm(times.native) } : {}),
  };
}

/** Runs all cases. `quick` takes small sizes and one short round: it shows that everything runs, not how fast. */
export async function runDenseBench({ quick = false, seed = 1 } = {}): Promise<DenseReport> {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-bench-'));
  try {
    const binary = buildNative(dir);
    const rounds = quick ? 1 : 5;
    const cases = await denseCases(quick, seed);
    return {
      ...{ ...machine(), seed, rounds, native: binary !== undefined },
      results: cases.map((item) => measure(item, binary, rounds, quick ? 1 : 40)),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function text(report: DenseReport): string {
  const rows = report.results.map(({ name, rate, unit, plainOverWasm, nativeOverWasm }) => [
    name,
    `${rate.toFixed(2)} ${unit}`,
    plainOverWasm.toFixed(2),
    nativeOverWasm?.toFixed(2) ?? '-',
  ]);
  return [
    `${machineText(report)}, seed ${report.seed}, medians of ${report.rounds} rounds`,
    ...(report.native ? [] : ['no g++ here: the native column is left out']),
    'time of the other over time of WASM (above 1, WASM is quicker)\n',
    table(['kernel', 'wasm', 'plain/wasm', 'native/wasm'], rows),
  ].join('\n');
}

await benchMain(import.meta.url, runDenseBench, text);
