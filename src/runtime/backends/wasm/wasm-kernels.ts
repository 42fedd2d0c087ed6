/**
 * @file The functions kernels.wasm exports, by family. Pointers and counts are plain numbers (pointers above 2 GiB are
 * passed as they are; results that are pointers need `>>> 0`).
 */
import type { CompressKernels } from './calls/compress.js';
import type { DecodeKernels } from './calls/decode.js';
import type { DenseKernels } from './calls/dense.js';
import type { DumpKernels } from './calls/dump.js';
import type { FilterKernels } from './calls/filter.js';
import type { OpsKernels } from './calls/ops.js';
import type { OptimKernels } from './calls/optim.js';
import type { ProgramKernels } from './calls/program.js';
import type { SparseKernels } from './calls/sparse.js';
import type { TableKernels } from './calls/table.js';
import type { TouchedKernels } from './calls/touched.js';
import type { TraceKernels } from './calls/trace.js';

export type WasmKernels = CompressKernels &
  DecodeKernels &
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
