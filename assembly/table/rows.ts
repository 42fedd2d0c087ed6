// Rows of a table: where they are, what they start with, and how an id gets one.
import {
  BLOCK, BLOCK_HEADER_BYTES, INITIALIZER, PARTITION, ROWS_BLOCK_MAX, ROWS_BLOCK_MIN, SEGMENT, SLOT, TABLE,
} from "../generated/layouts";
import { mix64 } from "../hash";
import { fillRun } from "../dense/vectors";
import { heapAlloc } from "../heap";
import { initOptimizerState } from "../optim/step";
import { bucketOf, fillSlot, insertId, partitionAt, removedPlace, reserveSlot, segmentAt, slotOf } from "./index";
import { heapOf } from "./shares";
import { encodeZeros, isServing } from "./retriever";

/** A row that was given back, or a fresh one at the end of the last block; 0 when the heap is full. */
export function newRow(table: usize, partition: usize): usize {
  const spare = <usize>load<u32>(partition, PARTITION.freeRow);
  if (spare != 0) {
    store<u32>(partition, load<u32>(spare), PARTITION.freeRow);
    return spare;
  }
  const rowBytes = <usize>load<u32>(table, TABLE.rowBytes);
  let row = <usize>load<u32>(partition, PARTITION.nextRow);
  if (row == <usize>load<u32>(partition, PARTITION.blockEnd)) {
    const last = <usize>load<u32>(partition, PARTITION.lastBlock);
    const heap = heapOf(table, partition);
    let rows: u32 = last == 0 ? ROWS_BLOCK_MIN : min(load<u32>(partition, PARTITION.blockRows) << 1, ROWS_BLOCK_MAX);
    // The heap hands out powers of two: fill the block it would give anyway. The last of its room goes in smaller ones.
    let bytes: u32 = (<u32>1) << (32 - clz(BLOCK_HEADER_BYTES + rows * <u32>rowBytes - 1));
    let block = heapAlloc(heap, bytes);
    while (block == 0 && rows > ROWS_BLOCK_MIN) {
      rows >>= 1;
      bytes = (<u32>1) << (32 - clz(BLOCK_HEADER_BYTES + rows * <u32>rowBytes - 1));
      block = heapAlloc(heap, bytes);
    }
    if (block == 0) return 0;
    if (last == 0) store<u32>(partition, <u32>block, PARTITION.firstBlock);
    else store<u32>(last, <u32>block, BLOCK.next);
    store<u32>(partition, <u32>block, PARTITION.lastBlock);
    store<u32>(partition, rows, PARTITION.blockRows);
    store<u32>(block, bytes, BLOCK.bytes);
    row = block + BLOCK_HEADER_BYTES;
    store<u32>(
      partition, <u32>(row + <usize>((bytes - BLOCK_HEADER_BYTES) / <u32>rowBytes) * rowBytes), PARTITION.blockEnd,
    );
  }
  store<u32>(partition, <u32>(row + rowBytes), PARTITION.nextRow);
  return row;
}

/** Gives a row back to its partition. */
export function freeRow(partition: usize, row: usize): void {
  store<u32>(row, load<u32>(partition, PARTITION.freeRow));
  store<u32>(partition, <u32>row, PARTITION.freeRow);
}

/**
 * Weights from the initializer, state from the optimizer. Uniform values depend on (seed, id, component) alone. A
 * serving row has neither and starts with zeros.
 */
export function tableInitRow(table: usize, row: usize, id: i64): void {
  if (isServing(table)) {
    encodeZeros(table, row);
    return;
  }
  const states = row + (<usize>load<u32>(table, TABLE.dim) << 2);
  const segments = load<u32>(table, TABLE.segments);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = segmentAt(table, s);
    const dim = load<u32>(segment, SEGMENT.dim);
    const first = load<u32>(segment, SEGMENT.weightOffset);
    const w = row + (<usize>first << 2);
    const state = states + (<usize>load<u32>(segment, SEGMENT.stateOffset) << 2);
    const kind = load<u32>(segment, SEGMENT.initializer);
    const a = load<f32>(segment, SEGMENT.initialA);
    if (kind == INITIALIZER.uniform) drawUniform(table, id, first, w, dim, a, load<f32>(segment, SEGMENT.initialB));
    else fillRun(kind == INITIALIZER.constant ? a : 0, w, dim);
    initOptimizerState(load<i32>(segment, SEGMENT.optimizer), state, dim, segment + SEGMENT.parameters);
  }
}

/** w[0..dim) = uniform values of [a, b) for the components of `id` from `first` on. */
function drawUniform(table: usize, id: i64, first: u32, w: usize, dim: u32, a: f32, b: f32): void {
  const base = mix64(<u64>id ^ (<u64>load<u32>(table, TABLE.seed) * 0x9E3779B97F4A7C15));
  const end = w + (<usize>dim << 2);
  let at = base + <u64>first * 0xD1B54A32D192ED03;
  for (; w < end; w += 4, at += 0xD1B54A32D192ED03) {
    store<f32>(w, <f32>(<u32>(mix64(at) >> 40)) * <f32>5.9604644775390625e-8 * (b - a) + a);
  }
}

/**
 * Slot of `id`, whose row is made and initialised when absent; 0 when the heap is full. Only the partition's owner may
 * call.
 */
export function upsertSlot(table: usize, id: i64): usize {
  const hash = mix64(<u64>id);
  const partition = partitionAt(table, hash);
  const found = slotOf(partition, bucketOf(partition, hash), id);
  return found != 0 ? found : insertSlot(table, partition, hash, id);
}

/** Slot of an absent id, with a row; 0 when the heap is full. */
export function insertSlot(table: usize, partition: usize, hash: u64, id: i64): usize {
  // The place of a removed id on the way costs the index nothing.
  const place = removedPlace(partition, hash);
  if (place == 0 && !reserveSlot(table, partition)) return 0;
  const row = newRow(table, partition);
  if (row == 0) return 0;
  tableInitRow(table, row, id);
  store<u32>(partition, load<u32>(partition, PARTITION.rows) + 1, PARTITION.rows);
  if (place != 0) {
    fillSlot(place, id, <u32>row);
    return place;
  }
  store<u32>(partition, load<u32>(partition, PARTITION.slotsTaken) + 1, PARTITION.slotsTaken);
  return insertId(table, partition, hash, id, <u32>row);
}

/**
 * Rows of ids[0..n), made when absent, as addresses in `rows`; their time becomes times[i], unless `times` is 0.
 * Returns how many were handled: fewer than n = the heap is full.
 */
export function tableUpsert(table: usize, ids: usize, n: u32, rows: usize, times: usize): u32 {
  for (let i: u32 = 0; i < n; i++) {
    const slot = upsertSlot(table, load<i64>(ids + (<usize>i << 3)));
    if (slot == 0) return i;
    store<u32>(rows + (<usize>i << 2), load<u32>(slot, SLOT.row));
    if (times != 0) store<u32>(slot, load<u32>(times + (<usize>i << 2)), SLOT.time);
  }
  return n;
}
