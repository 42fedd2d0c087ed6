/**
 * @file Exports of assembly/sparse: kernels over ids and ragged rows.
 *
 * Pointers are byte addresses, strides are floats between rows. A split is i32[rows + 1] and may start above 0;
 * `inverse` is positioned so that its entry for value j is j - splits[0].
 */
import type * as twins from '../../reference/sparse.js';
import type { WasmOf } from './wasm-of.js';

export type SparseKernels = WasmOf<typeof twins>;
