// The loss over all pairs of a positive and a negative of the batch (inbatch_auc_loss), for the rows of one slice
// against all rows. Labels above 0 are positive, those above -10000 else negative, the rest is left out.
import { gather } from "./loops";
import { expNonPositive, log1pUnit, sigmoid4 } from "./math";

const IGNORED: f32 = -10000;

@inline
function isPositive(label: f32): bool {
  return label > 0;
}

@inline
function isNegative(label: f32): bool {
  return label <= 0 && label > IGNORED;
}

/** Lanes of four labels, of which `count` are there, that are of the sign asked for. */
@inline
function lanes(labels: usize, positive: bool, count: i32): v128 {
  const v = count >= 4 ? v128.load(labels) : gather(labels, 4, count);
  const zero = f32x4.splat(0);
  const wanted = positive ? f32x4.gt(v, zero) : v128.and(f32x4.le(v, zero), f32x4.gt(v, f32x4.splat(IGNORED)));
  return count >= 4 ? wanted : v128.and(wanted, i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count)));
}

@inline
function total(v: v128): f64 {
  const low = f64x2.promote_low_f32x4(v);
  const high = f64x2.promote_low_f32x4(i32x4.shuffle(v, v, 2, 3, 2, 3));
  const sum = f64x2.add(low, high);
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/** dst[0] = sum over positives p of the rows [first, first + count) and all negatives n of log sigmoid(x[p] - x[n]). */
export function inbatchAucF32(labels: usize, logits: usize, rows: i32, first: i32, count: i32, dst: usize): void {
  let sum: f64 = 0;
  for (let p = first; p < first + count; p++) {
    if (!isPositive(load<f32>(labels + (<usize>p << 2)))) continue;
    const x = v128.load32_splat(logits + (<usize>p << 2));
    for (let n = 0; n < rows; n += 4) {
      const at = <usize>n << 2;
      const mask = lanes(labels + at, false, rows - n);
      const d = f32x4.sub(x, rows - n >= 4 ? v128.load(logits + at) : gather(logits + at, 4, rows - n));
      const value = f32x4.sub(f32x4.min(d, f32x4.splat(0)), log1pUnit(expNonPositive(f32x4.neg(f32x4.abs(d)))));
      sum += total(v128.and(value, mask));
    }
  }
  store<f32>(dst, <f32>sum);
}

/**
 * dst[i] (+)= gradient of inbatchAucF32 by the logit of row first + i, times grad[0]; that of a negative is weighed.
 */
export function inbatchAucGradF32(
  labels: usize, logits: usize, rows: i32, first: i32, count: i32, grad: usize, negWeight: f32, dst: usize,
  dstStride: i32, acc: i32,
): void {
  const scale = <f64>load<f32>(grad);
  for (let i = 0; i < count; i++) {
    const at = <usize>(first + i) << 2;
    const label = load<f32>(labels + at);
    const positive = isPositive(label);
    let sum: f64 = 0;
    if (positive || isNegative(label)) {
      const x = v128.load32_splat(logits + at);
      for (let j = 0; j < rows; j += 4) {
        const other = <usize>j << 2;
        const mask = lanes(labels + other, !positive, rows - j);
        const y = rows - j >= 4 ? v128.load(logits + other) : gather(logits + other, 4, rows - j);
        // 1 - sigmoid(d) is sigmoid(-d), and d is positive less negative.
        const q = sigmoid4(positive ? f32x4.sub(y, x) : f32x4.sub(x, y));
        sum += total(v128.and(q, mask));
      }
    }
    const value = <f32>(scale * (positive ? sum : -<f64>negWeight * sum));
    const d = dst + ((<usize>(i * dstStride)) << 2);
    store<f32>(d, acc ? load<f32>(d) + value : value);
  }
}
