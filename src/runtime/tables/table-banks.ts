/**
 * @file The banks of a table memory as any thread works on them.
 *
 * Apart from table-memory.ts, which makes them: the threads of a pool attach to banks and do nothing else.
 */
import type { WasmMemory, WasmModule } from '../../base/wasm-types.js';
import { Views } from '../../memory/views.js';
import { instantiateKernels } from '../backends/wasm/instantiate-kernels.js';
import type { WasmKernels } from '../backends/wasm/wasm-kernels.js';

export interface TableBank {
  readonly memory: WasmMemory;
  readonly views: Views;
  /** Kernels over this memory, of the calling thread. */
  readonly kernels: WasmKernels;
  /** Address of the header of the heap that everything in this bank comes from. */
  readonly heap: number;
}

/** Names the banks for another thread; survives `postMessage`. */
export interface TableMemoryHandle {
  readonly module: WasmModule;
  readonly banks: readonly { readonly memory: WasmMemory; readonly heap: number }[];
}

/** Banks of the calling thread, with kernels of its own. */
export function attachBanks({ module, banks }: TableMemoryHandle): TableBank[] {
  return banks.map(({ memory, heap }) => ({
    memory,
    heap,
    views: new Views(memory.buffer),
    kernels: instantiateKernels(module, memory),
  }));
}
