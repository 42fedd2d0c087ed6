/**
 * @file Exports of assembly/table and assembly/heap: embedding hash tables.
 *
 * The shared kernels may run on any thread at any time; the others belong to the owner of the partitions they touch.
 */
export interface TableKernels {
  heapAlloc(heap: number, bytes: number): number;
  heapFree(heap: number, block: number, bytes: number): void;
  tableFind(table: number, ids: number, n: number, rows: number, slots: number): number;
  tableLookupSumF32(
    table: number,
    ids: number,
    splits: number,
    rows: number,
    out: number,
    outStride: number,
    scratch: number,
  ): void;
  tableGatherF32(table: number, ids: number, n: number, out: number, outStride: number, scratch: number): void;
  tableUpdate(
    table: number,
    ids: number,
    n: number,
    gradients: number,
    stride: number,
    scratch: number,
    updateSec: number,
  ): number;
  tableUpsert(table: number, ids: number, n: number, rows: number, times: number): number;
  tableInitRow(table: number, row: number, id: bigint): void;
  tableEvict(table: number, first: number, end: number, nowSec: number, days: number): number;
  tableClear(table: number, first: number, end: number): void;
  tableApply(
    table: number,
    first: number,
    end: number,
    slices: number,
    sliceCount: number,
    merged: number,
    updateSec: number,
  ): number;
  /** Slots in index order from the cursor on; 2 u32 words, partition and 4 * bucket + slot. */
  tableScan(table: number, first: number, end: number, cursor: number, slots: number, limit: number): number;
  /** Sorts slots by their ids, as signed numbers; `scratch` has sortScratchBytes(n). */
  sortSlotsById(slots: number, n: number, scratch: number): void;
  /** What a lookup shows, zeros for an absent id; returns the hits. */
  tableRetrieve(table: number, ids: number, n: number, out: number, outStride: number, scratch: number): number;
  /** Shared: as tableRetrieve, one id after the other. */
  tableLookup(table: number, ids: number, n: number, out: number, outStride: number): number;
  /** Shared: out[i] = 1 where the table has a row, as bytes; returns how many. */
  tableContains(table: number, ids: number, n: number, out: number): number;
  /** Shared: assigns values or adds them; returns how many ids were handled, fewer than n when the heap is full. */
  tableAssign(
    table: number,
    ids: number,
    n: number,
    values: number,
    stride: number,
    timeSec: number,
    admitted: number,
    add: number,
  ): number;
  /** Shared: one step per position; returns how many were handled, or -2 or -3 (UPDATE_RESULT). */
  tableOptimize(
    table: number,
    ids: number,
    n: number,
    gradients: number,
    stride: number,
    timeSec: number,
    admitted: number,
  ): number;
  /** Shared: first values again; status[i] = 1 where the row was there, as i32. Returns how many were handled. */
  tableReinitialize(table: number, ids: number, n: number, timeSec: number, status: number): number;
  /** Shared: returns how many ids had a row. */
  tableRemove(table: number, ids: number, n: number): number;
}
