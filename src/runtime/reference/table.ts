/**
 * @file Plain twin of assembly/heap.ts and assembly/table.ts: the same table in the same memory, without SIMD or tricks.
 *
 * Layout constants come from memory/table-layout.ts. Partition ownership makes updates free of locks, as over there; the
 * heap takes its lock by spinning, since requests are rare.
 */
import { mix64BigInt } from '../../memory/hash.js';
import {
  APPLY_SLICE,
  APPLY_SLICE_BYTES,
  BLOCK,
  BLOCK_HEADER_BYTES,
  BUCKET_BYTES,
  BUCKET_SLOTS,
  HEAP,
  INITIALIZER,
  PARTITION,
  PARTITION_BYTES,
  ROW_FREE,
  ROW_REMOVED,
  ROW_SUMMING,
  ROWS_BLOCK_MAX,
  ROWS_BLOCK_MIN,
  SEGMENT,
  SEGMENT_WORDS,
  SEGMENTS,
  SLOT_ROW_BYTES,
  SLOT_TIME_BYTES,
  TABLE,
} from '../../memory/table-layout.js';
import type { Views } from '../../memory/views.js';
import { applyOptimizerF32, initOptimizerState } from './optim/step.js';

const f = Math.fround;

function sizeLog2(bytes: number): number {
  return bytes <= 64 ? 6 : 32 - Math.clz32(bytes - 1);
}

export function heapAlloc(m: Views, heap: number, bytes: number): number {
  const log2 = sizeLog2(bytes);
  const size = 2 ** log2;
  const at = heap / 4;
  const list = at + HEAP.retired + log2;
  lock(m, at);
  let block = m.u32[list]!;
  if (block !== 0) m.u32[list] = m.u32[block / 4]!;
  else block = splitRetired(m, at, log2);
  if (block !== 0) {
    unlock(m, at);
    m.u8.fill(0, block, block + size);
    return block;
  }
  block = m.u32[at + HEAP.top]!;
  if (m.u32[at + HEAP.end]! - block < size) block = 0;
  else m.u32[at + HEAP.top] = block + size;
  unlock(m, at);
  return block;
}

function splitRetired(m: Views, at: number, log2: number): number {
  for (let larger = log2 + 1; larger < 32; larger++) {
    const block = m.u32[at + HEAP.retired + larger]!;
    if (block === 0) continue;
    m.u32[at + HEAP.retired + larger] = m.u32[block / 4]!;
    for (let rest = larger - 1; rest >= log2; rest--) {
      const half = block + 2 ** rest;
      m.u32[half / 4] = m.u32[at + HEAP.retired + rest]!;
      m.u32[at + HEAP.retired + rest] = half;
    }
    return block;
  }
  return 0;
}

export function heapFree(m: Views, heap: number, block: number, bytes: number): void {
  const at = heap / 4;
  const list = at + HEAP.retired + sizeLog2(bytes);
  lock(m, at);
  m.u32[block / 4] = m.u32[list]!;
  m.u32[list] = block;
  unlock(m, at);
}

function lock(m: Views, at: number): void {
  while (Atomics.compareExchange(m.i32, at + HEAP.lock, 0, 1) !== 0);
}

function unlock(m: Views, at: number): void {
  Atomics.store(m.i32, at + HEAP.lock, 0);
}

const ROW = SLOT_ROW_BYTES / 4;
const TIME = SLOT_TIME_BYTES / 4;

/** Word index of the partition that owns `hash`. */
function partitionAt(m: Views, table: number, hash: bigint): number {
  const log2 = m.u32[table / 4 + TABLE.partitionsLog2]!;
  return partitionWord(m, table, Number(hash >> BigInt(64 - log2)));
}

function partitionWord(m: Views, table: number, partition: number): number {
  return (m.u32[table / 4 + TABLE.partitions]! + partition * PARTITION_BYTES) / 4;
}

/** Address of the slot for which `wanted` is true, looked for from the first bucket of `hash` on. */
function walk(m: Views, partition: number, hash: bigint, wanted: (id: bigint, row: number) => boolean): number {
  const index = m.u32[partition + PARTITION.index]!;
  const mask = m.u32[partition + PARTITION.mask]!;
  for (let bucket = Number(hash & 0xffffffffn) & mask; ; bucket = (bucket + 1) & mask) {
    const at = index + (bucket >>> 0) * BUCKET_BYTES;
    for (let i = 0; i < BUCKET_SLOTS; i++) {
      const slot = at + i * 4;
      if (wanted(m.i64[at / 8 + i]!, m.u32[slot / 4 + ROW]!)) return slot;
    }
  }
}

/** Slot of `id`, or 0. */
export function findSlot(m: Views, table: number, id: bigint): number {
  const hash = mix64BigInt(id);
  const partition = partitionAt(m, table, hash);
  if (m.u32[partition + PARTITION.index] === 0) return 0;
  const slot = walk(m, partition, hash, (other, row) => row === ROW_FREE || (row !== ROW_REMOVED && other === id));
  return m.u32[slot / 4 + ROW] === ROW_FREE ? 0 : slot;
}

function indexInsert(m: Views, partition: number, id: bigint, row: number, time: number): number {
  const slot = walk(m, partition, mix64BigInt(id), (_, other) => other === ROW_FREE);
  const bucket = Math.floor(slot / BUCKET_BYTES) * BUCKET_BYTES;
  m.i64[(slot + (slot - bucket)) / 8] = id;
  m.u32[slot / 4 + ROW] = row;
  m.u32[slot / 4 + TIME] = time;
  return slot;
}

/** Address of every slot of a partition that has a row. */
function* liveSlots(m: Views, index: number, buckets: number): Generator<number> {
  for (let bucket = index; bucket < index + buckets * BUCKET_BYTES; bucket += BUCKET_BYTES) {
    for (let i = 0; i < BUCKET_SLOTS; i++) {
      if (m.u32[bucket / 4 + i + ROW]! > ROW_REMOVED) yield bucket + i * 4;
    }
  }
}

function idOf(m: Views, slot: number): bigint {
  const bucket = Math.floor(slot / BUCKET_BYTES) * BUCKET_BYTES;
  return m.i64[(slot + (slot - bucket)) / 8]!;
}

function bucketsOf(m: Views, partition: number): number {
  return m.u32[partition + PARTITION.index] === 0 ? 0 : m.u32[partition + PARTITION.mask]! + 1;
}

function reserveSlot(m: Views, table: number, partition: number): boolean {
  const buckets = bucketsOf(m, partition);
  if (m.u32[partition + PARTITION.slotsTaken]! + 1 <= buckets * 3) return true;
  const rows = m.u32[partition + PARTITION.rows]! + 1;
  return rebuildIndex(m, table, partition, buckets === 0 ? 1 : rows * 8 > buckets * 12 ? buckets * 2 : buckets);
}

function rebuildIndex(m: Views, table: number, partition: number, buckets: number): boolean {
  const heap = m.u32[table / 4 + TABLE.heap]!;
  const old = m.u32[partition + PARTITION.index]!;
  const oldBuckets = bucketsOf(m, partition);
  const index = heapAlloc(m, heap, buckets * BUCKET_BYTES);
  if (index === 0) return false;
  m.u32[partition + PARTITION.index] = index;
  m.u32[partition + PARTITION.mask] = buckets - 1;
  m.u32[partition + PARTITION.slotsTaken] = m.u32[partition + PARTITION.rows]!;
  for (const slot of liveSlots(m, old, oldBuckets)) {
    indexInsert(m, partition, idOf(m, slot), m.u32[slot / 4 + ROW]!, m.u32[slot / 4 + TIME]!);
  }
  if (old !== 0) heapFree(m, heap, old, oldBuckets * BUCKET_BYTES);
  return true;
}

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
    const rows = last === 0 ? ROWS_BLOCK_MIN : Math.min(m.u32[partition + PARTITION.blockRows]! * 2, ROWS_BLOCK_MAX);
    const bytes = 2 ** sizeLog2(BLOCK_HEADER_BYTES + rows * rowBytes);
    const block = heapAlloc(m, m.u32[table / 4 + TABLE.heap]!, bytes);
    if (block === 0) return 0;
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

export function tableInitRow(m: Views, table: number, row: number, id: bigint): void {
  const t = table / 4;
  const states = row + m.u32[t + TABLE.dim]! * 4;
  const seed = BigInt.asUintN(64, BigInt(m.u32[t + TABLE.seed]!) * 0x9e3779b97f4a7c15n);
  const base = mix64BigInt(BigInt.asUintN(64, id) ^ seed);
  for (let s = 0; s < m.u32[t + TABLE.segments]!; s++) {
    const segment = t + SEGMENTS + s * SEGMENT_WORDS;
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
  if (!reserveSlot(m, table, partition)) return 0;
  const row = newRow(m, table, partition);
  if (row === 0) return 0;
  tableInitRow(m, table, row, id);
  m.u32[partition + PARTITION.rows]! += 1;
  m.u32[partition + PARTITION.slotsTaken]! += 1;
  return indexInsert(m, partition, id, row, 0);
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

export function tableFind(m: Views, table: number, ids: number, n: number, rows: number, slots: number): number {
  let found = 0;
  for (let i = 0; i < n; i++) {
    const slot = findSlot(m, table, m.i64[ids / 8 + i]!);
    if (slot !== 0) found++;
    m.u32[rows / 4 + i] = slot === 0 ? m.u32[table / 4 + TABLE.zeroRow]! : m.u32[slot / 4 + ROW]!;
    if (slots !== 0) m.u32[slots / 4 + i] = slot;
  }
  return found;
}

/** Steps every segment of a row. */
export function optimizeRow(m: Views, table: number, row: number, gradient: number): void {
  const t = table / 4;
  const states = row + m.u32[t + TABLE.dim]! * 4;
  for (let s = 0; s < m.u32[t + TABLE.segments]!; s++) {
    const segment = t + SEGMENTS + s * SEGMENT_WORDS;
    const dim = m.u32[segment + SEGMENT.dim]!;
    const offset = m.u32[segment + SEGMENT.weightOffset]! * 4;
    const state = states + m.u32[segment + SEGMENT.stateOffset]! * 4;
    const kind = m.u32[segment + SEGMENT.optimizer]!;
    applyOptimizerF32(m, kind, row + offset, state, gradient + offset, dim, (segment + SEGMENT.parameters) * 4);
  }
}

/** The updates of one partition: position in the slices, id and gradient, in slice order. */
function* updatesOf(m: Views, partition: number, slices: number, sliceCount: number) {
  for (let s = 0; s < sliceCount; s++) {
    const slice = (slices + s * APPLY_SLICE_BYTES) / 4;
    const word = (name: keyof typeof APPLY_SLICE) => m.u32[slice + APPLY_SLICE[name]]!;
    const offsets = word('offsets') / 4 + partition;
    for (let k = m.u32[offsets]!; k < m.u32[offsets + 1]!; k++) {
      const u = m.u32[word('order') / 4 + k]!;
      const gradient = word('gradients') + u * word('stride') * 4;
      yield {
        id: m.i64[word('ids') / 8 + u]!,
        gradient,
        slotWord: word('slots') / 4 + u,
        rowWord: word('rows') / 4 + u,
      };
    }
  }
}

/** Rows for ids that have none. Ids that were found keep what was found: an index that grows moves slots, not rows. */
function insertAbsent(m: Views, table: number, updates: ReturnType<typeof updatesOf>): boolean {
  for (const { id, slotWord, rowWord } of updates) {
    const slot = upsertSlot(m, table, id);
    if (slot === 0) return false;
    if (m.u32[slotWord] === 0) m.u32[rowWord] = m.u32[slot / 4 + ROW]!;
  }
  return true;
}

export function tableApply(
  m: Views,
  table: number,
  first: number,
  end: number,
  slices: number,
  sliceCount: number,
  merged: number,
  updateSec: number,
): number {
  const dim = m.u32[table / 4 + TABLE.dim]!;
  let stepped = 0;
  const insert = (partition: number) => insertAbsent(m, table, updatesOf(m, partition, slices, sliceCount));
  if (sliceCount === 1) {
    for (let partition = first; partition < end; partition++) if (!insert(partition)) return -1;
  }
  for (let partition = first; partition < end; partition++) {
    if (sliceCount > 1 && !insert(partition)) return -1;
    let count = 0;
    for (const { id, gradient, slotWord } of updatesOf(m, partition, slices, sliceCount)) {
      const slot = findSlot(m, table, id);
      m.u32[slotWord] = slot;
      const row = m.u32[slot / 4 + ROW]!;
      if ((row & ROW_SUMMING) === 0) {
        m.u32[slot / 4 + ROW] = row + ROW_SUMMING;
        m.u32[slot / 4 + TIME] = gradient;
        m.u32[merged / 4 + count++] = slot;
      } else {
        const sum = m.u32[slot / 4 + TIME]! / 4;
        for (let c = 0; c < dim; c++) m.f32[sum + c]! += m.f32[gradient / 4 + c]!;
      }
    }
    for (let i = 0; i < count; i++) {
      const slot = m.u32[merged / 4 + i]! / 4;
      m.u32[slot + ROW]! -= ROW_SUMMING;
      optimizeRow(m, table, m.u32[slot + ROW]!, m.u32[slot + TIME]!);
      m.u32[slot + TIME] = updateSec;
    }
    stepped += count;
  }
  return stepped;
}

export function tableEvict(m: Views, table: number, first: number, end: number, nowSec: number, days: number): number {
  let removed = 0;
  for (let p = first; p < end; p++) {
    const partition = partitionWord(m, table, p);
    for (const slot of liveSlots(m, m.u32[partition + PARTITION.index]!, bucketsOf(m, partition))) {
      const featureSlot = Number((BigInt.asUintN(64, idOf(m, slot)) >> 48n) & 0x7fffn);
      const age = nowSec - m.u32[slot / 4 + TIME]!;
      if (age < m.u32[days / 4 + featureSlot]! * 86400) continue;
      const row = m.u32[slot / 4 + ROW]!;
      m.u32[slot / 4 + ROW] = ROW_REMOVED;
      m.u32[row / 4] = m.u32[partition + PARTITION.freeRow]!;
      m.u32[partition + PARTITION.freeRow] = row;
      m.u32[partition + PARTITION.rows]! -= 1;
      removed++;
    }
  }
  return removed;
}

export function tableClear(m: Views, table: number, first: number, end: number): void {
  const heap = m.u32[table / 4 + TABLE.heap]!;
  for (let p = first; p < end; p++) {
    const partition = partitionWord(m, table, p);
    const index = m.u32[partition + PARTITION.index]!;
    if (index !== 0) heapFree(m, heap, index, bucketsOf(m, partition) * BUCKET_BYTES);
    for (let block = m.u32[partition + PARTITION.firstBlock]!; block !== 0; ) {
      const next = m.u32[block / 4 + BLOCK.next]!;
      heapFree(m, heap, block, m.u32[block / 4 + BLOCK.bytes]!);
      block = next;
    }
    m.u32.fill(0, partition, partition + PARTITION_BYTES / 4);
  }
}
