/**
 * @file Ties compiled kernels to a shared memory.
 *
 * Apart from load-kernels.ts because every thread does it: what a thread imports it pays for at its start.
 */
import type { WasmMemory, WasmModule } from '../../../base/wasm-types.js';
import { type HostCall, refuseCall } from '../../kernels/host-call.js';
import type { WasmKernels } from './wasm-kernels.js';

/**
 * An instance of the kernels over `memory`. Instances of one memory share everything: kernels keep no state of their
 * own.
 */
export function instantiateKernels(module: WasmModule, memory: WasmMemory, host: HostCall = refuseCall): WasmKernels {
  const instance = new WebAssembly.Instance(module, { env: { memory, now: () => performance.now(), host } });
  return instance.exports as unknown as WasmKernels;
}
