/** @file A table in a lease of a cut step, as who brings rows and takes gradients sees it: views of shared memory. */
import { misfit } from '../../graph/graph.js';
import { TIME_UNKNOWN } from '../../memory/table-layout.js';
import type { CompileEnvironment } from './compile-environment.js';
import type { LeasedBlocks, RoutedBlocks } from './program-code.js';

/** What one owner has of a batch. */
export interface LeasedPart {
  /** Each id once: first those that get a gradient, then those that are only read. */
  readonly ids: BigInt64Array;
  /** How many get a gradient. */
  readonly trained: number;
  /** A row for each id, to be filled: what a lookup of it shows, zeros for an id that is not there. */
  readonly rows: Float32Array;
  /** A row for each id that is trained: the sum of its gradients over the batch. */
  readonly gradients: Float32Array;
  /** How often each id that is trained came: what admission filters count. */
  readonly counts: Uint32Array;
}

export interface LeasedTable {
  readonly name: string;
  readonly dim: number;
  /** Floats from one row to the next, in `rows` and in `gradients`. */
  readonly stride: number;
  /** Ids of a batch at the most. */
  readonly capacity: number;
  /** Latest request time of the batch in Unix seconds; undefined for updates without one. */
  readonly requestTime: number | undefined;
  /** One for each owner: the ids whose floorMod by their number is the index. */
  readonly parts: readonly LeasedPart[];
}

export function leasedTable(environment: CompileEnvironment, blocks: LeasedBlocks, lease: number): LeasedTable {
  const { name, dim, stride, capacity, routed } = blocks;
  const latest = latestTime(environment, blocks, lease);
  const requestTime = latest < 0 ? undefined : Math.min(latest, TIME_UNKNOWN - 1);
  if (routed !== undefined)
    return { name, dim, stride, capacity, requestTime, parts: partsOf(environment, blocks, routed, lease) };
  return {
    name,
    dim,
    stride,
    capacity,
    requestTime,
    get parts(): never {
      throw misfit(name, 'its rows are in several memories: pullHere and pushHere move them');
    },
  };
}

function partsOf({ views }: CompileEnvironment, { stride }: LeasedBlocks, routed: RoutedBlocks, lease: number) {
  const { owners } = routed;
  const ends = views.u32.subarray(routed.ends.at(lease) / 4, routed.ends.at(lease) / 4 + 2 * owners + 1);
  const [ids, counts] = [routed.ids.at(lease) / 8, routed.counts.at(lease) / 4];
  const [rows, gradients] = [routed.rows.at(lease) / 4, routed.gradients.at(lease) / 4];
  return Array.from({ length: owners }, (_, owner): LeasedPart => {
    const [first, stepped, end] = [ends[2 * owner]!, ends[2 * owner + 1]!, ends[2 * owner + 2]!];
    return {
      ids: views.i64.subarray(ids + first, ids + end),
      trained: stepped - first,
      rows: views.f32.subarray(rows + first * stride, rows + end * stride),
      gradients: views.f32.subarray(gradients + first * stride, gradients + stepped * stride),
      counts: views.u32.subarray(counts + first, counts + stepped),
    };
  });
}

/** -1 for updates without a time. */
function latestTime({ views, plan }: CompileEnvironment, { times }: LeasedBlocks, lease: number): number {
  let latest = -1n;
  for (let slice = 0; times !== undefined && slice < plan.slices; slice++) {
    const time = views.i64[times.at(slice, lease) / 8]!;
    if (time > latest) latest = time;
  }
  return Number(latest);
}
