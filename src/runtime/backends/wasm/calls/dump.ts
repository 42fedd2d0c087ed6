/**
 * @file Exports of assembly/dump: table rows as records of EntryDump messages. memory/dump-layout.ts draws the plan.
 */
import type * as twins from '../../reference/dump.js';
import type { WasmOf } from './wasm-of.js';

export type DumpKernels = WasmOf<typeof twins>;
