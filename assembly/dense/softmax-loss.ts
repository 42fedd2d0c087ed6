// Cross entropy of a row of logits: labels are a weight per class, or the index of the class as a float.
import { gather } from "./loops";
import { expNonPositive, log1pUnit } from "./math";

/** Largest element of a row of at least one; NaN when there is one. */
@inline
function maxOf(s: usize, cols: i32): f32 {
  let v = f32x4.splat(load<f32>(s));
  let left = cols;
  for (; left >= 4; left -= 4, s += 16) v = f32x4.max(v, v128.load(s));
  let m = max<f32>(
    max<f32>(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)),
    max<f32>(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)),
  );
  for (; left > 0; left--, s += 4) m = max<f32>(m, load<f32>(s));
  return m;
}

/** Sum of exp(x - top) over a row, in f64 from the first element to the last. */
@inline
function sumExp(s: usize, cols: i32, top: f32): f64 {
  let sum: f64 = 0;
  for (let left = cols; left > 0; left -= 4, s += 16) {
    const e = expNonPositive(f32x4.sub(left >= 4 ? v128.load(s) : gather(s, 4, left), f32x4.splat(top)));
    sum += <f64>f32x4.extract_lane(e, 0);
    if (left > 1) sum += <f64>f32x4.extract_lane(e, 1);
    if (left > 2) sum += <f64>f32x4.extract_lane(e, 2);
    if (left > 3) sum += <f64>f32x4.extract_lane(e, 3);
  }
  return sum;
}

/** log(x) for 1 <= x < 2^31, from the power of two below x and log1p of the rest. */
@inline
function logFromOne(x: f32): f32 {
  const bits = reinterpret<u32>(x);
  const power = <i32>(bits >> 23) - 127;
  const rest = reinterpret<f32>((bits & 0x7fffff) | 0x3f800000);
  const log = f32x4.extract_lane(log1pUnit(f32x4.splat(rest - 1)), 0);
  return x != x ? x : <f32>power * <f32>0.6931471805599453 + log;
}

/** The class a float names, or -1 when it names none of `cols`. */
@inline
function classAt(p: usize, cols: i32): i32 {
  const value = load<f32>(p);
  if (!(value >= 0 && value < <f32>cols)) return -1;
  const index = <i32>value;
  return <f32>index == value ? index : -1;
}

/**
 * out[r] = sum over c of label[r, c] * (logsumexp(x[r, :]) - x[r, c]). With `index` set, label[r] is the class, whose
 * label is 1; NaN when there is no such class.
 */
export function softmaxLossF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, out: usize, outStride: i32, rows: i32, cols: i32, index: i32,
): void {
  for (let r = 0; r < rows; r++) {
    const s = x + ((<usize>(r * xStride)) << 2);
    const l = label + ((<usize>(r * labelStride)) << 2);
    const top = maxOf(s, cols);
    const log = logFromOne(<f32>sumExp(s, cols, top));
    let loss: f64 = 0;
    if (index) {
      const at = classAt(l, cols);
      loss = at < 0 ? NaN : <f64>log + (<f64>top - <f64>load<f32>(s + ((<usize>at) << 2)));
    } else {
      for (let c: usize = 0; c < <usize>cols << 2; c += 4) {
        loss += <f64>load<f32>(l + c) * (<f64>log + (<f64>top - <f64>load<f32>(s + c)));
      }
    }
    store<f32>(out + ((<usize>(r * outStride)) << 2), <f32>loss);
  }
}

/** dx[r, c] (+)= dy[r] * (softmax(x[r, :])[c] * sum of label[r, :] - label[r, c]). */
export function softmaxLossGradF32(
  x: usize, xStride: i32, label: usize, labelStride: i32, dy: usize, dyStride: i32, dx: usize, dxStride: i32,
  rows: i32, cols: i32, index: i32, acc: i32,
): void {
  for (let r = 0; r < rows; r++) {
    const s = x + ((<usize>(r * xStride)) << 2);
    const l = label + ((<usize>(r * labelStride)) << 2);
    const d = dx + ((<usize>(r * dxStride)) << 2);
    const grad = load<f32>(dy + ((<usize>(r * dyStride)) << 2));
    const top = maxOf(s, cols);
    const sum = sumExp(s, cols, top);
    let mass: f64 = 0;
    const at = index ? classAt(l, cols) : -1;
    if (index) mass = at < 0 ? NaN : 1;
    else for (let c: usize = 0; c < <usize>cols << 2; c += 4) mass += <f64>load<f32>(l + c);
    const share = <f32>(mass / sum);
    for (let c = 0; c < cols; c += 4) {
      const part = (<usize>c) << 2;
      const left = cols - c;
      const x = left >= 4 ? v128.load(s + part) : gather(s + part, 4, left);
      const e = expNonPositive(f32x4.sub(x, f32x4.splat(top)));
      const p = f32x4.mul(e, f32x4.splat(share));
      putLane(f32x4.extract_lane(p, 0), grad, l, d, c, at, index, acc);
      if (left > 1) putLane(f32x4.extract_lane(p, 1), grad, l, d, c + 1, at, index, acc);
      if (left > 2) putLane(f32x4.extract_lane(p, 2), grad, l, d, c + 2, at, index, acc);
      if (left > 3) putLane(f32x4.extract_lane(p, 3), grad, l, d, c + 3, at, index, acc);
    }
  }
}

@inline
function putLane(p: f32, grad: f32, l: usize, d: usize, c: i32, at: i32, index: i32, acc: i32): void {
  const place = (<usize>c) << 2;
  const target: f32 = index ? (c == at ? 1 : 0) : load<f32>(l + place);
  const v: f32 = grad * (p - target);
  store<f32>(d + place, acc ? load<f32>(d + place) + v : v);
}
