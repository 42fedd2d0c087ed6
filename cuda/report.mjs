/**
 * @file Prints what can be computed about the kernels without a GPU: occupancy from ptxas, and bytes moved at least.
 *
 *   npm run cuda:report
 *
 * Nothing here is a measurement of time.
 */
import { readFileSync } from 'node:fs';
import { ARCHITECTURES, assembleAll, compilerVersion, moduleNames, ptxPath, readManifest } from './build-ptx.mjs';
import { occupancy } from './occupancy.mjs';

const { CUDA_KERNELS, BLOCK_THREADS } = await import('../build/src/runtime/backends/cuda/launch-table.js');

async function main() {
  if (compilerVersion() === null) throw new Error('ptxas is not installed: nothing can be computed');
  const rows = new Map([...CUDA_KERNELS.keys()].map((name) => [name, {}]));
  for (const { architecture, kernels } of await assembleAll()) {
    for (const { kernel, registers, sharedBytes } of kernels) {
      const share = occupancy(architecture, { registers, sharedBytes, threads: BLOCK_THREADS });
      rows.get(kernel)[architecture] = `${Math.round(share * 100)}% ${registers}`;
    }
  }
  const bytes = moduleNames().reduce((sum, module) => sum + readFileSync(ptxPath(module)).length, 0);
  console.log(`${rows.size} kernels, ${bytes} bytes of PTX, compiler ${readManifest().compiler}.`);
  console.log(
    'Computed, not timed; never run on a GPU. Share of warps that fit on a multiprocessor, and registers per thread.',
  );
  console.log('Bytes: read and written at least per element of the largest operand (or per weight).\n');
  console.log(['kernel'.padEnd(30), ...ARCHITECTURES.map((name) => name.padEnd(9)), 'bytes'].join(' '));
  for (const [name, cells] of rows) {
    const floats = CUDA_KERNELS.get(name).floatsPerElement;
    const columns = ARCHITECTURES.map((architecture) => cells[architecture].padEnd(9));
    console.log([name.padEnd(30), ...columns, floats === 0 ? 'by data' : `>= ${floats * 4}`].join(' '));
  }
}

await main();
