/** @file The systems the touched-key bench compares, behind one face: insert all keys of a set-up, then drain. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Arena } from '../src/memory/arena.js';
import { createSharedMemory } from '../src/memory/shared-memory.js';
import { touchedGeometry } from '../src/memory/touched-geometry.js';
import { TOUCHED_SCRATCH_BYTES } from '../src/memory/touched-layout.js';
import { instantiateKernels } from '../src/runtime/backends/wasm/instantiate-kernels.js';
import { compileKernels } from '../src/runtime/backends/wasm/load-kernels.js';
import { TouchedKeySet } from '../src/sparse/table/touched-key-set.js';
import type { BenchJob, BenchSpan, BenchWorkerData } from './touched-keys-worker.js';

export interface Round {
  readonly insertMs: number;
  /** Processor time of all threads: what to compare when others use the machine too. */
  readonly cpuMs: number;
  readonly stealMs: number;
  /** Distinct keys found; all systems must agree. */
  readonly keyCount: number;
}

export interface System {
  readonly name: string;
  readonly threadsMax: number;
  run(keysIndex: number, threads: number): Promise<Round>;
  close(): Promise<void>;
}

export interface Setup {
  readonly capacity: number;
  readonly concurrencyLevel: number;
  readonly keys: readonly BigInt64Array[];
  readonly threadsMax: number;
}

function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** The product: kernels called by worker threads on keys that are in shared memory. */
export async function wasmSystem({ capacity, concurrencyLevel, keys, threadsMax }: Setup): Promise<System> {
  const keyBytes = keys.reduce((sum, k) => sum + k.byteLength + 64, 0);
  const memory = createSharedMemory(touchedGeometry(capacity, concurrencyLevel).bytes + keyBytes + (1 << 20));
  const arena = new Arena('bench', 65536, memory.buffer.byteLength);
  const module = await compileKernels();
  const set = new TouchedKeySet({
    memory,
    kernels: instantiateKernels(module, memory),
    arena,
    capacity,
    concurrencyLevel,
  });
  const pointers = keys.map((k) => {
    const at = arena.alloc(k.byteLength, 'keys');
    new BigInt64Array(memory.buffer, at, k.length).set(k);
    return at;
  });
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const workers = Array.from({ length: threadsMax }, () => {
    const scratch = arena.alloc(TOUCHED_SCRATCH_BYTES, 'scratch');
    const workerData: BenchWorkerData = { module, memory, gate, set: set.handle.pointer, scratch };
    return new Worker(new URL('./touched-keys-worker.js', import.meta.url), { workerData, execArgv: [] });
  });
  return {
    name: 'wasm',
    threadsMax,
    async run(keysIndex, threads) {
      const meetAt = Atomics.load(gate, 0) + threads;
      const { length } = keys[keysIndex]!;
      const cpu = process.cpuUsage();
      const spans = await Promise.all(
        workers.slice(0, threads).map(async (worker, i) => {
          const from = Math.floor((length * i) / threads);
          const count = Math.floor((length * (i + 1)) / threads) - from;
          const answer = once(worker, 'message');
          worker.postMessage({ meetAt, keys: pointers[keysIndex]! + from * 8, count } satisfies BenchJob);
          const [span] = (await answer) as [BenchSpan];
          return span;
        }),
      );
      const insertMs = Math.max(...spans.map((s) => s.endMs)) - Math.min(...spans.map((s) => s.beginMs));
      const cpuMs = cpuMsSince(cpu);
      const begin = performance.now();
      const keyCount = set.steal().length;
      return { insertMs, cpuMs, keyCount, stealMs: performance.now() - begin };
    },
    async close() {
      const exits = workers.map((worker) => once(worker, 'exit'));
      for (const worker of workers) worker.postMessage('end');
      await Promise.all(exits);
    },
  };
}

/** What one would write without it. */
export function jsSetSystem({ keys }: Setup): System {
  return {
    name: 'Set<bigint>',
    threadsMax: 1,
    async run(keysIndex) {
      const set = new Set<bigint>();
      const cpu = process.cpuUsage();
      const begin = performance.now();
      for (const key of keys[keysIndex]!) set.add(key);
      const middle = performance.now();
      const cpuMs = cpuMsSince(cpu);
      const keyCount = BigInt64Array.from(set).length;
      return { insertMs: middle - begin, cpuMs, keyCount, stealMs: performance.now() - middle };
    },
    async close() {},
  };
}

/** Compiles the C++ twin into `dir`; undefined, with the reason told, where that cannot be done. */
export function compileNative(dir: string, say: (line: string) => void): string | undefined {
  const source = fileURLToPath(new URL('../../bench/native/touched_keys.cpp', import.meta.url));
  const program = join(dir, 'touched_keys');
  try {
    const flags = ['-std=c++17', '-O3', '-march=native', '-pthread'];
    execFileSync('g++', [...flags, source, '-o', program], { stdio: ['ignore', 'ignore', 'pipe'] });
    return program;
  } catch (error) {
    say(`native twin left out: g++ failed (${error instanceof Error ? error.message.split('\n')[0] : error})`);
    return undefined;
  }
}

/** Writes the keys to files for `nativeSystem`. Once: a process that has started may still be reading them. */
export function writeKeys({ keys }: Setup, dir: string): string[] {
  return keys.map((list, i) => {
    const file = join(dir, `keys-${i}.bin`);
    writeFileSync(file, new Uint8Array(list.buffer, list.byteOffset, list.byteLength));
    return file;
  });
}

/** The C++ twin as a process that runs a round per line; its locks are `lockSpacing` bytes apart. */
export function nativeSystem(setup: Setup, program: string, files: readonly string[], lockSpacing: number): System {
  const args = [setup.capacity, setup.concurrencyLevel, lockSpacing].map(String);
  const child: ChildProcess = spawn(program, [...args, ...files], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    name: lockSpacing === 1 ? 'native' : `native, locks ${lockSpacing} B apart`,
    threadsMax: setup.threadsMax,
    async run(keysIndex, threads) {
      child.stdin!.write(`${threads} ${keysIndex}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the native twin ended early, code ${child.exitCode}`);
      const [insertMs = 0, cpuMs = 0, keyCount = 0, stealMs = 0] = String(value).split(' ').map(Number);
      return { insertMs, cpuMs, keyCount, stealMs };
    },
    async close() {
      child.stdin!.end();
      await exited;
    },
  };
}
