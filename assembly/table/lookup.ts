// Embeddings straight from the table, for callers that need no unique ids: evaluation, serving. Ids go chunk by chunk:
// find the rows, touch every line of their weights, then read them.
//
// Sums run in the order of the ids, from zero, one accumulator per column. A bag that goes on in the next chunk goes on
// from what it stored, so chunks do not change a bit of the result.
import { gatherRowsF32 } from "../sparse";
import { CHUNK, findRows, touchLines } from "./find";

/** 32 columns at `c` of the rows `q`..`e`, added up in registers. `c` is in bytes. */
// @ts-ignore: decorator
@inline function sum32(q: usize, e: usize, c: usize, out: usize, resumed: bool): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  if (resumed) {
    a0 = v128.load(out + c);
    a1 = v128.load(out + c, 16);
    a2 = v128.load(out + c, 32);
    a3 = v128.load(out + c, 48);
    a4 = v128.load(out + c, 64);
    a5 = v128.load(out + c, 80);
    a6 = v128.load(out + c, 96);
    a7 = v128.load(out + c, 112);
  }
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(q) + c;
    a0 = f32x4.add(a0, v128.load(row));
    a1 = f32x4.add(a1, v128.load(row, 16));
    a2 = f32x4.add(a2, v128.load(row, 32));
    a3 = f32x4.add(a3, v128.load(row, 48));
    a4 = f32x4.add(a4, v128.load(row, 64));
    a5 = f32x4.add(a5, v128.load(row, 80));
    a6 = f32x4.add(a6, v128.load(row, 96));
    a7 = f32x4.add(a7, v128.load(row, 112));
  }
  v128.store(out + c, a0);
  v128.store(out + c, a1, 16);
  v128.store(out + c, a2, 32);
  v128.store(out + c, a3, 48);
  v128.store(out + c, a4, 64);
  v128.store(out + c, a5, 80);
  v128.store(out + c, a6, 96);
  v128.store(out + c, a7, 112);
}

// @ts-ignore: decorator
@inline function sum16(q: usize, e: usize, c: usize, out: usize, resumed: bool): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0;
  if (resumed) {
    a0 = v128.load(out + c);
    a1 = v128.load(out + c, 16);
    a2 = v128.load(out + c, 32);
    a3 = v128.load(out + c, 48);
  }
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(q) + c;
    a0 = f32x4.add(a0, v128.load(row));
    a1 = f32x4.add(a1, v128.load(row, 16));
    a2 = f32x4.add(a2, v128.load(row, 32));
    a3 = f32x4.add(a3, v128.load(row, 48));
  }
  v128.store(out + c, a0);
  v128.store(out + c, a1, 16);
  v128.store(out + c, a2, 32);
  v128.store(out + c, a3, 48);
}

// @ts-ignore: decorator
@inline function sum4(q: usize, e: usize, c: usize, out: usize, resumed: bool): void {
  let a = resumed ? v128.load(out + c) : f32x4.splat(0);
  for (; q < e; q += 4) a = f32x4.add(a, v128.load(<usize>load<u32>(q) + c));
  v128.store(out + c, a);
}

// @ts-ignore: decorator
@inline function sum1(q: usize, e: usize, c: usize, out: usize, resumed: bool): void {
  let a: f32 = resumed ? load<f32>(out + c) : 0;
  for (; q < e; q += 4) a += load<f32>(<usize>load<u32>(q) + c);
  store<f32>(out + c, a);
}

// @ts-ignore: decorator
@inline function sumRows(q: usize, e: usize, bytes: usize, out: usize, resumed: bool): void {
  let c: usize = 0;
  for (; c + 128 <= bytes; c += 128) sum32(q, e, c, out, resumed);
  if (c + 64 <= bytes) {
    sum16(q, e, c, out, resumed);
    c += 64;
  }
  for (; c + 16 <= bytes; c += 16) sum4(q, e, c, out, resumed);
  for (; c < bytes; c += 4) sum1(q, e, c, out, resumed);
}

/**
 * out[r, :] = sum of the embeddings of the ids splits[r]..splits[r + 1], counted from splits[0]; absent ids count as
 * zeros and are not inserted, an empty row is zeros. `scratch` has room for a chunk of addresses.
 */
export function tableLookupSumF32(
  table: usize, ids: usize, splits: usize, rows: u32, out: usize, outStride: u32, scratch: usize,
): void {
  const bytes = <usize>load<u32>(table, 4) << 2;
  const aligned = (load<u32>(table, 12) & 63) == 0;
  const strideBytes = <usize>outStride << 2;
  const first = load<u32>(splits);
  const n = load<u32>(splits + (<usize>rows << 2)) - first;
  const lastSplit = splits + (<usize>rows << 2);
  let split = splits;
  let from: u32 = 0;
  let resumed = false;
  let s: u32 = 0;
  do {
    const m = min(CHUNK, n - s);
    findRows(table, ids + (<usize>s << 3), m, scratch);
    touchLines(scratch, m, bytes, aligned);
    const chunkEnd = s + m;
    while (split < lastSplit) {
      const bagEnd = load<u32>(split, 4) - first;
      const end = min(bagEnd, chunkEnd);
      // A bag that only begins where the chunk ends is the next chunk's.
      if (from == chunkEnd && bagEnd > chunkEnd) break;
      sumRows(scratch + (<usize>(from - s) << 2), scratch + (<usize>(end - s) << 2), bytes, out, resumed);
      from = end;
      resumed = bagEnd > chunkEnd;
      if (resumed) break;
      split += 4;
      out += strideBytes;
    }
    s = chunkEnd;
  } while (s < n);
}

/** out[i, :] = embedding of ids[i], zeros for an absent one. `scratch` has room for a chunk of addresses. */
export function tableGatherF32(table: usize, ids: usize, n: u32, out: usize, outStride: u32, scratch: usize): void {
  const dim = load<u32>(table, 4);
  const aligned = (load<u32>(table, 12) & 63) == 0;
  const strideBytes = <usize>outStride << 2;
  for (let s: u32 = 0; s < n; s += CHUNK) {
    const m = min(CHUNK, n - s);
    findRows(table, ids + (<usize>s << 3), m, scratch);
    touchLines(scratch, m, <usize>dim << 2, aligned);
    gatherRowsF32(scratch, m, dim, out, outStride);
    out += <usize>m * strideBytes;
  }
}
