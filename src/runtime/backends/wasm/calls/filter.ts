/** @file Exports of assembly/filter. `counts` and `present` may be 0: one each, and none. */
import type * as twins from '../../reference/filter.js';
import type { WasmOf } from './wasm-of.js';

export type FilterKernels = WasmOf<typeof twins>;
