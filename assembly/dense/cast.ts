// Whole numbers as floats.

/** dst[r, c] = src[r, c], rounded once; strides count elements. */
export function castI64F32(src: usize, srcStride: i32, dst: usize, dstStride: i32, rows: i32, cols: i32): void {
  for (let r = 0; r < rows; r++) {
    let s = src + ((<usize>(r * srcStride)) << 3);
    let d = dst + ((<usize>(r * dstStride)) << 2);
    for (let c = 0; c < cols; c++) {
      store<f32>(d, <f32>load<i64>(s));
      s += 8;
      d += 4;
    }
  }
}
