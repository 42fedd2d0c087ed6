/** @file The backend that runs steps on the threads of the CPU, each inside WebAssembly. */
import type { Backend, OpenBackend } from '../backend.js';
import { BankCalls, type CallerMemory } from '../bank-calls.js';
import { cpuName } from '../cpu-name.js';
import { sliceForThreads } from '../slice-for-threads.js';
import { instantiateKernels } from './load-kernels.js';

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
  join({ views, memory, module, banks, thread }) {
    const { call } = new BankCalls(banks, () => here, thread);
    const kernels = instantiateKernels(module, memory, call);
    const here: CallerMemory = { views, kernels };
    return { run: kernels.runStep };
  },
};
