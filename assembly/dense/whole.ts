// Reductions along rows, norms of many tensors, and extremes over the batch.

/** out[r] = factor * (sum of row r), in f64 from left to right, rounded once. */
export function sumColumnsF32(
  src: usize, srcStride: i32, rows: i32, cols: i32, out: usize, outStride: i32, factor: f32,
): void {
  for (let r = 0; r < rows; r++) {
    const row = src + ((<usize>(r * srcStride)) << 2);
    const end = row + (<usize>cols << 2);
    let sum: f64 = 0;
    for (let s = row; s != end; s += 4) sum += <f64>load<f32>(s);
    store<f32>(out + ((<usize>(r * outStride)) << 2), <f32>(<f64>factor * sum));
  }
}

/** out[r] = largest of row r, -Infinity when it is empty. */
export function maxColumnsF32(src: usize, srcStride: i32, rows: i32, cols: i32, out: usize, outStride: i32): void {
  for (let r = 0; r < rows; r++) {
    const row = src + ((<usize>(r * srcStride)) << 2);
    let most: f32 = -Infinity;
    for (let c = 0; c < cols; c++) most = max<f32>(most, load<f32>(row + (<usize>c << 2)));
    store<f32>(out + ((<usize>(r * outStride)) << 2), most);
  }
}

/** dst[c] = largest of column c, -Infinity when there are no rows. */
export function maxRowsF32(src: usize, srcStride: i32, dst: usize, rows: i32, cols: i32): void {
  for (let c = 0; c < cols; c++) {
    let most: f32 = -Infinity;
    for (let r = 0; r < rows; r++) most = max<f32>(most, load<f32>(src + ((<usize>(r * srcStride + c)) << 2)));
    store<f32>(dst + (<usize>c << 2), most);
  }
}

/** dst[i] = sum of squares of the `grain` floats from i * grain, as f64; the last may be shorter. */
export function sumSquaresF64(src: usize, count: i32, grain: i32, dst: usize): void {
  for (let from = 0; from < count; from += grain) {
    const end = src + (<usize>min(from + grain, count) << 2);
    let s = src + (<usize>from << 2);
    let low = f64x2.splat(0), high = f64x2.splat(0);
    for (; s + 16 <= end; s += 16) {
      const v = v128.load(s);
      const a = f64x2.promote_low_f32x4(v);
      const b = f64x2.promote_low_f32x4(i32x4.shuffle(v, v, 2, 3, 2, 3));
      low = f64x2.add(low, f64x2.mul(a, a));
      high = f64x2.add(high, f64x2.mul(b, b));
    }
    let sum = (f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1))
      + (f64x2.extract_lane(high, 0) + f64x2.extract_lane(high, 1));
    for (; s < end; s += 4) {
      const x = <f64>load<f32>(s);
      sum += x * x;
    }
    store<f64>(dst, sum);
    dst += 8;
  }
}

/** dst[0] = square root of the sum of `count` f64. */
export function rootOfSumF32(src: usize, count: i32, dst: usize): void {
  let sum: f64 = 0;
  for (let i = 0; i < count; i++) sum += load<f64>(src + (<usize>i << 3));
  store<f32>(dst, <f32>sqrt<f64>(sum));
}

/** dst = src * (clipNorm / norm[0]) when the norm is larger, else src. A NaN norm is not larger. */
export function clipToNormF32(src: usize, norm: usize, dst: usize, count: i32, clipNorm: f32): void {
  const size = load<f32>(norm);
  const factor: f32 = size > clipNorm ? <f32>(<f64>clipNorm / <f64>size) : 1;
  const factors = f32x4.splat(factor);
  let left = count;
  for (; left >= 4; left -= 4) {
    v128.store(dst, f32x4.mul(factors, v128.load(src)));
    src += 16;
    dst += 16;
  }
  for (; left > 0; left--) {
    store<f32>(dst, factor * load<f32>(src));
    src += 4;
    dst += 4;
  }
}
