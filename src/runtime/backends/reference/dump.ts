/**
 * @file Plain twin of assembly/dump: the same records from the same plan, byte by byte.
 *
 * Checksums run over the message as it is, so that the twin also holds the kernels to their shortcut of summing only
 * what is not constant.
 */
import {
  DECODE_END,
  DECODE_PROGRESS,
  DUMP_PLAN,
  DUMP_PLAN_RUNS,
  DUMP_RUN,
  DUMP_RUN_WORDS,
  TIME_BYTES_MAX,
} from '../../../memory/dump-layout.js';
import { BUCKET_BYTES, PARTITION, PARTITION_BYTES, SLOT, slotLimit, TABLE } from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { heapAlloc, heapOf } from './heap.js';
import { upsertSlot } from './table-rows.js';

const POLYNOMIAL = 0x82f63b78;
const TABLES = 8;

/** One byte through the register, bit by bit. */
function shiftByte(state: number): number {
  let crc = state;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc >>> 0;
}

/** Fills CRC_TABLES_BYTES at `tables`, which the plan and crc32cBytes name. */
export function crc32cTables(m: Views, tables: number): void {
  for (let b = 0; b < 256; b++) {
    let crc = b;
    for (let k = 0; k < TABLES; k++) {
      // Eight steps of a state are those of its last byte, and a shift of the rest.
      crc = (shiftByte(crc & 0xff) ^ (crc >>> 8)) >>> 0;
      m.u32[tables / 4 + k * 256 + b] = crc;
    }
  }
}

/** Fills CRC_SHIFT_BYTES at `shift`, by which `bytes` bytes of zero are one step. */
export function crc32cShift(m: Views, tables: number, shift: number, bytes: number): void {
  for (let i = 0; i < 1024; i++) {
    m.u32[shift / 4 + i] = withZeros(m, tables, ((i & 0xff) << (8 * (i >> 8))) >>> 0, bytes);
  }
}

/** What a checksum becomes when `count` bytes follow, less the checksum of those bytes. */
function withZeros(m: Views, tables: number, crc: number, count: number): number {
  let state = crc;
  for (let i = 0; i < count; i++) state = m.u32[tables / 4 + (state & 0xff)]! ^ (state >>> 8);
  return state >>> 0;
}

export function crc32cBytes(m: Views, tables: number, bytes: number, n: number, previous: number): number {
  let crc = ~previous;
  for (let i = 0; i < n; i++) crc = m.u32[tables / 4 + ((crc ^ m.u8[bytes + i]!) & 0xff)]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

function stored(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function putU32(m: Views, at: number, value: number): void {
  for (let i = 0; i < 4; i++) m.u8[at + i] = (value >>> (8 * i)) & 0xff;
}

function takeU32(m: Views, at: number): number {
  return (m.u8[at]! | (m.u8[at + 1]! << 8) | (m.u8[at + 2]! << 16) | (m.u8[at + 3]! << 24)) >>> 0;
}

/** For each float of the plan: where it is in a row and where in the message. */
function* floatsOf(m: Views, plan: number): Generator<{ row: number; message: number }> {
  for (let run = 0; run < m.u32[plan / 4 + DUMP_PLAN.runs]!; run++) {
    const at = plan / 4 + DUMP_PLAN_RUNS + run * DUMP_RUN_WORDS;
    for (let i = 0; i < m.u32[at + DUMP_RUN.count]!; i++) {
      yield { row: m.u32[at + DUMP_RUN.row]! + 4 * i, message: m.u32[at + DUMP_RUN.message]! + 5 * i };
    }
  }
}

/** Records of the rows of `n` slots; returns their bytes. `scratch` is for the kernel. */
export function encodeEntries(m: Views, plan: number, slots: number, n: number, out: number, _scratch: number): number {
  const word = (name: keyof typeof DUMP_PLAN) => m.u32[plan / 4 + DUMP_PLAN[name]]!;
  let at = out;
  for (let i = 0; i < n; i++) {
    const slot = m.u32[slots / 4 + i]!;
    const payload = at + 12;
    m.u8.copyWithin(payload, word('template'), word('template') + word('fixedBytes'));
    const id = slot + (slot % BUCKET_BYTES);
    m.u8.copyWithin(payload + 1, id, id + 8);
    const row = m.u32[(slot + SLOT.row) / 4]!;
    for (const float of floatsOf(m, plan)) {
      m.u8.copyWithin(payload + float.message, row + float.row, row + float.row + 4);
    }
    let end = payload + word('fixedBytes');
    let time = m.u32[(slot + SLOT.time) / 4]!;
    for (; time >= 0x80; time >>>= 7) m.u8[end++] = (time & 0x7f) | 0x80;
    m.u8[end++] = time;
    putU32(m, at, end - payload);
    putU32(m, at + 4, 0);
    putU32(m, at + 8, stored(crc32cBytes(m, word('tables'), at, 8, 0)));
    putU32(m, end, stored(crc32cBytes(m, word('tables'), payload, end - payload, 0)));
    at = end + 4;
  }
  return at - out;
}

/** Records into columns; returns how many. `progress` says where and why it ended (DECODE_PROGRESS, DECODE_END). */
export function decodeEntries(
  m: Views,
  plan: number,
  bytes: number,
  end: number,
  limit: number,
  ids: number,
  times: number,
  rows: number,
  rowStride: number,
  progress: number,
): number {
  let at = bytes;
  let count = 0;
  let why: number = DECODE_END.full;
  let crc = m.u32[progress / 4 + DECODE_PROGRESS.crc]!;
  while (count < limit) {
    const size = frameSize(m, plan, at, end);
    if (typeof size === 'string') {
      why = DECODE_END[size];
      break;
    }
    const payload = at + 12;
    const time = timeOf(m, plan, payload, size);
    if (time === null || !hasConstants(m, plan, payload)) {
      why = DECODE_END.unusual;
      break;
    }
    if (m.u32[plan / 4 + DUMP_PLAN.skips] === 0) crc = crcWithRecord(m, plan, crc, at, size);
    m.u8.copyWithin(ids + 8 * count, payload + 1, payload + 9);
    m.u32[times / 4 + count] = time;
    const row = rows + count * rowStride;
    for (const float of floatsOf(m, plan)) {
      m.u8.copyWithin(row + float.row, payload + float.message, payload + float.message + 4);
    }
    count++;
    at = payload + size + 4;
  }
  m.u32[progress / 4 + DECODE_PROGRESS.next] = at;
  m.u32[progress / 4 + DECODE_PROGRESS.why] = why;
  m.u32[progress / 4 + DECODE_PROGRESS.crc] = crc;
  return count;
}

/** Checksum of a file that had `crc` and goes on with the record at `at`, if the record's stored one is right. */
function crcWithRecord(m: Views, plan: number, crc: number, at: number, size: number): number {
  const tables = m.u32[plan / 4 + DUMP_PLAN.tables]!;
  const payload = at + 12;
  const masked = (takeU32(m, payload + size) - 0xa282ead8) >>> 0;
  const payloadCrc = ((masked >>> 17) | (masked << 15)) >>> 0;
  const withHeader = crc32cBytes(m, tables, at, 12, crc);
  const withPayload = (withZeros(m, tables, withHeader, size) ^ payloadCrc) >>> 0;
  return crc32cBytes(m, tables, payload + size, 4, withPayload);
}

/** Size of the message of a whole frame whose checksums are right, as far as they are looked at here. */
function frameSize(m: Views, plan: number, at: number, end: number): number | 'needsBytes' | 'unusual' {
  const tables = m.u32[plan / 4 + DUMP_PLAN.tables]!;
  if (end - at < 16) return 'needsBytes';
  const size = takeU32(m, at);
  if (takeU32(m, at + 4) !== 0 || size > 0x0fffffff || size <= m.u32[plan / 4 + DUMP_PLAN.fixedBytes]!)
    return 'unusual';
  const timeBytes = size - m.u32[plan / 4 + DUMP_PLAN.fixedBytes]!;
  if (m.u32[plan / 4 + DUMP_PLAN.skips] === 0 && timeBytes > TIME_BYTES_MAX) return 'unusual';
  if (takeU32(m, at + 8) !== stored(crc32cBytes(m, tables, at, 8, 0))) return 'unusual';
  if (end - at < size + 16) return 'needsBytes';
  if (m.u32[plan / 4 + DUMP_PLAN.skips] === 0) return size;
  return takeU32(m, at + 12 + size) === stored(crc32cBytes(m, tables, at + 12, size, 0)) ? size : 'unusual';
}

function hasConstants(m: Views, plan: number, payload: number): boolean {
  const [template, mask] = [m.u32[plan / 4 + DUMP_PLAN.template]!, m.u32[plan / 4 + DUMP_PLAN.mask]!];
  for (let i = 0; i < m.u32[plan / 4 + DUMP_PLAN.fixedBytes]!; i++) {
    if ((m.u8[mask + i]! & (m.u8[payload + i]! ^ m.u8[template + i]!)) !== 0) return false;
  }
  return true;
}

/** The time at the end of the message; null when there is something else. */
function timeOf(m: Views, plan: number, payload: number, size: number): number | null {
  let at = payload + m.u32[plan / 4 + DUMP_PLAN.fixedBytes]!;
  const end = payload + size;
  if (m.u32[plan / 4 + DUMP_PLAN.skips] === 1) {
    if (m.u8[at] === 0x1a) {
      const length = varintOf(m, at + 1, Math.min(end, at + 5));
      if (length === null || length.next + length.value >= end) return null;
      at = length.next + length.value;
    }
    if (at >= end || m.u8[at++] !== 0x20) return null;
  }
  const time = varintOf(m, at, Math.min(end, at + TIME_BYTES_MAX));
  return time === null || time.next !== end || time.value > 0xffffffff ? null : time.value;
}

function varintOf(m: Views, from: number, end: number): { value: number; next: number } | null {
  let value = 0;
  for (let at = from, scale = 1; at < end; at++, scale *= 0x80) {
    value += (m.u8[at]! & 0x7f) * scale;
    if (m.u8[at]! < 0x80) return { value, next: at + 1 };
  }
  return null;
}

/**
 * Rows from columns into the table; returns how many, fewer than n = heap full. The kernel takes the partitions' locks.
 */
export function loadRows(
  m: Views,
  table: number,
  ids: number,
  times: number,
  rows: number,
  stride: number,
  n: number,
  _scratch: number,
): number {
  const rowBytes = m.u32[table / 4 + TABLE.rowBytes]!;
  for (let i = 0; i < n; i++) {
    const slot = upsertSlot(m, table, m.i64[ids / 8 + i]!);
    if (slot === 0) return i;
    m.u32[(slot + SLOT.time) / 4] = m.u32[times / 4 + i]!;
    const row = m.u32[(slot + SLOT.row) / 4]!;
    m.u8.copyWithin(row, rows + i * stride, rows + i * stride + rowBytes);
  }
  return n;
}

/** Gives a partition that has no index one for `rows` rows, if the heap has room. */
export function reserveRows(m: Views, table: number, partition: number, rows: number): void {
  const at = (m.u32[table / 4 + TABLE.partitions]! + partition * PARTITION_BYTES) / 4;
  if (m.u32[at + PARTITION.index] !== 0) return;
  let buckets = 1;
  while (slotLimit(partition, buckets) < rows) buckets *= 2;
  const index = heapAlloc(m, heapOf(m, table, at), buckets * BUCKET_BYTES);
  if (index === 0) return;
  m.u32[at + PARTITION.index] = index;
  m.u32[at + PARTITION.mask] = buckets - 1;
}
