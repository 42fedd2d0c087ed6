// The copy behind pack, unpack and nested flatten: many pieces in one call.
import { LINE, V1, V2, V3 } from "../units";
import { COPY, COPY_BYTES, COPY_ROWS, COPY_ROWS_BYTES } from "../generated/layouts";

const CHUNK_PIECES: usize = 64;
/** memory.copy leaves WASM for a library call: it wins from here on, the inline loop below. */
export const BULK_BYTES: usize = 1024;
/** Sources spread over more than this are not in cache together, and touching them ahead pays. */
const SCATTERED_BYTES: usize = 2 << 20;
const SAMPLES: usize = 16;

@inline
function copyPiece(dst: usize, src: usize, bytes: usize): void {
  if (bytes >= 16) {
    const tail = bytes - 16;
    let o: usize = 0;
    for (; o + 64 <= bytes; o += 64) {
      const x0 = v128.load(src + o), x1 = v128.load(src + o, V1);
      const x2 = v128.load(src + o, V2), x3 = v128.load(src + o, V3);
      v128.store(dst + o, x0);
      v128.store(dst + o, x1, V1);
      v128.store(dst + o, x2, V2);
      v128.store(dst + o, x3, V3);
    }
    for (; o < tail; o += 16) v128.store(dst + o, v128.load(src + o));
    // The last 16 bytes overlap what is written already, which saves a byte loop.
    if (o < bytes) v128.store(dst + tail, v128.load(src + tail));
  } else if (bytes >= 8) {
    const head = load<u64>(src), last = load<u64>(src + bytes - 8);
    store<u64>(dst, head);
    store<u64>(dst + bytes - 8, last);
  } else if (bytes >= 4) {
    const head = load<u32>(src), last = load<u32>(src + bytes - 4);
    store<u32>(dst, head);
    store<u32>(dst + bytes - 4, last);
  } else {
    for (let o: usize = 0; o < bytes; o++) store<u8>(dst + o, load<u8>(src + o));
  }
}

/** Reads a word of each of the first four lines of each piece: enough to start the stream of a longer one. */
@inline
function touchPieces(q: usize, e: usize): u32 {
  let touched: u32 = 0;
  for (; q < e; q += COPY_BYTES) {
    const src = <usize>load<u32>(q, COPY.from);
    const bytes = load<u32>(q, COPY.bytes);
    if (bytes > 0) touched |= load<u8>(src);
    if (bytes > 64) {
      touched |= load<u8>(src, LINE);
      if (bytes > 128) {
        touched |= load<u8>(src, 2 * LINE);
        if (bytes > 192) touched |= load<u8>(src, 3 * LINE);
      }
    }
  }
  return touched;
}

/** Whether the sources lie far apart, judged by a few descriptors at even distances. */
function scattered(descriptors: usize, count: usize): bool {
  const step = max<usize>(count / SAMPLES, 1);
  let low: usize = -1;
  let high: usize = 0;
  for (let i: usize = 0; i < count; i += step) {
    const src = <usize>load<u32>(descriptors + i * COPY_BYTES, COPY.from);
    low = min(low, src);
    high = max(high, src);
  }
  return high - low > SCATTERED_BYTES;
}

/**
 * Copies `count` pieces. Pieces must not overlap each other's targets, nor a target any source: the order in which
 * bytes move is free. Returns 0.
 */
export function copyPieces(descriptors: usize, count: i32): i32 {
  const last = descriptors + <usize>count * COPY_BYTES;
  const touch = count > 8 && scattered(descriptors, count);
  let touched: u32 = 0;
  for (let q = descriptors; q < last; ) {
    const e = min(q + CHUNK_PIECES * COPY_BYTES, last);
    if (touch) touched |= touchPieces(q, e);
    for (; q < e; q += COPY_BYTES) {
      const src = <usize>load<u32>(q, COPY.from);
      const dst = <usize>load<u32>(q, COPY.to);
      const bytes = <usize>load<u32>(q, COPY.bytes);
      if (bytes >= BULK_BYTES) memory.copy(dst, src, bytes);
      else copyPiece(dst, src, bytes);
    }
  }
  // A count is never negative; the test keeps the touching loads alive through every optimizer.
  return count < 0 ? i32(touched) : 0;
}

/** Copies the rows of `count` matrices, under the same terms as copyPieces. Returns 0. */
export function copyMatrices(descriptors: usize, count: i32): i32 {
  const last = descriptors + <usize>count * COPY_ROWS_BYTES;
  for (let q = descriptors; q < last; q += COPY_ROWS_BYTES) {
    let src = <usize>load<u32>(q, COPY_ROWS.from);
    let dst = <usize>load<u32>(q, COPY_ROWS.to);
    const bytes = <usize>load<u32>(q, COPY_ROWS.bytes);
    const fromBytes = <usize>load<u32>(q, COPY_ROWS.fromBytes);
    const toBytes = <usize>load<u32>(q, COPY_ROWS.toBytes);
    for (let r: u32 = 0; r < load<u32>(q, COPY_ROWS.rows); r++, src += fromBytes, dst += toBytes) {
      if (bytes >= BULK_BYTES) memory.copy(dst, src, bytes);
      else copyPiece(dst, src, bytes);
    }
  }
  return 0;
}
