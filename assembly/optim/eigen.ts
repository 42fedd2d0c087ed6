// Eigenvalues and eigenvectors of a symmetric matrix in f64: reflections to a tridiagonal one, then QL with implicit
// shifts. By hand, since it is small and runs inside a step. Every long loop adds a multiple of one row to another, so
// the vector body needs no order of its own and the plain twin has the same bits.
import { LONG } from "../units";

/** Steps of QL for one eigenvalue; a handful is usual. */
const STEPS_MAX: i32 = 60;
const EPSILON: f64 = 2.220446049250313e-16;
/**
 * Squares below this are no part of a matrix of f32, whose own are above 1e-90 or 0, but rounding of rounding, as equal
 * columns leave it. The factor of their reflection would be infinite in the end.
 */
const NEGLIGIBLE: f64 = 1e-200;

/** y += factor * x over n f64. */
@inline
function addMultiple(y: usize, x: usize, factor: f64, n: i32): void {
  const factors = f64x2.splat(factor);
  let left = n;
  for (; left >= 2; left -= 2, x += 16, y += 16) {
    v128.store(y, f64x2.add(v128.load(y), f64x2.mul(factors, v128.load(x))));
  }
  if (left > 0) store<f64>(y, load<f64>(y) + factor * load<f64>(x));
}

/** a -= f * x + g * y over n f64. */
@inline
function takeTwo(a: usize, x: usize, f: f64, y: usize, g: f64, n: i32): void {
  const fs = f64x2.splat(f), gs = f64x2.splat(g);
  let left = n;
  for (; left >= 2; left -= 2, a += 16, x += 16, y += 16) {
    const both = f64x2.add(f64x2.mul(fs, v128.load(x)), f64x2.mul(gs, v128.load(y)));
    v128.store(a, f64x2.sub(v128.load(a), both));
  }
  if (left > 0) store<f64>(a, load<f64>(a) - (f * load<f64>(x) + g * load<f64>(y)));
}

/** x' = c * x - s * y; y' = s * x + c * y over n f64. */
@inline
function turn(x: usize, y: usize, c: f64, s: f64, n: i32): void {
  const cs = f64x2.splat(c), ss = f64x2.splat(s);
  let left = n;
  for (; left >= 2; left -= 2, x += 16, y += 16) {
    const a = v128.load(x), b = v128.load(y);
    v128.store(x, f64x2.sub(f64x2.mul(cs, a), f64x2.mul(ss, b)));
    v128.store(y, f64x2.add(f64x2.mul(ss, a), f64x2.mul(cs, b)));
  }
  if (left > 0) {
    const a = load<f64>(x), b = load<f64>(y);
    store<f64>(x, c * a - s * b);
    store<f64>(y, s * a + c * b);
  }
}

@inline
function dot(x: usize, y: usize, n: i32): f64 {
  let sum: f64 = 0;
  for (let i = 0; i < n; i++, x += 8, y += 8) sum += load<f64>(x) * load<f64>(y);
  return sum;
}

/**
 * Reflects the rows of `a` one after the other: row j then holds the reflector, taus[j] its factor, e[j] the side
 * diagonal.
 */
function tridiagonalize(a: usize, k: i32, e: usize, taus: usize, p: usize): void {
  const step = <usize>k << 3;
  for (let j = 0; j < k - 2; j++) {
    const n = k - 1 - j;
    const v = a + <usize>j * step + (<usize>(j + 1) << 3);
    const first = load<f64>(v);
    const rest = dot(v + 8, v + 8, n - 1);
    if (rest < NEGLIGIBLE) {
      store<f64>(e + (<usize>j << 3), first);
      store<f64>(taus + (<usize>j << 3), 0);
      continue;
    }
    const length = sqrt<f64>(first * first + rest);
    const side = first >= 0 ? -length : length;
    const head = first - side;
    const tau = 2 / (head * head + rest);
    store<f64>(v, head);
    store<f64>(e + (<usize>j << 3), side);
    store<f64>(taus + (<usize>j << 3), tau);
    // The square below and right of it becomes B - v q^T - q v^T, where q = p - (tau / 2) (v . p) v and p = tau B v.
    const square = v + step;
    memory.fill(p, 0, <usize>n << 3);
    for (let i = 0; i < n; i++) addMultiple(p, square + <usize>i * step, tau * load<f64>(v + (<usize>i << 3)), n);
    addMultiple(p, v, -(tau / 2) * dot(v, p, n), n);
    for (let i = 0; i < n; i++) {
      takeTwo(square + <usize>i * step, p, load<f64>(v + (<usize>i << 3)), v, load<f64>(p + (<usize>i << 3)), n);
    }
  }
}

/** z = product of the reflections, then turned over: row i is column i of it. */
function gather(a: usize, k: i32, taus: usize, z: usize, w: usize): void {
  const step = <usize>k << 3;
  memory.fill(z, 0, <usize>k * step);
  for (let i = 0; i < k; i++) store<f64>(z + <usize>i * (step + 8), 1);
  for (let j = k - 3; j >= 0; j--) {
    const tau = load<f64>(taus + (<usize>j << 3));
    if (tau == 0) continue;
    const n = k - 1 - j;
    const v = a + <usize>j * step + (<usize>(j + 1) << 3);
    const square = z + <usize>(j + 1) * (step + 8);
    memory.fill(w, 0, <usize>n << 3);
    for (let i = 0; i < n; i++) addMultiple(w, square + <usize>i * step, load<f64>(v + (<usize>i << 3)), n);
    for (let i = 0; i < n; i++) addMultiple(square + <usize>i * step, w, -tau * load<f64>(v + (<usize>i << 3)), n);
  }
  for (let i = 0; i < k; i++) {
    for (let j = 0; j < i; j++) {
      const below = z + <usize>i * step + (<usize>j << 3), above = z + <usize>j * step + (<usize>i << 3);
      const kept = load<f64>(below);
      store<f64>(below, load<f64>(above));
      store<f64>(above, kept);
    }
  }
}

/** One sweep of QL from m up to l, with the shift of the 2 x 2 corner at l. */
function sweep(d: usize, e: usize, z: usize, k: i32, l: i32, m: i32): void {
  const at = <usize>l << 3;
  let g = (load<f64>(d + at, LONG) - load<f64>(d + at)) / (2 * load<f64>(e + at));
  let r = sqrt<f64>(g * g + 1);
  g = load<f64>(d + (<usize>m << 3)) - load<f64>(d + at) + load<f64>(e + at) / (g + (g >= 0 ? r : -r));
  let s: f64 = 1, c: f64 = 1, p: f64 = 0;
  for (let i = m - 1; i >= l; i--) {
    const di = d + (<usize>i << 3), ei = e + (<usize>i << 3);
    const f = s * load<f64>(ei), b = c * load<f64>(ei);
    r = sqrt<f64>(f * f + g * g);
    store<f64>(ei, r, LONG);
    if (r == 0) {
      store<f64>(di, load<f64>(di, LONG) - p, LONG);
      store<f64>(e + (<usize>m << 3), 0);
      return;
    }
    s = f / r;
    c = g / r;
    g = load<f64>(di, LONG) - p;
    r = (load<f64>(di) - g) * s + 2 * c * b;
    p = s * r;
    store<f64>(di, g + p, LONG);
    g = c * r - b;
    const row = z + ((<usize>i * <usize>k) << 3);
    turn(row, row + (<usize>k << 3), c, s, k);
  }
  store<f64>(d + at, load<f64>(d + at) - p);
  store<f64>(e + at, g);
  store<f64>(e + (<usize>m << 3), 0);
}

/** Smallest first; of equal ones the one that came first. */
function sort(d: usize, z: usize, k: i32): void {
  for (let i = 0; i < k - 1; i++) {
    let least = i;
    for (let j = i + 1; j < k; j++) {
      if (load<f64>(d + (<usize>j << 3)) < load<f64>(d + (<usize>least << 3))) least = j;
    }
    if (least == i) continue;
    const value = load<f64>(d + (<usize>i << 3));
    store<f64>(d + (<usize>i << 3), load<f64>(d + (<usize>least << 3)));
    store<f64>(d + (<usize>least << 3), value);
    // A turn by a right angle: the rows change places and one changes its sign, which is free.
    turn(z + ((<usize>i * <usize>k) << 3), z + ((<usize>least * <usize>k) << 3), 0, -1, k);
  }
}

/**
 * Eigenvalues of the symmetric f64 matrix `a` (k x k, row-major, overwritten), ascending, to `values`; row i of
 * `vectors` is the vector of value i. `scratch` has 3 k f64. About 10 k^3 operations. Result: 0; -1 when `a` is not
 * finite, and then all results are NaN; -2 when a value did not settle, which leaves the best known.
 */
export function symmetricEigenF64(a: usize, k: i32, values: usize, vectors: usize, scratch: usize): i32 {
  const bytes = <usize>k << 3;
  const e = scratch, taus = e + bytes, p = taus + bytes;
  tridiagonalize(a, k, e, taus, p);
  let size: f64 = 0;
  for (let i = 0; i < k; i++) {
    const at = a + <usize>i * (bytes + 8);
    store<f64>(values + (<usize>i << 3), load<f64>(at));
    if (i == k - 2) store<f64>(e + (<usize>i << 3), load<f64>(at, LONG));
    if (i == k - 1) store<f64>(e + (<usize>i << 3), 0);
    // max keeps a NaN, so one that came from anywhere is seen here.
    size = max<f64>(size, abs<f64>(load<f64>(at)) + abs<f64>(load<f64>(e + (<usize>i << 3))));
  }
  if (!(size < Infinity)) {
    for (let i = 0; i < k * k; i++) store<f64>(vectors + (<usize>i << 3), NaN);
    for (let i = 0; i < k; i++) store<f64>(values + (<usize>i << 3), NaN);
    return -1;
  }
  gather(a, k, taus, vectors, p);
  const small = EPSILON * size;
  let result = 0;
  for (let l = 0; l < k; l++) {
    for (let steps = 0; ; steps++) {
      let m = l;
      while (m < k - 1 && abs<f64>(load<f64>(e + (<usize>m << 3))) > small) m++;
      if (m == l) break;
      if (steps == STEPS_MAX) {
        result = -2;
        break;
      }
      sweep(values, e, vectors, k, l, m);
    }
  }
  sort(values, vectors, k);
  return result;
}
