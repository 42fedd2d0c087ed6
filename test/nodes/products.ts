/**
 * @file Products on each build of the kernels that a runtime has, as one line of JSON. Runs within the runtime.
 *
 * Inputs are drawn from integers alone: the functions of Math are not the same in every engine.
 */
import { createHash } from 'node:crypto';
import { Graph } from '../../src/graph/graph.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { chooseKernels } from '../../src/runtime/backends/wasm/choose-kernels.js';
import { KERNEL_VARIANTS } from '../../src/runtime/backends/wasm/kernel-variants.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { withSession } from '../runtime/with-session.js';

export interface Products {
  readonly best: string;
  readonly why: string;
  /** Digest of the products by build, and of the reference; null where there is no such build. */
  readonly digests: Readonly<Record<string, string | null>>;
}

const [ROWS, INPUTS, OUTPUTS] = [45, 70, 37];

function numbers(seed: number, count: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  });
}

async function digest(options: Partial<SessionOptions>): Promise<string> {
  const graph = new Graph();
  const weights = numbers(3, INPUTS * OUTPUTS);
  const product = matMul(
    placeholder(graph, { name: 'x', width: INPUTS }),
    variable(graph, { name: 'w', shape: [INPUTS, OUTPUTS], initial: () => weights }),
  );
  return withSession(graph, { batchSize: ROWS, threads: 2, ...options }, async (session) => {
    const [found] = await session.run([product], { x: numbers(5, ROWS * INPUTS) });
    return createHash('sha256')
      .update(found as Float32Array)
      .digest('hex');
  });
}

const { variant: best, why } = await chooseKernels();
const digests: Record<string, string | null> = { reference: await digest({ backend: 'reference' }) };
for (const kernels of KERNEL_VARIANTS) {
  const has = await chooseKernels({ kernels }).then(
    () => true,
    () => false,
  );
  digests[kernels] = has ? await digest({ kernels }) : null;
}
console.log(JSON.stringify({ best, why, digests } satisfies Products));
