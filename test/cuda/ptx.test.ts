/** @file The PTX of the repository: of the sources that are there, and as the launch table says. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { BLOCK_THREADS, CUDA_KERNELS } from '../../src/runtime/backends/cuda/launch-table.js';
import { parseEntries } from '../../src/runtime/backends/cuda/ptx-entries.js';
import { KERNELS } from '../../src/runtime/kernels/kernels.js';
import { builder } from './ptx-builder.js';
import { ptxOf } from './twin.js';

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
