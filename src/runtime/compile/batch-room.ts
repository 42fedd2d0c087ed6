/**
 * @file Whether the buffers of a program have room for the ragged values of batches, and how much more they need.
 *
 * What a slice of a batch holds depends on the data and on the number of threads, so nobody can say it beforehand. A
 * program begins with a guess and is made again with more room, at least twice as much, when a batch needs it.
 */

import { BATCH } from '../../memory/batch.js';
import type { Views } from '../../memory/views.js';
import type { RaggedLimit } from './check-batch.js';
import type { SlicePlan } from './compile-environment.js';

/** Values of a slice that there is to be room for, by feed; undefined where all batches fit. */
export function roomNeeded(
  views: Views,
  batches: readonly number[],
  plan: SlicePlan,
  ragged: readonly RaggedLimit[],
): ReadonlyMap<string, number> | undefined {
  const most = ragged.map((limit) => Math.max(0, ...batches.map((batch) => mostInSlice(views, batch, plan, limit))));
  if (ragged.every(({ capacity }, feed) => most[feed]! <= capacity)) return undefined;
  // Others that are more than half full are likely to be next: one program is made for all of them.
  return new Map(
    ragged.flatMap(({ name, capacity }, feed) => {
      const values = most[feed]!;
      return 2 * values > capacity ? [[name, roomFor(values, capacity)] as const] : [];
    }),
  );
}

/** Twice as much as there was, or a quarter more than is needed now, so that few batches make it grow again. */
function roomFor(values: number, capacity: number): number {
  return Math.max(2 * capacity, Math.ceil(values * 1.25));
}

function mostInSlice({ u32, i32 }: Views, batch: number, { slices }: SlicePlan, { word }: RaggedLimit): number {
  const at = batch / 4;
  const rows = u32[at + BATCH.rows]!;
  const splits = u32[at + word]! / 4;
  let most = 0;
  let first = i32[splits]!;
  for (let slice = 1; slice <= slices; slice++) {
    const last = i32[splits + Math.floor((rows * slice) / slices)]!;
    most = Math.max(most, last - first);
    first = last;
  }
  return most;
}
