/** @file Plain twin of assembly/table/index.ts: which row an id has. */
import { mix64BigInt } from '../../memory/hash.js';
import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  PARTITION,
  PARTITION_BYTES,
  ROW_FREE,
  ROW_REMOVED,
  SLOT_ROW_BYTES,
  SLOT_TIME_BYTES,
  slotLimit,
  TABLE,
} from '../../memory/table-layout.js';
import type { Views } from '../../memory/views.js';
import { heapAlloc, heapFree, heapOf } from './heap.js';

/** Words of a slot, counted from its address. */
export const ROW = SLOT_ROW_BYTES / 4;
export const TIME = SLOT_TIME_BYTES / 4;

/** Word index of the partition that owns `hash`. */
export function partitionAt(m: Views, table: number, hash: bigint): number {
  const log2 = m.u32[table / 4 + TABLE.partitionsLog2]!;
  return partitionWord(m, table, Number(hash >> BigInt(64 - log2)));
}

export function partitionWord(m: Views, table: number, partition: number): number {
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
  return m.u32[partition + PARTITION.index] === 0 ? 0 : m.u32[partition + PARTITION.mask]! + 1;
}

export function reserveSlot(m: Views, table: number, partition: number): boolean {
  const buckets = bucketsOf(m, partition);
  const p = (partition - partitionWord(m, table, 0)) / (PARTITION_BYTES / 4);
  if (m.u32[partition + PARTITION.slotsTaken]! + 1 <= slotLimit(p, buckets)) return true;
  const rows = m.u32[partition + PARTITION.rows]! + 1;
  const wanted = buckets === 0 ? 1 : rows * 8 > buckets * 12 ? buckets * 2 : buckets;
  if (rebuildIndex(m, table, partition, wanted)) return true;
  const limit = buckets * 4 - Math.max(1, Math.floor(buckets / 4));
  return buckets !== 0 && m.u32[partition + PARTITION.slotsTaken]! + 1 <= limit;
}

/** A slot of a removed id that an absent one may have, in the first bucket on its way that has any, or 0. */
export function removedPlace(m: Views, partition: number, id: bigint): number {
  const index = m.u32[partition + PARTITION.index]!;
  if (index === 0) return 0;
  const mask = m.u32[partition + PARTITION.mask]!;
  for (let bucket = Number(mix64BigInt(id) & 0xffffffffn) & mask; ; bucket = (bucket + 1) & mask) {
    const at = index + (bucket >>> 0) * BUCKET_BYTES;
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

function rebuildIndex(m: Views, table: number, partition: number, buckets: number): boolean {
  const heap = heapOf(m, table, partition);
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
