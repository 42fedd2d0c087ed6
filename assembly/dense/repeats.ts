// Fields of columns that repeat, as the products of gemm-repeats.ts and gemm-repeats-grad.ts see them. Not exported by
// the module.
//
// Rows that have the same id in a feature have the same floats in its columns: a field.
//
// src/memory/record-layout.ts draws a field.
import { FIELD, FIELD_BYTES } from "../generated/layouts";

/** Columns of a product or gradient that are done at a time, so that what one step writes is still near in the next. */
export const BLOCK_COLUMNS: i32 = 32;
export const BLOCK_STEP: usize = 128;

@inline
export function columnOf(field: usize): i32 {
  return load<u32>(field, FIELD.column);
}

@inline
export function floatsOf(field: usize): i32 {
  return load<u32>(field, FIELD.floats);
}

@inline
export function numbersOf(field: usize): usize {
  return load<u32>(field, FIELD.numbers);
}

@inline
export function orderOf(field: usize): usize {
  return load<u32>(field, FIELD.order);
}

@inline
export function startsOf(field: usize): usize {
  return load<u32>(field, FIELD.starts);
}

@inline
export function distinctOf(field: usize): i32 {
  return load<u32>(<usize>load<u32>(field, FIELD.count));
}

/** Whether at most three of four products are left. */
export function pays(fields: usize, end: usize, rows: i32): bool {
  let left: u64 = 0, all: u64 = 0;
  for (let f = fields; f < end; f += FIELD_BYTES) {
    left += <u64>floatsOf(f) * <u64>distinctOf(f);
    all += <u64>floatsOf(f) * <u64>rows;
  }
  return left * 4 <= all * 3 && left > 0;
}

/** The distinct rows of a field, one after the other. */
export function copyDistinct(field: usize, x: usize, xStep: usize, to: usize): void {
  const bytes = <usize>floatsOf(field) << 2;
  const from = x + (<usize>columnOf(field) << 2);
  const order = orderOf(field);
  const starts = startsOf(field);
  const last = starts + (<usize>distinctOf(field) << 2);
  for (let at = starts; at < last; at += 4, to += bytes) {
    const row = from + <usize>load<u32>(order + (<usize>load<u32>(at) << 2)) * xStep;
    let c: usize = 0;
    for (; c + 16 <= bytes; c += 16) v128.store(to + c, v128.load(row + c));
    for (; c < bytes; c += 4) store<f32>(to + c, load<f32>(row + c));
  }
}

@inline
export function addFloats(to: usize, from: usize, floats: i32): void {
  const bytes = <usize>floats << 2;
  let c: usize = 0;
  for (; c + 16 <= bytes; c += 16) v128.store(to + c, f32x4.add(v128.load(to + c), v128.load(from + c)));
  for (; c < bytes; c += 4) store<f32>(to + c, load<f32>(to + c) + load<f32>(from + c));
}

/**
 * Rows of floats to rows of another step: rows a power of two apart meet in few sets of a cache, those copied do not.
 */
export function copyRows(from: usize, fromStep: usize, to: usize, toStep: usize, rows: i32, floats: i32): void {
  const bytes = <usize>floats << 2;
  for (let r = 0; r < rows; r++, from += fromStep, to += toStep) {
    let c: usize = 0;
    for (; c + 16 <= bytes; c += 16) v128.store(to + c, v128.load(from + c));
    for (; c < bytes; c += 4) store<f32>(to + c, load<f32>(from + c));
  }
}
