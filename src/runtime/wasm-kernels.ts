/**
 * @file The functions kernels.wasm exports, by family. Pointers and counts are plain numbers (pointers above 2 GiB are
 * passed as they are; results that are pointers need `>>> 0`).
 */
import type { CompressKernels } from './wasm/compress.js';
import type { DenseKernels } from './wasm/dense.js';
import type { DumpKernels } from './wasm/dump.js';
import type { FilterKernels } from './wasm/filter.js';
import type { OpsKernels } from './wasm/ops.js';
import type { OptimKernels } from './wasm/optim.js';
import type { ProgramKernels } from './wasm/program.js';
import type { SparseKernels } from './wasm/sparse.js';
import type { TableKernels } from './wasm/table.js';
import type { TouchedKernels } from './wasm/touched.js';
import type { TraceKernels } from './wasm/trace.js';

export type WasmKernels = CompressKernels &
  DenseKernels &
  DumpKernels &
  FilterKernels &
  OpsKernels &
  OptimKernels &
  ProgramKernels &
  SparseKernels &
  TableKernels &
  TouchedKernels &
  TraceKernels;
