/** @file Plain twin of assembly/table/index.ts: which row an id has. */
import { mix64BigInt } from '../../../memory/hash.js';
import { secretOf } from '../../../memory/secret.js';
import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  bucketsOfMask,
  PARTITION,
  PARTITION_BYTES,
  ROW_FREE,
  ROW_REMOVED,
  SALTED,
  SLOT,
  slotLimit,
  TABLE,
} from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { heapAlloc, heapFree, heapOf } from './heap.js';

/** Words of a slot, counted from its address. */
export const ROW = SLOT.row / 4;
export const TIME = SLOT.time / 4;

/** Word index of the partition that owns `hash`. */
export function partitionAt(m: Views, table: number, hash: bigint): number {
  const log2 = m.u32[table / 4 + TABLE.partitionsLog2]!;
  return partitionWord(m, table, Number(hash >> BigInt(64 - log2)));
}

export function partitionWord(m: Views, table: number, partition: number): number {
  return (m.u32[table / 4 + TABLE.partitions]! + partition * PARTITION_BYTES) / 4;
}

/** Number of the first bucket of `hash`. */
function firstBucket(m: Views, partition: number, hash: bigint): number {
  const place = isSalted(m, partition) ? mix64BigInt(hash, secretOf(m)) : hash;
  return Number(place & BigInt(bucketsOf(m, partition) - 1));
}

function isSalted(m: Views, partition: number): boolean {
  return m.u32[partition + PARTITION.mask]! >= SALTED;
}

/** Address of the slot for which `wanted` is true, looked for from the first bucket of `hash` on. */
function walk(m: Views, partition: number, hash: bigint, wanted: (id: bigint, row: number) => boolean): number {
  const index = m.u32[partition + PARTITION.index]!;
  const mask = bucketsOf(m, partition) - 1;
  for (let bucket = firstBucket(m, partition, hash); ; bucket = (bucket + 1) & mask) {
    const at = index + bucket * BUCKET_BYTES;
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

export function indexInsert(m: Views, partition: number, id: bigint, row: number, time: number): number {
  const slot = walk(m, partition, mix64BigInt(id), (_, other) => other === ROW_FREE);
  fillSlot(m, slot, id, row, time);
  return slot;
}

/** Address of every slot of a partition that has a row. */
export function* liveSlots(m: Views, index: number, buckets: number): Generator<number> {
  for (let bucket = index; bucket < index + buckets * BUCKET_BYTES; bucket += BUCKET_BYTES) {
    for (let i = 0; i < BUCKET_SLOTS; i++) {
      if (m.u32[bucket / 4 + i + ROW]! > ROW_REMOVED) yield bucket + i * 4;
    }
  }
}

export function idOf(m: Views, slot: number): bigint {
  const bucket = Math.floor(slot / BUCKET_BYTES) * BUCKET_BYTES;
  return m.i64[(slot + (slot - bucket)) / 8]!;
}

export function bucketsOf(m: Views, partition: number): number {
  return m.u32[partition + PARTITION.index] === 0 ? 0 : bucketsOfMask(m.u32[partition + PARTITION.mask]!);
}

export function reserveSlot(m: Views, table: number, partition: number): boolean {
  const buckets = bucketsOf(m, partition);
  const p = (partition - partitionWord(m, table, 0)) / (PARTITION_BYTES / 4);
  if (m.u32[partition + PARTITION.slotsTaken]! + 1 <= slotLimit(p, buckets)) return true;
  const rows = m.u32[partition + PARTITION.rows]! + 1;
  const wanted = buckets === 0 ? 1 : rows * 8 > buckets * 12 ? buckets * 2 : buckets;
  if (rebuildIndex(m, table, partition, wanted, isSalted(m, partition))) return true;
  const limit = buckets * 4 - Math.max(1, Math.floor(buckets / 4));
  return buckets !== 0 && m.u32[partition + PARTITION.slotsTaken]! + 1 <= limit;
}

/** A slot of a removed id that an absent one may have, in the first bucket on its way that has any, or 0. */
export function removedPlace(m: Views, partition: number, id: bigint): number {
  const index = m.u32[partition + PARTITION.index]!;
  if (index === 0 || isSalted(m, partition)) return 0;
  const mask = bucketsOf(m, partition) - 1;
  for (let bucket = firstBucket(m, partition, mix64BigInt(id)); ; bucket = (bucket + 1) & mask) {
    const at = index + bucket * BUCKET_BYTES;
    const words = m.u32.subarray(at / 4 + ROW, at / 4 + ROW + BUCKET_SLOTS);
    const removed = words.indexOf(ROW_REMOVED);
    if (removed >= 0) return at + removed * 4;
    if (words.includes(ROW_FREE)) return 0;
  }
}

/** Puts (id, row, time) into a slot. */
export function fillSlot(m: Views, slot: number, id: bigint, row: number, time: number): void {
  const bucket = Math.floor(slot / BUCKET_BYTES) * BUCKET_BYTES;
  m.i64[(slot + (slot - bucket)) / 8] = id;
  m.u32[slot / 4 + ROW] = row;
  m.u32[slot / 4 + TIME] = time;
}

function rebuildIndex(m: Views, table: number, partition: number, buckets: number, salted: boolean): boolean {
  const heap = heapOf(m, table, partition);
  const old = m.u32[partition + PARTITION.index]!;
  const oldBuckets = bucketsOf(m, partition);
  const index = heapAlloc(m, heap, buckets * BUCKET_BYTES);
  if (index === 0) return false;
  m.u32[partition + PARTITION.index] = index;
  m.u32[partition + PARTITION.mask] = buckets - 1 + (salted ? SALTED : 0);
  m.u32[partition + PARTITION.slotsTaken] = m.u32[partition + PARTITION.rows]!;
  for (const slot of liveSlots(m, old, oldBuckets)) {
    indexInsert(m, partition, idOf(m, slot), m.u32[slot / 4 + ROW]!, m.u32[slot / 4 + TIME]!);
  }
  if (old !== 0) heapFree(m, heap, old, oldBuckets * BUCKET_BYTES);
  return true;
}

/** Full buckets in a row that natural ids do not make. */
const CROWD = 384;
/** Every so many buckets, one that is filled looks at those around it though it closes no gap. */
const MARK = 16;

function isFull(m: Views, index: number, bucket: number): boolean {
  const at = (index + bucket * BUCKET_BYTES) / 4 + ROW;
  return !m.u32.subarray(at, at + BUCKET_SLOTS).includes(ROW_FREE);
}

/** Full buckets that follow `bucket` in steps of `step`, counted up to a crowd. */
function fullFrom(m: Views, partition: number, bucket: number, step: number): number {
  const mask = bucketsOf(m, partition) - 1;
  const index = m.u32[partition + PARTITION.index]!;
  let full = 0;
  while (full < CROWD && isFull(m, index, (bucket + step * (full + 1)) & mask)) full++;
  return full;
}

/** Whether the last id, in `bucket`, is far from its first bucket or makes a crowd. */
function isFlooded(m: Views, partition: number, first: number, bucket: number): boolean {
  const mask = bucketsOf(m, partition) - 1;
  if (isSalted(m, partition) || mask < CROWD) return false;
  if (((bucket - first) & mask) >= CROWD) return true;
  if (!isFull(m, m.u32[partition + PARTITION.index]!, bucket)) return false;
  const [before, after] = [fullFrom(m, partition, bucket, -1), fullFrom(m, partition, bucket, 1)];
  return (bucket % MARK === 0 || (before > 0 && after > 0)) && before + 1 + after >= CROWD;
}

/** Where `id` is after it was put into `slot`: a flooded index is made anew with buckets by the secret. */
export function settleSlot(m: Views, table: number, partition: number, id: bigint, slot: number): number {
  const bucket = Math.floor((slot - m.u32[partition + PARTITION.index]!) / BUCKET_BYTES);
  if (!isFlooded(m, partition, firstBucket(m, partition, mix64BigInt(id)), bucket)) return slot;
  const buckets = bucketsOf(m, partition);
  const p = (partition - partitionWord(m, table, 0)) / (PARTITION_BYTES / 4);
  if (m.u32[partition + PARTITION.slotsTaken]! > slotLimit(p, buckets)) return slot;
  return rebuildIndex(m, table, partition, buckets, true) ? findSlot(m, table, id) : slot;
}
