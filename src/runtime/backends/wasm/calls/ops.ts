/** @file Exports of assembly/ops: kernels of the distribution ops. */
import type * as twins from '../../reference/ops.js';
import type { WasmOf } from './wasm-of.js';

export type OpsKernels = WasmOf<typeof twins>;
