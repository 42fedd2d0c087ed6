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
  OPTIMIZER,
  PARTITION,
  PARTITION_BYTES,
  ROW_HEADER_BYTES,
  ROW_SUM_WORD,
  ROW_UPDATE_WORD,
  ROWS_BLOCK_MAX,
  ROWS_BLOCK_MIN,
  SEGMENT,
  SEGMENT_WORDS,
  SEGMENTS,
  TABLE,
} from '../../memory/table-layout.js';
import type { Views } from '../../memory/views.js';
import { applyAdagradF32, applyFtrlF32, applySgdF32 } from './dense/optimizers.js';

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
  if (block !== 0) {
    m.u32[list] = m.u32[block / 4]!;
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

/** Word index of the partition that owns `hash`. */
function partitionAt(m: Views, table: number, hash: bigint): number {
  const log2 = m.u32[table / 4 + TABLE.partitionsLog2]!;
  const partition = Number(hash >> BigInt(64 - log2));
  return (m.u32[table / 4 + TABLE.partitions]! + partition * PARTITION_BYTES) / 4;
}

/** Visits the slots of the buckets an id may be in, until `visit` says that it is done. */
function walk(m: Views, partition: number, hash: bigint, visit: (keyIndex: number, rowIndex: number) => boolean): void {
  const index = m.u32[partition + PARTITION.index]!;
  const mask = m.u32[partition + PARTITION.mask]!;
  let bucket = Number(hash & 0xffffffffn) & mask;
  for (;;) {
    const at = index + (bucket >>> 0) * BUCKET_BYTES;
    for (let slot = 0; slot < BUCKET_SLOTS; slot++) if (visit(at / 8 + slot, at / 4 + 8 + slot)) return;
    bucket = (bucket + 1) & mask;
  }
}

/** Row address of `id`, or 0. */
function find(m: Views, partition: number, hash: bigint, id: bigint): number {
  if (m.u32[partition + PARTITION.index] === 0) return 0;
  let row = 0;
  walk(m, partition, hash, (key, slot) => {
    row = m.u32[slot]!;
    return row === 0 || m.i64[key] === id;
  });
  return row;
}

function indexInsert(m: Views, partition: number, hash: bigint, id: bigint, row: number): void {
  walk(m, partition, hash, (key, slot) => {
    if (m.u32[slot] !== 0) return false;
    m.i64[key] = id;
    m.u32[slot] = row;
    return true;
  });
}

function growIndex(m: Views, table: number, partition: number): boolean {
  const heap = m.u32[table / 4 + TABLE.heap]!;
  const old = m.u32[partition + PARTITION.index]!;
  const oldBuckets = old === 0 ? 0 : m.u32[partition + PARTITION.mask]! + 1;
  const buckets = Math.max(1, oldBuckets * 2);
  const index = heapAlloc(m, heap, buckets * BUCKET_BYTES);
  if (index === 0) return false;
  m.u32[partition + PARTITION.index] = index;
  m.u32[partition + PARTITION.mask] = buckets - 1;
  for (let bucket = old; bucket < old + oldBuckets * BUCKET_BYTES; bucket += BUCKET_BYTES) {
    for (let slot = 0; slot < BUCKET_SLOTS; slot++) {
      const row = m.u32[bucket / 4 + 8 + slot]!;
      const id = m.i64[bucket / 8 + slot]!;
      if (row !== 0) indexInsert(m, partition, mix64BigInt(id), id, row);
    }
  }
  if (old !== 0) heapFree(m, heap, old, oldBuckets * BUCKET_BYTES);
  return true;
}

function newRow(m: Views, table: number, partition: number): number {
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
    row = block + BLOCK_HEADER_BYTES;
    m.u32[partition + PARTITION.blockEnd] = row + Math.floor((bytes - BLOCK_HEADER_BYTES) / rowBytes) * rowBytes;
  }
  m.u32[partition + PARTITION.nextRow] = row + rowBytes;
  m.u32[m.u32[partition + PARTITION.lastBlock]! / 4 + BLOCK.rows]! += 1;
  return row;
}

export function tableInitRow(m: Views, table: number, row: number): void {
  const t = table / 4;
  const weights = row + ROW_HEADER_BYTES;
  const states = weights + m.u32[t + TABLE.dim]! * 4;
  const seed = BigInt.asUintN(64, BigInt(m.u32[t + TABLE.seed]!) * 0x9e3779b97f4a7c15n);
  const base = mix64BigInt(BigInt.asUintN(64, m.i64[row / 8]!) ^ seed);
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
      m.f32[weights / 4 + first + c] = kind === INITIALIZER.uniform ? uniform : kind === INITIALIZER.constant ? a : 0;
    }
    const optimizer = m.u32[segment + SEGMENT.optimizer];
    if (optimizer === OPTIMIZER.sgd) continue;
    const state = states / 4 + m.u32[segment + SEGMENT.stateOffset]!;
    m.f32.fill(m.f32[segment + SEGMENT.stateInitial]!, state, state + dim);
    if (optimizer === OPTIMIZER.ftrl) m.f32.fill(0, state + dim, state + 2 * dim);
  }
}

function upsert(m: Views, table: number, id: bigint): number {
  const hash = mix64BigInt(id);
  const partition = partitionAt(m, table, hash);
  if (m.u32[partition + PARTITION.index] === 0 && !growIndex(m, table, partition)) return 0;
  const found = find(m, partition, hash, id);
  if (found !== 0) return found;
  const count = m.u32[partition + PARTITION.rows]! + 1;
  if (count > (m.u32[partition + PARTITION.mask]! + 1) * 3 && !growIndex(m, table, partition)) return 0;
  const row = newRow(m, table, partition);
  if (row === 0) return 0;
  m.i64[row / 8] = id;
  tableInitRow(m, table, row);
  indexInsert(m, partition, hash, id, row);
  m.u32[partition + PARTITION.rows] = count;
  return row;
}

export function tableUpsert(m: Views, table: number, ids: number, n: number, rows: number): number {
  for (let i = 0; i < n; i++) {
    const row = upsert(m, table, m.i64[ids / 8 + i]!);
    if (row === 0) return i;
    m.u32[rows / 4 + i] = row + ROW_HEADER_BYTES;
  }
  return n;
}

export function tableFind(m: Views, table: number, ids: number, n: number, rows: number): number {
  let found = 0;
  for (let i = 0; i < n; i++) {
    const id = m.i64[ids / 8 + i]!;
    const hash = mix64BigInt(id);
    const row = find(m, partitionAt(m, table, hash), hash, id);
    if (row !== 0) found++;
    m.u32[rows / 4 + i] = row === 0 ? m.u32[table / 4 + TABLE.zeroRow]! : row + ROW_HEADER_BYTES;
  }
  return found;
}

function optimizeRow(m: Views, table: number, weights: number, gradient: number): void {
  const t = table / 4;
  const states = weights + m.u32[t + TABLE.dim]! * 4;
  for (let s = 0; s < m.u32[t + TABLE.segments]!; s++) {
    const segment = t + SEGMENTS + s * SEGMENT_WORDS;
    const dim = m.u32[segment + SEGMENT.dim]!;
    const offset = m.u32[segment + SEGMENT.weightOffset]! * 4;
    const state = states + m.u32[segment + SEGMENT.stateOffset]! * 4;
    const lr = m.f32[segment + SEGMENT.learningRate]!;
    const [p0, p1, p2] = m.f32.subarray(segment + SEGMENT.parameters, segment + SEGMENT.parameters + 3) as unknown as [
      number,
      number,
      number,
    ];
    const [w, g] = [weights + offset, gradient + offset];
    const optimizer = m.u32[segment + SEGMENT.optimizer];
    if (optimizer === OPTIMIZER.sgd) applySgdF32(m, w, g, dim, lr);
    else if (optimizer === OPTIMIZER.adagrad) applyAdagradF32(m, w, state, g, dim, lr, p0);
    else applyFtrlF32(m, w, state, state + dim * 4, g, dim, lr, p0, p1, p2);
  }
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
  const zeroRow = m.u32[table / 4 + TABLE.zeroRow]!;
  const dim = m.u32[table / 4 + TABLE.dim]!;
  let stepped = 0;
  for (let partition = first; partition < end; partition++) {
    let count = 0;
    for (let s = 0; s < sliceCount; s++) {
      const slice = (slices + s * APPLY_SLICE_BYTES) / 4;
      const word = (name: keyof typeof APPLY_SLICE) => m.u32[slice + APPLY_SLICE[name]]!;
      const offsets = word('offsets') / 4 + partition;
      for (let k = m.u32[offsets]!; k < m.u32[offsets + 1]!; k++) {
        const u = m.u32[word('order') / 4 + k]!;
        let weights = m.u32[word('rows') / 4 + u]!;
        if (weights === zeroRow) {
          const row = upsert(m, table, m.i64[word('ids') / 8 + u]!);
          if (row === 0) {
            for (let i = 0; i < count; i++) m.u32[m.u32[merged / 4 + i]! / 4 - 1] = 0;
            return -1;
          }
          weights = row + ROW_HEADER_BYTES;
        }
        const gradient = word('gradients') + u * word('stride') * 4;
        const sumWord = (weights - ROW_HEADER_BYTES) / 4 + ROW_SUM_WORD;
        const sum = m.u32[sumWord]!;
        if (sum === 0) {
          m.u32[sumWord] = gradient;
          m.u32[merged / 4 + count++] = weights;
        } else for (let c = 0; c < dim; c++) m.f32[sum / 4 + c]! += m.f32[gradient / 4 + c]!;
      }
    }
    for (let i = 0; i < count; i++) {
      const weights = m.u32[merged / 4 + i]!;
      const row = (weights - ROW_HEADER_BYTES) / 4;
      optimizeRow(m, table, weights, m.u32[row + ROW_SUM_WORD]!);
      m.u32[row + ROW_SUM_WORD] = 0;
      m.u32[row + ROW_UPDATE_WORD] = updateSec;
    }
    stepped += count;
  }
  return stepped;
}
