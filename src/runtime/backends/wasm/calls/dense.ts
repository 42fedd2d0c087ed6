/**
 * @file Exports of assembly/dense: kernels over row-major f32 matrices.
 *
 * Pointers are byte addresses. A `stride` is the distance between two rows in floats. `acc` 0 overwrites the output, 1
 * adds to it. Any count may be 0. An output may be the operand it is computed from, with the same stride; gemmF32 and
 * the reductions excepted. `scratch` of gemmF32 has gemmScratchBytes(m, n, k) bytes. Orders of summation and error
 * bounds are with the kernels in assembly/dense.
 */
import type * as twins from '../../reference/dense.js';
import type { WasmOf } from './wasm-of.js';

export type DenseKernels = WasmOf<typeof twins>;
