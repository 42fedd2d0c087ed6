/** @file Exports of assembly/table and assembly/heap: embedding hash tables. */
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
  bankIds(ids: number, order: number, offsets: number, bank: number, banks: number, out: number): number;
  bankRows(
    order: number,
    offsets: number,
    bank: number,
    banks: number,
    rows: number,
    local: number,
    strideBytes: number,
  ): void;
  bankUpdates(
    slice: number,
    first: number,
    end: number,
    bank: number,
    banks: number,
    outIds: number,
    outGradients: number,
    outOffsets: number,
  ): number;
}
