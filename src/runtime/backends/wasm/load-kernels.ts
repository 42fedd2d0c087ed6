/**
 * @file Loads a build of the kernels.
 *
 * Mirrors gen_monolith_ops: a missing or unfit module fails at once, with what to do. A module is compiled once per
 * process and its compiled form is what travels to worker threads, which make instances of it (instantiate-kernels.ts).
 */

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MonolithError, messageOf } from '../../../base/errors.js';
import type { WasmModule } from '../../../base/wasm-types.js';
import { DIGEST_SECTION, kernelTableDigest } from '../../kernels/table-digest.js';
import { type Engine, thisEngine } from './engine.js';
import { compileFlags } from './kernel-experiments.js';
import { type KernelVariant, VARIANT_FILES } from './kernel-variants.js';

const compiled = new Map<KernelVariant, Promise<WasmModule>>();

/**
 * Work, in bytes of code, after which V8 optimizes a function of WebAssembly. Its own number is meant for pages, where
 * most code runs once; kernels are few and all hot, and until they are optimized they take several times as long: the
 * first steps of a run, or all of a short one. What is compiled, and its numbers, stay the same. V8 reads it when it
 * takes a module in.
 */
const TIERING_FLAG = 'wasm-tiering-budget=20000';

/**
 * The compiled kernels of this process. The plain ones give the same numbers everywhere and take no experiment of the
 * engine.
 */
export function compileKernels(variant: KernelVariant = 'plain', engine = thisEngine): Promise<WasmModule> {
  let module = compiled.get(variant);
  if (module === undefined) {
    module = compileFile(variant, engine);
    compiled.set(variant, module);
  }
  return module;
}

/** The file of a build. */
export function kernelFile(variant: KernelVariant): string {
  return fileURLToPath(new URL(`../../../../${VARIANT_FILES[variant]}`, import.meta.url));
}

async function compileFile(variant: KernelVariant, engine: Engine): Promise<WasmModule> {
  const file = kernelFile(variant);
  try {
    const bytes = await readFile(file);
    const flags = [TIERING_FLAG, ...compileFlags(engine, variant)];
    return checkTable(
      engine.withFlags(flags, () => new WebAssembly.Module(bytes)),
      file,
    );
  } catch (cause) {
    compiled.delete(variant);
    if (cause instanceof MonolithError) throw cause;
    throw new MonolithError(
      'ML_WASM',
      { reason: `${file}: ${messageOf(cause)}` },
      { hint: 'run `npm run build` to make the modules of kernels; `monolith doctor` checks this machine', cause },
    );
  }
}

/** The module, if it was built for the kernel table of this package; ML_WASM_STALE otherwise. */
export function checkTable(module: WasmModule, file: string): WasmModule {
  const [section] = WebAssembly.Module.customSections(module, DIGEST_SECTION);
  const found = section === undefined ? null : new TextDecoder().decode(section);
  const wanted = kernelTableDigest();
  if (found === wanted) return module;
  const reason = found === null ? 'it names no kernel table' : `its kernel table is ${found}, not ${wanted}`;
  const hint = 'run `npm run build` to make it anew; where the package is installed, install it again';
  throw new MonolithError('ML_WASM_STALE', { file, reason }, { hint });
}
