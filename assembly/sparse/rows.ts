// Whole rows of floats, moved and added.

// @ts-ignore: decorator
@inline
function copyRow(src: usize, dst: usize, bytes: usize): void {
  let c: usize = 0;
  for (; c + 16 <= bytes; c += 16) v128.store(dst + c, v128.load(src + c));
  for (; c < bytes; c += 4) store<u32>(dst + c, load<u32>(src + c));
}

// @ts-ignore: decorator
@inline
function addRow(src: usize, dst: usize, bytes: usize): void {
  let c: usize = 0;
  for (; c + 16 <= bytes; c += 16) v128.store(dst + c, f32x4.add(v128.load(dst + c), v128.load(src + c)));
  for (; c < bytes; c += 4) store<f32>(dst + c, load<f32>(dst + c) + load<f32>(src + c));
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
  addRow(src, dst, <usize>dim << 2);
}

/**
 * dst[inverse[i], :] += src[order[i], :] for i of 0..n-1, in that order: an owner adds the gradient rows another thread
 * made for it, `order` being that thread's partition and `inverse` the owner's own unique of it.
 */
export function mergeRowsF32(
  src: usize, srcStride: i32, order: usize, inverse: usize, n: i32, dim: i32, dst: usize, dstStride: i32,
): void {
  const bytes = <usize>dim << 2;
  const srcBytes = <usize>srcStride << 2;
  const dstBytes = <usize>dstStride << 2;
  for (let i: usize = 0; i < <usize>n << 2; i += 4) {
    addRow(src + <usize>load<u32>(order + i) * srcBytes, dst + <usize>load<u32>(inverse + i) * dstBytes, bytes);
  }
}

/** dst[r, 0..cols) = 0 for each row; what lies between the rows stays. */
export function zeroRowsF32(dst: usize, stride: i32, rows: i32, cols: i32): void {
  if (stride == cols) {
    memory.fill(dst, 0, (<usize>rows * <usize>cols) << 2);
    return;
  }
  const bytes = <usize>cols << 2;
  const zero = i32x4.splat(0);
  for (let r: i32 = 0; r < rows; r++, dst += <usize>stride << 2) {
    let c: usize = 0;
    for (; c + 16 <= bytes; c += 16) v128.store(dst + c, zero);
    for (; c < bytes; c += 4) store<u32>(dst + c, 0);
  }
}

/**
 * Reads one word of each cache line of each row, in a loop that does nothing else, so that the lines are on their way
 * together before a kernel needs them one by one. Worth it when the rows lie scattered over more memory than the cache
 * holds. Returns a meaningless number, which keeps the loads from being dropped.
 */
export function touchRowsF32(rowPtrs: usize, n: i32, dim: i32): u32 {
  let touched: u32 = 0;
  const end = rowPtrs + (<usize>n << 2);
  const tail = (<usize>dim << 2) - 4;
  if (dim <= 16) {
    // A row off its alignment spans two lines: the first word and the last cover both.
    for (let q = rowPtrs; q < end; q += 4) {
      const row = <usize>load<u32>(q);
      touched |= load<u32>(row);
      touched |= load<u32>(row + tail);
    }
    return touched;
  }
  for (let q = rowPtrs; q < end; q += 4) {
    const row = <usize>load<u32>(q);
    for (let c: usize = 0; c < tail; c += 64) touched |= load<u32>(row + c);
    touched |= load<u32>(row + tail);
  }
  return touched;
}
