// The second-order term of a factorization machine. A row is `fields` vectors of `dim` floats, one after the other.
import { V1, V2, V3 } from "../units";
import { put, put1 } from "./loops";

@inline
function square(s: v128, q: v128): v128 {
  return f32x4.sub(f32x4.mul(s, s), q);
}

/**
 * out[r] (+)= 0.5 * sum over c of (S[c]^2 - Q[c]), where S and Q are the sums over the fields of x[r, f, c] and of its
 * square: the sum of the dot products of all pairs of fields.
 *
 * One walk over the row for 16 columns. Order of the sum: fields in order, from 0; four partial sums over the whole
 * blocks of four columns; then (t0 + t2) + (t1 + t3); then the columns that are left, one by one.
 */
export function fmPairsF32(
  x: usize, xStride: i32, out: usize, outStride: i32, rows: i32, fields: i32, dim: i32, acc: i32,
): void {
  const step = <usize>dim << 2;
  const end = step * <usize>fields;
  for (let r = 0; r < rows; r++) {
    let total = f32x4.splat(0);
    let c = x;
    let left = dim;
    for (; left >= 16; left -= 16, c += 64) {
      let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
      let q0 = s0, q1 = s0, q2 = s0, q3 = s0;
      for (let p = c; p < c + end; p += step) {
        const v0 = v128.load(p), v1 = v128.load(p, V1), v2 = v128.load(p, V2), v3 = v128.load(p, V3);
        s0 = f32x4.add(s0, v0);
        s1 = f32x4.add(s1, v1);
        s2 = f32x4.add(s2, v2);
        s3 = f32x4.add(s3, v3);
        q0 = f32x4.add(q0, f32x4.mul(v0, v0));
        q1 = f32x4.add(q1, f32x4.mul(v1, v1));
        q2 = f32x4.add(q2, f32x4.mul(v2, v2));
        q3 = f32x4.add(q3, f32x4.mul(v3, v3));
      }
      total = f32x4.add(f32x4.add(total, square(s0, q0)), square(s1, q1));
      total = f32x4.add(f32x4.add(total, square(s2, q2)), square(s3, q3));
    }
    for (; left >= 4; left -= 4, c += 16) {
      let s = f32x4.splat(0), q = s;
      for (let p = c; p < c + end; p += step) {
        const v = v128.load(p);
        s = f32x4.add(s, v);
        q = f32x4.add(q, f32x4.mul(v, v));
      }
      total = f32x4.add(total, square(s, q));
    }
    const half = f32x4.add(total, v128.shuffle<f32>(total, total, 2, 3, 0, 1));
    let sum: f32 = f32x4.extract_lane(half, 0) + f32x4.extract_lane(half, 1);
    for (; left > 0; left--, c += 4) {
      let s: f32 = 0, q: f32 = 0;
      for (let p = c; p < c + end; p += step) {
        const v = load<f32>(p);
        s += v;
        q += v * v;
      }
      sum += s * s - q;
    }
    put1(out, <f32>0.5 * sum, acc != 0);
    x += <usize>xStride << 2;
    out += <usize>outStride << 2;
  }
}

/**
 * dx[r, f, c] (+)= dy[r] * (S[c] - x[r, f, c]), with S as in fmPairsF32. S is summed again: the row is in the nearest
 * cache, and a buffer of sums would cost a pass of its own.
 */
export function fmPairsGradF32(
  dy: usize, dyStride: i32, x: usize, xStride: i32, dx: usize, dxStride: i32,
  rows: i32, fields: i32, dim: i32, acc: i32,
): void {
  if (acc) gradRows(true, dy, dyStride, x, xStride, dx, dxStride, rows, fields, dim);
  else gradRows(false, dy, dyStride, x, xStride, dx, dxStride, rows, fields, dim);
}

@inline
function gradRows(
  acc: bool, dy: usize, dyStride: i32, x: usize, xStride: i32, dx: usize, dxStride: i32,
  rows: i32, fields: i32, dim: i32,
): void {
  const step = <usize>dim << 2;
  const end = step * <usize>fields;
  for (let r = 0; r < rows; r++) {
    const g = load<f32>(dy);
    const factor = f32x4.splat(g);
    let c = x;
    let to = dx;
    let left = dim;
    for (; left >= 16; left -= 16, c += 64, to += 64) {
      let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
      for (let p = c; p < c + end; p += step) {
        s0 = f32x4.add(s0, v128.load(p));
        s1 = f32x4.add(s1, v128.load(p, V1));
        s2 = f32x4.add(s2, v128.load(p, V2));
        s3 = f32x4.add(s3, v128.load(p, V3));
      }
      for (let p = c, d = to; p < c + end; p += step, d += step) {
        put(d, f32x4.mul(factor, f32x4.sub(s0, v128.load(p))), acc);
        put(d + 16, f32x4.mul(factor, f32x4.sub(s1, v128.load(p, V1))), acc);
        put(d + 32, f32x4.mul(factor, f32x4.sub(s2, v128.load(p, V2))), acc);
        put(d + 48, f32x4.mul(factor, f32x4.sub(s3, v128.load(p, V3))), acc);
      }
    }
    for (; left >= 4; left -= 4, c += 16, to += 16) {
      let s = f32x4.splat(0);
      for (let p = c; p < c + end; p += step) s = f32x4.add(s, v128.load(p));
      for (let p = c, d = to; p < c + end; p += step, d += step) {
        put(d, f32x4.mul(factor, f32x4.sub(s, v128.load(p))), acc);
      }
    }
    for (; left > 0; left--, c += 4, to += 4) {
      let s: f32 = 0;
      for (let p = c; p < c + end; p += step) s += load<f32>(p);
      for (let p = c, d = to; p < c + end; p += step, d += step) put1(d, g * (s - load<f32>(p)), acc);
    }
    dy += <usize>dyStride << 2;
    x += <usize>xStride << 2;
    dx += <usize>dxStride << 2;
  }
}
