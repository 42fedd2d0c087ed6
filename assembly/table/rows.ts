// Rows of a table: where they are, what they start with, and how an id gets one.
import { mix64 } from "../hash";
import { heapAlloc } from "../heap";
import { initOptimizerState } from "../optim/step";
import { bucketOf, fillSlot, insertId, partitionAt, probe, removedPlace, reserveSlot } from "./index";
import { heapOf } from "./shares";
import { encodeZeros, isServing } from "./retriever";

/** Rows in the first block of a partition; each further block doubles, up to ROWS_BLOCK_MAX. */
const ROWS_BLOCK_MIN: u32 = 4;
const ROWS_BLOCK_MAX: u32 = 4096;

const INIT_UNIFORM: u32 = 1;
const INIT_CONSTANT: u32 = 2;

/** A row that was given back, or a fresh one at the end of the last block; 0 when the heap is full. */
export function newRow(table: usize, partition: usize): usize {
  const spare = <usize>load<u32>(partition, 32);
  if (spare != 0) {
    store<u32>(partition, load<u32>(spare), 32);
    return spare;
  }
  const rowBytes = <usize>load<u32>(table, 12);
  let row = <usize>load<u32>(partition, 12);
  if (row == <usize>load<u32>(partition, 16)) {
    const last = <usize>load<u32>(partition, 24);
    const heap = heapOf(table, partition);
    let rows: u32 = last == 0 ? ROWS_BLOCK_MIN : min(load<u32>(partition, 28) << 1, ROWS_BLOCK_MAX);
    // The heap hands out powers of two: fill the block it would give anyway. The last of its room goes in smaller ones.
    let bytes: u32 = (<u32>1) << (32 - clz(64 + rows * <u32>rowBytes - 1));
    let block = heapAlloc(heap, bytes);
    while (block == 0 && rows > ROWS_BLOCK_MIN) {
      rows >>= 1;
      bytes = (<u32>1) << (32 - clz(64 + rows * <u32>rowBytes - 1));
      block = heapAlloc(heap, bytes);
    }
    if (block == 0) return 0;
    if (last == 0) store<u32>(partition, <u32>block, 20);
    else store<u32>(last, <u32>block);
    store<u32>(partition, <u32>block, 24);
    store<u32>(partition, rows, 28);
    store<u32>(block, bytes, 4);
    row = block + 64;
    store<u32>(partition, <u32>(row + <usize>((bytes - 64) / <u32>rowBytes) * rowBytes), 16);
  }
  store<u32>(partition, <u32>(row + rowBytes), 12);
  return row;
}

/** Gives a row back to its partition. */
export function freeRow(partition: usize, row: usize): void {
  store<u32>(row, load<u32>(partition, 32));
  store<u32>(partition, <u32>row, 32);
}

/**
 * Weights from the initializer, state from the optimizer. Uniform values depend on (seed, id, component) alone. A serving
 * row has neither and starts with zeros.
 */
export function tableInitRow(table: usize, row: usize, id: i64): void {
  if (isServing(table)) {
    encodeZeros(table, row);
    return;
  }
  const states = row + (<usize>load<u32>(table, 4) << 2);
  const segments = load<u32>(table, 16);
  const base = mix64(<u64>id ^ (<u64>load<u32>(table, 24) * 0x9E3779B97F4A7C15));
  for (let s: u32 = 0; s < segments; s++) {
    const segment = table + 64 + (<usize>s << 7);
    const dim = load<u32>(segment);
    const first = load<u32>(segment, 4);
    const w = row + (<usize>first << 2);
    const state = states + (<usize>load<u32>(segment, 8) << 2);
    const kind = load<u32>(segment, 12);
    const a = load<f32>(segment, 16), b = load<f32>(segment, 20);
    for (let c: u32 = 0; c < dim; c++) {
      let value: f32 = 0;
      if (kind == INIT_CONSTANT) value = a;
      else if (kind == INIT_UNIFORM) {
        const bits = mix64(base + <u64>(first + c) * 0xD1B54A32D192ED03) >> 40;
        value = <f32>(<u32>bits) * <f32>5.9604644775390625e-8 * (b - a) + a;
      }
      store<f32>(w + (<usize>c << 2), value);
    }
    initOptimizerState(load<i32>(segment, 24), state, dim, segment + 64);
  }
}

/** Slot of `id`, whose row is made and initialised when absent; 0 when the heap is full. Only the partition's owner may call. */
export function upsertSlot(table: usize, id: i64): usize {
  const hash = mix64(<u64>id);
  const partition = partitionAt(table, hash);
  const found = probe(partition, bucketOf(partition, hash), id);
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
  store<u32>(partition, load<u32>(partition, 8) + 1, 8);
  if (place != 0) {
    fillSlot(place, id, <u32>row);
    return place;
  }
  store<u32>(partition, load<u32>(partition, 36) + 1, 36);
  return insertId(table, partition, hash, id, <u32>row);
}

/**
 * Rows of ids[0..n), made when absent, as addresses in `rows`; their time becomes times[i], unless `times` is 0. Returns
 * how many were handled: fewer than n = the heap is full.
 */
export function tableUpsert(table: usize, ids: usize, n: u32, rows: usize, times: usize): u32 {
  for (let i: u32 = 0; i < n; i++) {
    const slot = upsertSlot(table, load<i64>(ids + (<usize>i << 3)));
    if (slot == 0) return i;
    store<u32>(rows + (<usize>i << 2), load<u32>(slot, 32));
    if (times != 0) store<u32>(slot, load<u32>(times + (<usize>i << 2)), 48);
  }
  return n;
}
