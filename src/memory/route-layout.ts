/**
 * @file Layout of a route: the unique ids of a batch for one table, merged from its slices and put in the order of who
 * owns their rows. All words are u32, addresses are bytes.
 *
 * ```
 * owner of an id: floorMod(id, owners), of the signed id
 * order of ids:   owner, then those that are stepped before those that are only read, then partition, then the first
 *                 slice that has the id
 * ends:           u32[2 * owners + 1]: where the ids of each owner end that are stepped, and that are read,
 *                 after a 0
 * ```
 * Partitions keep threads apart: each merges those it owns, so there are no locks and one order.
 */
export const ROUTE = {
  owners: 0,
  slices: 1,
  /** ROUTE_SLICE of each slice. */
  records: 2,
  /** i64 */
  ids: 3,
  ends: 4,
  /** The stepped ids by partition, as partitionByHash gives them. */
  order: 5,
  offsets: 6,
  /** How often each id came over all slices, or 0: nobody asks. */
  counts: 7,
  /** A row for each id; the distance of rows, and what is used of it, in floats. */
  gradients: 8,
  stride: 9,
  dim: 10,
  /** u32[partitions][2 * owners]: how many ids of a partition each owner has. */
  groups: 11,
  /** i64, ids of partitions one after the other, and u32, where each of them goes. */
  found: 12,
  places: 13,
  /** u32, four for each id that the slices have together: places by hash. */
  cells: 14,
  partitions: 15,
} as const;
export const ROUTE_WORDS = 16;

export const ROUTE_SLICE = {
  ids: 0,
  /** Of all ids of the slice, as partitionByHash gives them. */
  order: 1,
  offsets: 2,
  /** Address of how many ids are stepped: those come first. */
  trained: 3,
  /** Where each id of the slice is in the ids of the route, and ROUTE_FIRST in the first slice that has it. */
  place: 4,
  counts: 5,
} as const;
export const ROUTE_SLICE_WORDS = 8;

export const ROUTE_FIRST = 0x80000000;
/** Places by hash for each id that the slices have together. */
export const ROUTE_CELLS = 4;
