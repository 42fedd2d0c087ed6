/**
 * @file Exports of assembly/table and assembly/heap: embedding hash tables.
 *
 * The shared kernels (reference/table-shared.ts) may run on any thread at any time; the others belong to the owner of
 * the partitions they touch.
 */
import type * as twins from '../../reference/table.js';
import type { WasmOf } from './wasm-of.js';

export type TableKernels = WasmOf<typeof twins>;
