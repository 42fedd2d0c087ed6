/** @file Every CUDA kernel has a test against its reference, and what has no CUDA kernel is in the documentation. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { CUDA_KERNELS } from '../../src/runtime/backends/cuda/launch-table.js';
import { KERNELS } from '../../src/runtime/kernels/kernels.js';
import { KERNEL_TESTS } from './kernel-tests.js';

const tested = new Set(Object.values(KERNEL_TESTS).flat());

t.test('every kernel of the launch table is held to its reference under all schedules', async (t) => {
  t.same(
    [...CUDA_KERNELS.keys()].filter((name) => !tested.has(name)),
    [],
    'kernels without a test',
  );
  t.same(
    [...tested].filter((name) => !CUDA_KERNELS.has(name)),
    [],
    'tests of kernels that are gone',
  );
});

t.test('kernels of programs that run on the host are named in docs/gpu.md', async (t) => {
  const page = readFileSync(new URL('../../../docs/gpu.md', import.meta.url), 'utf8');
  for (const name of KERNELS.keys()) if (!CUDA_KERNELS.has(name)) t.ok(page.includes(`\`${name}\``), name);
});
