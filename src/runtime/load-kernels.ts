/**
 * @file Loads a build of the kernels and ties it to a shared memory.
 *
 * Mirrors gen_monolith_ops: a missing or unfit module fails at once, with what to do. A module is compiled once per
 * process and its compiled form is what travels to worker threads.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { MonolithError, messageOf } from '../base/errors.js';
import { type KernelVariant, VARIANT_FILES } from './kernel-variants.js';
import type { WasmKernels } from './wasm-kernels.js';

const compiled = new Map<KernelVariant, Promise<WebAssembly.Module>>();

/**
 * Work, in bytes of code, after which V8 optimizes a function of WebAssembly. Its own number is meant for pages, where most code
 * runs once; kernels are few and all hot, and until they are optimized they take several times as long: the first steps of a
 * run, or all of a short one. What is compiled, and its numbers, stay the same.
 */
const TIERING_BUDGET = 20_000;

/** The compiled plain kernels of this process: the same numbers everywhere, and no experimental flag of the engine is touched. */
export function compileKernels(): Promise<WebAssembly.Module> {
  return once('plain', (bytes) => WebAssembly.compile(bytes));
}

/** Another build, compiled without pause between the beginning and the end of `during`. */
export function compileKernelsNow(
  variant: KernelVariant,
  during: (compile: () => WebAssembly.Module) => WebAssembly.Module,
): Promise<WebAssembly.Module> {
  return once(variant, (bytes) => during(() => new WebAssembly.Module(bytes)));
}

type Compile = (bytes: Buffer<ArrayBuffer>) => WebAssembly.Module | Promise<WebAssembly.Module>;

function once(variant: KernelVariant, compile: Compile): Promise<WebAssembly.Module> {
  let module = compiled.get(variant);
  if (module === undefined) {
    module = compileFile(variant, compile);
    compiled.set(variant, module);
  }
  return module;
}

async function compileFile(variant: KernelVariant, compile: Compile): Promise<WebAssembly.Module> {
  const file = fileURLToPath(new URL(`../../${VARIANT_FILES[variant]}`, import.meta.url));
  try {
    const bytes = await readFile(file);
    setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET}`);
    return await compile(bytes);
  } catch (cause) {
    compiled.delete(variant);
    throw new MonolithError(
      'ML_WASM',
      { reason: `${file}: ${messageOf(cause)}` },
      { hint: 'run `npm run build` to make the modules of kernels; `monolith doctor` checks this machine', cause },
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
