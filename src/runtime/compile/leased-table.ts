/** @file The blocks of a table in a lease of a cut step, as whoever brings rows sees them. */
import { misfit } from '../../graph/graph.js';
import type { Register } from './code.js';
import type { CompileEnvironment } from './compile-environment.js';
import type { LeasedBlocks, PerLease } from './program-code.js';

/** A table in a lease. Each slice of the batch has unique ids of its own. */
export interface LeasedTable {
  readonly name: string;
  readonly dim: number;
  /** Floats from one row to the next, in `rows` and in `gradients`. */
  readonly stride: number;
  readonly slices: number;
  /** Unique ids of a slice: first those that get a gradient, `trained` of them, then those that are only read. */
  ids(slice: number): BigInt64Array;
  trained(slice: number): number;
  /** A row for each id, to be filled: what a lookup of it shows, zeros for an id that is not there. */
  rows(slice: number): Float32Array;
  /** A row for each of the ids that are trained: the sum of its gradients in this slice. */
  gradients(slice: number): Float32Array;
}

/** Views of the blocks of `lease`; `registers` are the register files of slices. */
export function leasedTable(
  { views, plan }: CompileEnvironment,
  { name, dim, stride, ids, count, trained, rows, gradients }: LeasedBlocks,
  registers: { readonly begin: number; readonly stride: number },
  lease: number,
): LeasedTable {
  const at = (block: PerLease, slice: number) => block.at(slice, lease);
  const word = (register: Register, slice: number) =>
    views.u32[(registers.begin + (lease * plan.slices + slice) * registers.stride) / 4 + register]!;
  const floats = (block: PerLease | undefined, slice: number, n: number) => {
    if (block === undefined) throw misfit(name, 'its rows are in several memories: pullHere and pushHere move them');
    const from = at(block, slice) / 4;
    return views.f32.subarray(from, from + n * stride);
  };
  return {
    name,
    dim,
    stride,
    slices: plan.slices,
    ids: (slice) => views.i64.subarray(at(ids, slice) / 8, at(ids, slice) / 8 + word(count, slice)),
    trained: (slice) => word(trained, slice),
    rows: (slice) => floats(rows, slice, word(count, slice)),
    gradients: (slice) => floats(gradients, slice, word(trained, slice)),
  };
}
