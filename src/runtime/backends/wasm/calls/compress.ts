/** @file Exports of assembly/compress and assembly/initialize. `src` and `dst` may have any alignment. */
import type * as twins from '../../reference/compress.js';
import type { WasmOf } from './wasm-of.js';

export type CompressKernels = WasmOf<typeof twins>;
