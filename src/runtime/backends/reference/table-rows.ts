/**
 * @file Plain twin of assembly/table/rows.ts and of tableFind: where rows are, what they start with, how an id gets
 * one.
 */
import { mix64BigInt } from '../../../memory/hash.js';
import {
  BLOCK,
  BLOCK_HEADER_BYTES,
  INITIALIZER,
  PARTITION,
  ROW_REMOVED,
  ROWS_BLOCK_MAX,
  ROWS_BLOCK_MIN,
  SEGMENT,
  TABLE,
} from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import { heapAlloc, heapOf, sizeLog2 } from './heap.js';
import { initOptimizerState } from './optim/step.js';
import {
  fillSlot,
  findSlot,
  indexInsert,
  partitionAt,
  ROW,
  removedPlace,
  reserveSlot,
  settleSlot,
  TIME,
} from './table-index.js';
import { encodeZeros, isServing, segmentsOf } from './table-retriever.js';
import { twin } from './twin.js';

const f = Math.fround;

function newRow(m: Views, table: number, partition: number): number {
  const spare = m.u32[partition + PARTITION.freeRow]!;
  if (spare !== 0) {
    m.u32[partition + PARTITION.freeRow] = m.u32[spare / 4]!;
    return spare;
  }
  const rowBytes = m.u32[table / 4 + TABLE.rowBytes]!;
  let row = m.u32[partition + PARTITION.nextRow]!;
  if (row === m.u32[partition + PARTITION.blockEnd]) {
    const last = m.u32[partition + PARTITION.lastBlock]!;
    const heap = heapOf(m, table, partition);
    const blockBytes = (count: number) => 2 ** sizeLog2(BLOCK_HEADER_BYTES + count * rowBytes);
    let rows = last === 0 ? ROWS_BLOCK_MIN : Math.min(m.u32[partition + PARTITION.blockRows]! * 2, ROWS_BLOCK_MAX);
    let block = heapAlloc(m, heap, blockBytes(rows));
    while (block === 0 && rows > ROWS_BLOCK_MIN) {
      rows /= 2;
      block = heapAlloc(m, heap, blockBytes(rows));
    }
    if (block === 0) return 0;
    const bytes = blockBytes(rows);
    if (last === 0) m.u32[partition + PARTITION.firstBlock] = block;
    else m.u32[last / 4 + BLOCK.next] = block;
    m.u32[partition + PARTITION.lastBlock] = block;
    m.u32[partition + PARTITION.blockRows] = rows;
    m.u32[block / 4 + BLOCK.bytes] = bytes;
    row = block + BLOCK_HEADER_BYTES;
    m.u32[partition + PARTITION.blockEnd] = row + Math.floor((bytes - BLOCK_HEADER_BYTES) / rowBytes) * rowBytes;
  }
  m.u32[partition + PARTITION.nextRow] = row + rowBytes;
  return row;
}

/** Gives a row back to its partition. */
function freeRow(m: Views, partition: number, row: number): void {
  m.u32[row / 4] = m.u32[partition + PARTITION.freeRow]!;
  m.u32[partition + PARTITION.freeRow] = row;
}

/** Removes the row of a slot that has one. */
export function removeSlot(m: Views, partition: number, slot: number): void {
  const row = m.u32[slot / 4 + ROW]!;
  m.u32[slot / 4 + ROW] = ROW_REMOVED;
  freeRow(m, partition, row);
  m.u32[partition + PARTITION.rows]! -= 1;
}

export function tableInitRow(m: Views, table: number, row: number, id: bigint): void {
  if (isServing(m, table)) {
    encodeZeros(m, table, row);
    return;
  }
  const t = table / 4;
  const states = row + m.u32[t + TABLE.dim]! * 4;
  const seed = BigInt.asUintN(64, BigInt(m.u32[t + TABLE.seed]!) * 0x9e3779b97f4a7c15n);
  const base = mix64BigInt(BigInt.asUintN(64, id) ^ seed);
  for (const segment of segmentsOf(m, table)) {
    const dim = m.u32[segment + SEGMENT.dim]!;
    const first = m.u32[segment + SEGMENT.weightOffset]!;
    const a = m.f32[segment + SEGMENT.initialA]!;
    const b = m.f32[segment + SEGMENT.initialB]!;
    for (let c = 0; c < dim; c++) {
      const bits = Number(mix64BigInt(base + BigInt(first + c) * 0xd1b54a32d192ed03n) >> 40n);
      const kind = m.u32[segment + SEGMENT.initializer];
      const uniform = f(f(f(bits * 2 ** -24) * f(b - a)) + a);
      m.f32[row / 4 + first + c] = kind === INITIALIZER.uniform ? uniform : kind === INITIALIZER.constant ? a : 0;
    }
    const state = states + m.u32[segment + SEGMENT.stateOffset]! * 4;
    initOptimizerState(m, m.u32[segment + SEGMENT.optimizer]!, state, dim, (segment + SEGMENT.parameters) * 4);
  }
}

/** Slot of `id`, made when absent; 0 when the heap is full. */
export function upsertSlot(m: Views, table: number, id: bigint): number {
  const found = findSlot(m, table, id);
  if (found !== 0) return found;
  const partition = partitionAt(m, table, mix64BigInt(id));
  const place = removedPlace(m, partition, id);
  if (place === 0 && !reserveSlot(m, table, partition)) return 0;
  const row = newRow(m, table, partition);
  if (row === 0) return 0;
  tableInitRow(m, table, row, id);
  m.u32[partition + PARTITION.rows]! += 1;
  if (place !== 0) {
    fillSlot(m, place, id, row, 0);
    return place;
  }
  m.u32[partition + PARTITION.slotsTaken]! += 1;
  return settleSlot(m, table, partition, id, indexInsert(m, partition, id, row, 0));
}

export function tableUpsert(m: Views, table: number, ids: number, n: number, rows: number, times: number): number {
  for (let i = 0; i < n; i++) {
    const slot = upsertSlot(m, table, m.i64[ids / 8 + i]!);
    if (slot === 0) return i;
    m.u32[rows / 4 + i] = m.u32[slot / 4 + ROW]!;
    if (times !== 0) m.u32[slot / 4 + TIME] = m.u32[times / 4 + i]!;
  }
  return n;
}

export const tableFind = twin(KERNEL.tableFind, (m, { table, ids, n, rows, slots }) => {
  let found = 0;
  for (let i = 0; i < n; i++) {
    const slot = findSlot(m, table, m.i64[ids / 8 + i]!);
    if (slot !== 0) found++;
    m.u32[rows / 4 + i] = slot === 0 ? m.u32[table / 4 + TABLE.zeroRow]! : m.u32[slot / 4 + ROW]!;
    if (slots !== 0) m.u32[slots / 4 + i] = slot;
  }
  return found;
});
