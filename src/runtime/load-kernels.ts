/**
 * @file Loads kernels.wasm and ties it to a shared memory.
 *
 * Mirrors gen_monolith_ops: a missing or unfit module fails at once, with what to do. The module is compiled once per
 * process and its compiled form is what travels to worker threads.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MonolithError, messageOf } from '../base/errors.js';
import type { WasmKernels } from './wasm-kernels.js';

const KERNELS_URL = new URL('../../kernels.wasm', import.meta.url);

let compiled: Promise<WebAssembly.Module> | undefined;

/** The compiled kernel module of this process. */
export function compileKernels(): Promise<WebAssembly.Module> {
  compiled ??= compileFile();
  return compiled;
}

async function compileFile(): Promise<WebAssembly.Module> {
  const file = fileURLToPath(KERNELS_URL);
  try {
    return await WebAssembly.compile(await readFile(file));
  } catch (cause) {
    compiled = undefined;
    throw new MonolithError(
      'ML_WASM',
      { reason: `${file}: ${messageOf(cause)}` },
      { hint: 'run `npm run build` to make build/kernels.wasm; `monolith doctor` checks this machine', cause },
    );
  }
}

/** What a program asks of the thread it runs on, by opcode: work in other memories than its own. */
export type HostCall = (opcode: number, ...operands: number[]) => number;

export function refuseCall(opcode: number): number {
  throw new MonolithError('ML_WASM', { reason: `opcode ${opcode} was called on a thread without other memories` });
}

/** An instance of the kernels over `memory`. Instances of one memory share everything: kernels keep no state of their own. */
export function instantiateKernels(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  host: HostCall = refuseCall,
): WasmKernels {
  const instance = new WebAssembly.Instance(module, { env: { memory, now: () => performance.now(), host } });
  return instance.exports as unknown as WasmKernels;
}
