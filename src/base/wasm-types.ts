/**
 * @file What others see of WebAssembly: types of our own, since neither ECMAScript's library nor every version of
 * Node's types declares it, and a user's project need not have the DOM's. The DOM's would not do either: it takes every
 * memory for one that is not shared.
 */

/** A shared memory: what `new WebAssembly.Memory({ shared: true, … })` makes. */
export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
}

/** Compiled code: a WebAssembly.Module. */
export type WasmModule = object;
