// Softmax over all rows of the batch: each row of one side is to find its own partner among those of the other side.
import { expNonPositive, log4 } from "./math";

@inline
function dot(a: usize, b: usize, dim: i32): f32 {
  let sum = f32x4.splat(0);
  let left = dim;
  while (left >= 4) {
    sum = f32x4.add(sum, f32x4.mul(v128.load(a), v128.load(b)));
    a += 16;
    b += 16;
    left -= 4;
  }
  const pairs = f32x4.add(sum, i32x4.shuffle(sum, sum, 2, 3, 0, 1));
  let total = f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
  for (; left > 0; left--) {
    total += load<f32>(a) * load<f32>(b);
    a += 4;
    b += 4;
  }
  return total;
}

@inline
function addScaled(factor: f32, src: usize, dst: usize, dim: i32): void {
  const by = f32x4.splat(factor);
  let left = dim;
  while (left >= 4) {
    v128.store(dst, f32x4.add(v128.load(dst), f32x4.mul(v128.load(src), by)));
    src += 16;
    dst += 16;
    left -= 4;
  }
  for (; left > 0; left--) {
    store<f32>(dst, load<f32>(dst) + load<f32>(src) * factor);
    src += 4;
    dst += 4;
  }
}

@inline
function exp1(x: f32): f32 {
  return f32x4.extract_lane(expNonPositive(f32x4.splat(x)), 0);
}

/**
 * Row r is row first + r of the batch: sums[r] = log of the sum over all rows j of exp(x[r] . others[j]), and loss[r]
 * is that less x[r] . others[first + r].
 */
export function inbatchSoftmaxF32(
  others: usize, rows: i32, first: i32, count: i32, dim: i32, x: usize, xStride: i32, loss: usize, lossStride: i32,
  sums: usize, sumsStride: i32,
): void {
  const rowBytes = <usize>dim << 2;
  for (let r = 0; r < count; r++) {
    const own = x + ((<usize>(r * xStride)) << 2);
    const score = dot(own, others + <usize>(first + r) * rowBytes, dim);
    let most = score;
    let sum: f64 = 0;
    for (let j = 0; j < rows; j++) {
      const other = dot(own, others + <usize>j * rowBytes, dim);
      if (other > most) {
        sum = sum * <f64>exp1(most - other) + 1;
        most = other;
      } else {
        sum += <f64>exp1(other - most);
      }
    }
    // The logarithm of the language has a table, and a module with data would write to the memory of all threads.
    const total = most + f32x4.extract_lane(log4(f32x4.splat(<f32>sum)), 0);
    store<f32>(sums + ((<usize>(r * sumsStride)) << 2), total);
    store<f32>(loss + ((<usize>(r * lossStride)) << 2), total - score);
  }
}

/**
 * dx[r] (+)= the sum over all rows j of others[j] times grad * exp(x[r] . others[j] - sum), less others[first + r]
 * times the gradient of the row. Gradient and sum are those of row j with `byOther`, else of row first + r.
 */
export function inbatchSoftmaxGradF32(
  others: usize, grads: usize, sums: usize, rows: i32, first: i32, count: i32, dim: i32, byOther: i32, x: usize,
  xStride: i32, dx: usize, dxStride: i32, acc: i32,
): void {
  const rowBytes = <usize>dim << 2;
  for (let r = 0; r < count; r++) {
    const own = x + ((<usize>(r * xStride)) << 2);
    const out = dx + ((<usize>(r * dxStride)) << 2);
    if (!acc) memory.fill(out, 0, rowBytes);
    const at = <usize>(first + r) << 2;
    const grad = load<f32>(grads + at);
    const sum = load<f32>(sums + at);
    for (let j = 0; j < rows; j++) {
      const other = others + <usize>j * rowBytes;
      const g = byOther ? load<f32>(grads + (<usize>j << 2)) : grad;
      const s = byOther ? load<f32>(sums + (<usize>j << 2)) : sum;
      addScaled(g * exp1(min<f32>(dot(own, other, dim) - s, 0)), other, out, dim);
    }
    addScaled(-grad, others + <usize>(first + r) * rowBytes, out, dim);
  }
}
