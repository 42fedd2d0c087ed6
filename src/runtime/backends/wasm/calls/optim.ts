/**
 * @file Exports of assembly/optim: one step of the `n` weights of a segment, in place.
 *
 * Pointers are byte addresses at any multiple of 4. State blocks are those of the reference's optimizers, one after the
 * other.
 */
import type * as twins from '../../reference/optim.js';
import type { WasmOf } from './wasm-of.js';

export type OptimKernels = WasmOf<typeof twins>;
