// Whole rows of floats, moved and added.
import { BULK_BYTES } from "./copy";

@inline
function copyRow(src: usize, dst: usize, bytes: usize): void {
  let c: usize = 0;
  for (; c + 16 <= bytes; c += 16) v128.store(dst + c, v128.load(src + c));
  for (; c < bytes; c += 4) store<u32>(dst + c, load<u32>(src + c));
}

/** dst = src, in floats: a short row without the call that memory.copy is. */
export function copyFloats(src: usize, dst: usize, bytes: usize): void {
  if (bytes >= BULK_BYTES) memory.copy(dst, src, bytes);
  else copyRow(src, dst, bytes);
}

/** out[i, :] = the f32 row at address rowPtrs[i]. */
export function gatherRowsF32(rowPtrs: usize, n: i32, dim: i32, out: usize, outStride: i32): void {
  const bytes = <usize>dim << 2;
  for (let i: i32 = 0; i < n; i++, out += <usize>outStride << 2) {
    copyRow(<usize>load<u32>(rowPtrs + (<usize>i << 2)), out, bytes);
  }
}

/** dst[:] += src[:] over `dim` floats. */
export function addRowF32(src: usize, dst: usize, dim: i32): void {
  const bytes = <usize>dim << 2;
  let c: usize = 0;
  for (; c + 16 <= bytes; c += 16) v128.store(dst + c, f32x4.add(v128.load(dst + c), v128.load(src + c)));
  for (; c < bytes; c += 4) store<f32>(dst + c, load<f32>(dst + c) + load<f32>(src + c));
}

/** dst[r, 0..cols) = 0 for each row; what lies between the rows stays. */
export function zeroRowsF32(dst: usize, dstStride: i32, rows: i32, cols: i32): void {
  if (dstStride == cols) {
    memory.fill(dst, 0, (<usize>rows * <usize>cols) << 2);
    return;
  }
  const bytes = <usize>cols << 2;
  const zero = i32x4.splat(0);
  for (let r: i32 = 0; r < rows; r++, dst += <usize>dstStride << 2) {
    let c: usize = 0;
    for (; c + 16 <= bytes; c += 16) v128.store(dst + c, zero);
    for (; c < bytes; c += 4) store<u32>(dst + c, 0);
  }
}
