/**
 * @file Inserts into the touched-key set against a native twin and Set<bigint>: `npm run bench -- touched`.
 *
 * Systems take turns within each round, so that whatever else the machine does meets them all. Ratios are to the native
 * twin with the same number of threads, from the same run: below 1 is faster. Options: --quick, --json, --rounds N,
 * --seed N.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machine, median, table } from './harness.js';
import {
  compileNative,
  jsSetSystem,
  nativeSystem,
  type Round,
  type Setup,
  type System,
  wasmSystem,
  writeKeys,
} from './touched-key-systems.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = Number(options.seed);
const rounds = Number(options.rounds ?? (options.quick ? 1 : 7));
const warmUps = options.quick ? 0 : 1;
const size = options.quick
  ? { capacity: 20_000, uniform: 20_000, zipf: 60_000, universe: 100_000 }
  : { capacity: 2_097_152, uniform: 2_000_000, zipf: 8_000_000, universe: 10_000_000 };
const WORKLOADS = ['uniform', 'zipf 1.1'] as const;
const THREADS = [1, 2] as const;

/** Seeded numbers in [0, 1). */
function randomOf(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** 64-bit keys, one per rank: the low half is a bijection of the rank, so ranks never share a key. */
function keysOfRanks(count: number, rankAt: (i: number) => number): BigInt64Array {
  const keys = new BigInt64Array(count);
  const halves = new Uint32Array(keys.buffer);
  for (let i = 0; i < count; i++) {
    const rank = rankAt(i);
    halves[2 * i] = Math.imul(rank ^ (rank >>> 15), 0x2c1b3c6d);
    halves[2 * i + 1] = Math.imul(rank + seed, 0x297a2d39) ^ (rank >>> 3);
  }
  return keys;
}

/** Ranks from 1 to `universe`, rank r about r^-1.1 as often as rank 1. */
function zipfRanks(universe: number, random: () => number): () => number {
  const exponent = 1.1;
  const top = universe ** (1 - exponent);
  return () => Math.floor(((top - 1) * random() + 1) ** (1 / (1 - exponent)));
}

interface Cell {
  readonly system: string;
  readonly workload: string;
  readonly keysIndex: number;
  readonly threads: number;
  readonly rounds: Round[];
}

async function measure(systems: readonly System[]): Promise<Cell[]> {
  const cells = WORKLOADS.flatMap((workload, keysIndex) =>
    THREADS.flatMap((threads) =>
      systems
        .filter((system) => threads <= system.threadsMax)
        .map((system) => ({ system: system.name, workload, threads, rounds: [] as Round[], from: system, keysIndex })),
    ),
  );
  for (let round = -warmUps; round < rounds; round++) {
    // Every other round runs backwards, so that nobody always follows the same neighbour.
    for (const cell of round % 2 === 0 ? cells : cells.slice().reverse()) {
      const result = await cell.from.run(cell.keysIndex, cell.threads);
      if (round >= 0) cell.rounds.push(result);
    }
  }
  return cells.map(({ from, ...cell }) => cell);
}

/** Numbers of a cell, and its ratios to the native twin: the median of the ratios of each round. */
function summarise(cell: Cell, cells: readonly Cell[], keyCounts: readonly number[]) {
  const native = cells.find((c) => c.system === 'native' && c.workload === cell.workload && c.threads === cell.threads);
  const medianOf = (pick: (round: Round) => number) => median(cell.rounds.map(pick));
  const ratioOf = (pick: (round: Round) => number) =>
    native ? median(cell.rounds.map((round, i) => pick(round) / pick(native.rounds[i]!))) : undefined;
  const insertMs = medianOf((r) => r.insertMs);
  return {
    workload: cell.workload,
    threads: cell.threads,
    system: cell.system,
    insertMs,
    cpuMs: medianOf((r) => r.cpuMs),
    insertsPerSecond: (keyCounts[cell.keysIndex]! / insertMs) * 1000,
    stealMs: medianOf((r) => r.stealMs),
    ratio: ratioOf((r) => r.insertMs),
    cpuRatio: ratioOf((r) => r.cpuMs),
  };
}

function text(rows: readonly ReturnType<typeof summarise>[]): string {
  const head = ['workload', 'threads', 'system', 'ms', 'cpu ms', 'M inserts/s', 'drain ms', '/ native', 'cpu / native'];
  const body = rows.map((r) => [
    r.workload,
    String(r.threads),
    r.system,
    r.insertMs.toFixed(1),
    r.cpuMs.toFixed(1),
    (r.insertsPerSecond / 1e6).toFixed(1),
    r.stealMs.toFixed(1),
    r.ratio?.toFixed(2) ?? '-',
    r.cpuRatio?.toFixed(2) ?? '-',
  ]);
  return table(head, body);
}

const say = (line: string) => process.stderr.write(`${line}\n`);
const dir = mkdtempSync(join(tmpdir(), 'touched-keys-'));
const systems: System[] = [];
try {
  const random = randomOf(seed);
  const ranks = zipfRanks(size.universe, random);
  const setup: Setup = {
    capacity: size.capacity,
    concurrencyLevel: 1024,
    keys: [keysOfRanks(size.uniform, (i) => i), keysOfRanks(size.zipf, ranks)],
    threadsMax: Math.max(...THREADS),
  };
  systems.push(await wasmSystem(setup));
  const program = compileNative(dir, say);
  if (program) {
    const files = writeKeys(setup, dir);
    for (const spacing of [1, 16]) systems.push(nativeSystem(setup, program, files, spacing));
  }
  systems.push(jsSetSystem(setup));
  const cells = await measure(systems);
  for (const workload of WORKLOADS) {
    const found = new Map(
      cells.filter((c) => c.workload === workload).flatMap((c) => c.rounds.map((r) => [r.keyCount, c.system] as const)),
    );
    if (found.size > 1) throw new Error(`systems disagree on the keys of ${workload}: ${JSON.stringify([...found])}`);
  }
  const keyCounts = setup.keys.map((k) => k.length);
  const rows = cells.map((cell) => summarise(cell, cells, keyCounts));
  const report = { bench: 'touched-keys', ...machine(), seed, rounds, ...size, rows };
  process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : `${text(rows)}\n`);
} finally {
  await Promise.all(systems.map((system) => system.close()));
  rmSync(dir, { recursive: true });
}
