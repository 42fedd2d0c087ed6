/** @file The PTX of the repository compiled once more: what nvcc makes of the sources, good for every architecture. */
import t from 'tap';
import { BLOCK_THREADS } from '../../src/runtime/backends/cuda/launch-table.js';
import { parseEntries } from '../../src/runtime/backends/cuda/ptx-entries.js';
import { missing } from '../requirement.js';
import { builder, occupancy } from './ptx-builder.js';
import { ptxOf } from './twin.js';

const OCCUPANCY_MIN = 0.5;
// Compiling for the first time takes a minute when other work has the cores; see cuda/remember.mjs.
t.setTimeout(300_000);
const COMPILE = { timeout: 300_000 };

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
