/** @file The backend that runs steps on the threads of the CPU, each inside WebAssembly. */
import type { Backend, OpenBackend } from '../backend.js';
import type { CallerMemory } from '../bank-calls.js';
import { cpuName } from '../cpu-name.js';
import { sliceForThreads } from '../slice-for-threads.js';
import { instantiateKernels } from './instantiate-kernels.js';

const open = (): OpenBackend<null> => ({
  name: 'wasm',
  device: cpuName(),
  plainKernels: false,
  slice: sliceForThreads,
  settle: () => ({ told: null, skipsRepeats: true }),
});

export const wasmBackend: Backend<unknown, null> = {
  name: 'wasm',
  open,
  async join({ views, memory, module, banks, thread }) {
    if (banks.length === 0) return { run: instantiateKernels(module, memory).runStep };
    const { BankCalls } = await import('../bank-calls.js');
    const { call } = new BankCalls(banks, () => here, thread);
    const kernels = instantiateKernels(module, memory, call);
    const here: CallerMemory = { views, kernels };
    return { run: kernels.runStep };
  },
};
