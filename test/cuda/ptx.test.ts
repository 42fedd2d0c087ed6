/**
 * @file The PTX of the repository: what nvcc makes of the sources, good for every architecture, as the launch table
 * says.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { BLOCK_THREADS, CUDA_KERNELS } from '../../src/runtime/backends/cuda/launch-table.js';
import { parseEntries } from '../../src/runtime/backends/cuda/ptx-entries.js';
import { KERNELS } from '../../src/runtime/kernels/kernels.js';
import { missing } from '../requirement.js';
import { ptxOf } from './twin.js';

interface Assembled {
  readonly kernel: string;
  readonly registers: number;
  readonly stackBytes: number;
  readonly spillBytes: number;
  readonly sharedBytes: number;
}
interface Builder {
  readonly ARCHITECTURES: readonly string[];
  moduleNames(): string[];
  compilerVersion(): string | null;
  sourceDigest(module: string): string;
  textDigest(text: string): string;
  compiledDigests(): Promise<{ module: string; digest: string }[]>;
  assembleAll(): Promise<{ module: string; architecture: string; kernels: Assembled[] }[]>;
  readManifest(): {
    compiler: string;
    architectures: string[];
    modules: Record<string, { source: string; ptx: string }>;
  };
  ptxPath(module: string): string;
}
interface Occupancy {
  occupancy(architecture: string, kernel: { registers: number; sharedBytes: number; threads: number }): number;
}

const builder = (await import(new URL('../../../cuda/build-ptx.mjs', import.meta.url).href)) as Builder;
const { occupancy } = (await import(new URL('../../../cuda/occupancy.mjs', import.meta.url).href)) as Occupancy;
const OCCUPANCY_MIN = 0.5;
// Compiling for the first time takes a minute when other work has the cores; see cuda/remember.mjs.
t.setTimeout(300_000);
const COMPILE = { timeout: 300_000 };

t.test('the manifest names the sources and the PTX that are there', async (t) => {
  const { modules, architectures } = builder.readManifest();
  t.same(architectures, builder.ARCHITECTURES);
  t.same(Object.keys(modules), builder.moduleNames());
  for (const [module, { source, ptx }] of Object.entries(modules)) {
    t.equal(builder.sourceDigest(module), source, `${module}.cu has not changed since npm run build:ptx`);
    const text = readFileSync(builder.ptxPath(module), 'utf8');
    t.equal(builder.textDigest(text), ptx, `${module}.ptx has not been edited`);
    t.match(text, /^\.version 7\.0\n\.target sm_75$/m);
    t.notMatch(text, /\.local/, `${module} keeps nothing in local memory`);
  }
});

t.test('the launch table has every kernel of the PTX, with its operands', async (t) => {
  const found = new Map(
    builder
      .moduleNames()
      .flatMap((module) => [...parseEntries(ptxOf(module))].map(([name, e]) => [name, { module, e }])),
  );
  t.same([...found.keys()].sort(), [...CUDA_KERNELS.keys()].sort());
  for (const { name, module, operands } of CUDA_KERNELS.values()) {
    const { module: home, e } = found.get(name)!;
    t.equal(module, home, name);
    t.equal(e.threadsMax, BLOCK_THREADS, `${name} has blocks of ${BLOCK_THREADS} threads`);
    const kinds = e.params.map(({ kind, size }) => (size === 8 ? 'p' : kind === 'f' ? 'f' : 'u'));
    t.equal(kinds.join(''), operands.join(''), `operands of ${name}`);
    const twin = KERNELS.get(name);
    if (twin === undefined) continue;
    const letters = twin.words.map(({ kind }) => ({ address: 'p', count: 'u', float: 'f' })[kind]).join('');
    t.equal(operands.join(''), letters, `${name} takes what the program gives`);
  }
});

t.test('grids cover the work, and are bounded', async (t) => {
  const grid = (name: string, ...operands: number[]) => CUDA_KERNELS.get(name)!.grid(operands, 40);
  t.same(grid('copyRowsF32', 0, 64, 0, 64, 100, 64, 0), [7, 1], 'a thread for four floats');
  t.same(grid('copyRowsF32', 0, 63, 0, 63, 100, 63, 0), [25, 1], 'a thread for each float of odd rows');
  t.same(grid('copyRowsF32', 0, 64, 0, 64, 0, 64, 0), [1, 1], 'never empty');
  t.same(grid('copyRowsF32', 0, 64, 0, 64, 1e6, 64, 0), [320, 1], 'no more than fit');
  t.same(grid('gemmF32', 0, 1, 1, 0, 1, 1, 0, 1, 65, 129, 7, 0, 0), [3, 2], 'a block per tile');
  t.same(grid('poolSumF32', 0, 0, 0, 1000, 16, 0, 16), [16, 1], 'four lanes for a row of 16');
  t.throws(() => grid('copyRowsF32', 0, 64, 0, 64, 2 ** 26, 64, 0), { code: 'ML_CUDA_LAUNCH' });
});

interface Tap {
  plan(count: number, reason: string): void;
  ok(value: unknown, message: string): unknown;
  equal(found: unknown, wanted: unknown, message: string): unknown;
  same(found: unknown, wanted: unknown, message: string): unknown;
}

/** Runs `body` where nvcc and ptxas are; says so where they are not. */
function withCompiler(body: (t: Tap) => Promise<void>) {
  return async (t: Tap) => {
    if (builder.compilerVersion() !== null) return body(t);
    t.plan(0, missing('nvcc', 'nvcc and ptxas are not installed, the PTX was not compiled again'));
  };
}

t.test('nvcc makes the same PTX of the sources', COMPILE, (t) =>
  withCompiler(async (t) => {
    const { compiler } = builder.readManifest();
    if (builder.compilerVersion() !== compiler) {
      t.plan(0, missing('nvcc', `the PTX was made by ${compiler}, here is ${builder.compilerVersion()}`));
      return;
    }
    const compiled = await builder.compiledDigests();
    t.same(
      compiled.map(({ module }) => module),
      builder.moduleNames(),
      'every module',
    );
    for (const { module, digest } of compiled) {
      t.equal(digest, builder.textDigest(ptxOf(module)), `${module}.ptx is what nvcc writes`);
    }
  })(t),
);

t.test(
  'every kernel assembles for every architecture, spills nothing and fills half of the multiprocessor',
  COMPILE,
  (t) =>
    withCompiler(async (t) => {
      const assembled = await builder.assembleAll();
      t.equal(assembled.length, builder.moduleNames().length * builder.ARCHITECTURES.length, 'each on each');
      for (const { module, architecture, kernels } of assembled) {
        t.equal(kernels.length, parseEntries(ptxOf(module)).size, `all kernels of ${module} on ${architecture}`);
        const spilling = kernels.filter(({ stackBytes, spillBytes }) => stackBytes + spillBytes > 0);
        t.same(spilling, [], `${module} on ${architecture}`);
        const low = kernels.filter((k) => occupancy(architecture, { ...k, threads: BLOCK_THREADS }) < OCCUPANCY_MIN);
        t.same(low, [], `occupancy of ${module} on ${architecture}`);
      }
    })(t),
);
