/** @file Exports of assembly/table and assembly/heap: embedding hash tables. */
export interface TableKernels {
  heapAlloc(heap: number, bytes: number): number;
  heapFree(heap: number, block: number, bytes: number): void;
  tableFind(table: number, ids: number, n: number, rows: number): number;
  tableUpsert(table: number, ids: number, n: number, rows: number): number;
  tableInitRow(table: number, row: number): void;
  tableApply(
    table: number,
    first: number,
    end: number,
    slices: number,
    sliceCount: number,
    merged: number,
    updateSec: number,
  ): number;
}
