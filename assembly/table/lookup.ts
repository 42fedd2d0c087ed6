// Embeddings straight from the table, for callers that need no unique ids: evaluation, serving. Ids go chunk by chunk:
// find the rows, touch every line of their weights, then read them.
//
// Sums run in the order of the ids, from zero, one accumulator per column. A bag that goes on in the next chunk goes on
// from what it stored, so chunks do not change a bit of the result.
import { V1, V2, V3, WORD } from "../units";
import { LOOKUP_CHUNK, TABLE } from "../generated/layouts";
import { gatherRowsF32 } from "../sparse";
import { findRows, touchLines } from "./find";

/** Of rows whose sums are next; about what the nearest cache holds beside all else. */
const NEAR_BYTES: u32 = 32768;

/**
 * 16 columns at `c` of the rows `q`..`e`, added up in registers. `c` is in bytes. Wider would need fewer walks over the
 * rows, but the compiler loads all columns of a row before it adds the first, and runs out of registers.
 */
@inline
function sum16(q: usize, e: usize, c: usize, out: usize, resumed: bool): void {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0;
  if (resumed) {
    a0 = v128.load(out + c);
    a1 = v128.load(out + c, V1);
    a2 = v128.load(out + c, V2);
    a3 = v128.load(out + c, V3);
  }
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(q) + c;
    a0 = f32x4.add(a0, v128.load(row));
    a1 = f32x4.add(a1, v128.load(row, V1));
    a2 = f32x4.add(a2, v128.load(row, V2));
    a3 = f32x4.add(a3, v128.load(row, V3));
  }
  v128.store(out + c, a0);
  v128.store(out + c, a1, V1);
  v128.store(out + c, a2, V2);
  v128.store(out + c, a3, V3);
}

@inline
function sum8(q: usize, e: usize, c: usize, out: usize, resumed: bool): void {
  let a0 = f32x4.splat(0), a1 = a0;
  if (resumed) {
    a0 = v128.load(out + c);
    a1 = v128.load(out + c, V1);
  }
  for (; q < e; q += 4) {
    const row = <usize>load<u32>(q) + c;
    a0 = f32x4.add(a0, v128.load(row));
    a1 = f32x4.add(a1, v128.load(row, V1));
  }
  v128.store(out + c, a0);
  v128.store(out + c, a1, V1);
}

@inline
function sum4(q: usize, e: usize, c: usize, out: usize, resumed: bool): void {
  let a = resumed ? v128.load(out + c) : f32x4.splat(0);
  for (; q < e; q += 4) a = f32x4.add(a, v128.load(<usize>load<u32>(q) + c));
  v128.store(out + c, a);
}

@inline
function sum1(q: usize, e: usize, c: usize, out: usize, resumed: bool): void {
  let a: f32 = resumed ? load<f32>(out + c) : 0;
  for (; q < e; q += 4) a += load<f32>(<usize>load<u32>(q) + c);
  store<f32>(out + c, a);
}

@inline
function sumRows(q: usize, e: usize, bytes: usize, out: usize, resumed: bool): void {
  let c: usize = 0;
  for (; c + 64 <= bytes; c += 64) sum16(q, e, c, out, resumed);
  if (c + 32 <= bytes) {
    sum8(q, e, c, out, resumed);
    c += 32;
  }
  for (; c + 16 <= bytes; c += 16) sum4(q, e, c, out, resumed);
  for (; c < bytes; c += 4) sum1(q, e, c, out, resumed);
}

/**
 * Sums bags that lie whole in a chunk, from that at `split` on; returns the split of the first that does not. The row
 * of the id at position i is at rows + 4 * i, the chunk ends at position `end`.
 */
function sumBags(
  rows: usize, split: usize, lastSplit: usize, end: u32, bytes: usize, out: usize, strideBytes: usize,
): usize {
  let q = rows + (<usize>load<u32>(split) << 2);
  for (; split < lastSplit; split += 4) {
    const bagEnd = load<u32>(split, WORD);
    if (bagEnd > end) break;
    const e = rows + (<usize>bagEnd << 2);
    sumRows(q, e, bytes, out, false);
    q = e;
    out += strideBytes;
  }
  return split;
}

/** sumBags of rows of 16 columns. */
function sumBags16(rows: usize, split: usize, lastSplit: usize, end: u32, out: usize, strideBytes: usize): usize {
  let q = rows + (<usize>load<u32>(split) << 2);
  for (; split < lastSplit; split += 4) {
    const bagEnd = load<u32>(split, WORD);
    if (bagEnd > end) break;
    const e = rows + (<usize>bagEnd << 2);
    sum16(q, e, 0, out, false);
    q = e;
    out += strideBytes;
  }
  return split;
}

/** sumBags of rows of 64 columns. */
function sumBags64(rows: usize, split: usize, lastSplit: usize, end: u32, out: usize, strideBytes: usize): usize {
  let q = rows + (<usize>load<u32>(split) << 2);
  for (; split < lastSplit; split += 4) {
    const bagEnd = load<u32>(split, WORD);
    if (bagEnd > end) break;
    const e = rows + (<usize>bagEnd << 2);
    sum16(q, e, 0, out, false);
    sum16(q, e, 64, out, false);
    sum16(q, e, 128, out, false);
    sum16(q, e, 192, out, false);
    q = e;
    out += strideBytes;
  }
  return split;
}

/** The part of one bag that lies in a chunk. Not inlined: the loop over whole bags is what needs the registers. */
function sumPart(q: usize, e: usize, bytes: usize, out: usize, resumed: bool): void {
  sumRows(q, e, bytes, out, resumed);
}

/**
 * out[r, :] = sum of the embeddings of the ids splits[r]..splits[r + 1], counted from splits[0]; absent ids count as
 * zeros and are not inserted, an empty row is zeros. `scratch` has room for two chunks of addresses.
 */
export function tableLookupSumF32(
  table: usize, ids: usize, splits: usize, rows: u32, out: usize, outStride: u32, scratch: usize,
): void {
  const bytes = <usize>load<u32>(table, TABLE.dim) << 2;
  const aligned = (load<u32>(table, TABLE.rowBytes) & 63) == 0;
  const strideBytes = <usize>outStride << 2;
  const lastSplit = splits + (<usize>rows << 2);
  const n = load<u32>(lastSplit);
  // As many rows as stay in the nearest cache from touch to sum.
  const near = max<u32>(NEAR_BYTES / <u32>bytes, 8);
  let split = splits;
  let s = load<u32>(splits);
  let found = s;
  let at: usize = 0;
  let resumed = false;
  do {
    if (s == found) {
      found = s + min(LOOKUP_CHUNK, n - s);
      findRows(table, ids, found - s, scratch);
      ids += <usize>(found - s) << 3;
      // Where the row of position 0 would be, perhaps below address 0.
      at = scratch - (<usize>s << 2);
    }
    const end = min(s + near, found);
    touchLines(at + (<usize>s << 2), end - s, bytes, aligned);
    if (resumed) {
      const bagEnd = load<u32>(split, WORD);
      sumPart(at + (<usize>s << 2), at + (<usize>min(bagEnd, end) << 2), bytes, out, true);
      resumed = bagEnd > end;
      if (!resumed) {
        split += 4;
        out += strideBytes;
      }
    }
    if (!resumed) {
      const next =
        bytes == 64 ? sumBags16(at, split, lastSplit, end, out, strideBytes)
        : bytes == 256 ? sumBags64(at, split, lastSplit, end, out, strideBytes)
        : sumBags(at, split, lastSplit, end, bytes, out, strideBytes);
      out += ((next - split) >> 2) * strideBytes;
      split = next;
      // A bag that only begins at the end is the next walk's.
      resumed = split < lastSplit && load<u32>(split) < end;
      if (resumed) sumPart(at + (<usize>load<u32>(split) << 2), at + (<usize>end << 2), bytes, out, false);
    }
    s = end;
  } while (s < n);
}

/** out[i, :] = embedding of ids[i], zeros for an absent one. `scratch` has room for two chunks of addresses. */
export function tableGatherF32(table: usize, ids: usize, n: u32, out: usize, outStride: u32, scratch: usize): void {
  const dim = load<u32>(table, TABLE.dim);
  const aligned = (load<u32>(table, TABLE.rowBytes) & 63) == 0;
  const strideBytes = <usize>outStride << 2;
  for (let s: u32 = 0; s < n; s += LOOKUP_CHUNK) {
    const m = min(LOOKUP_CHUNK, n - s);
    findRows(table, ids + (<usize>s << 3), m, scratch);
    touchLines(scratch, m, <usize>dim << 2, aligned);
    gatherRowsF32(scratch, m, dim, out, outStride);
    out += <usize>m * strideBytes;
  }
}
