/**
 * @file Eigenvalues and eigenvectors of a symmetric matrix in plain TypeScript: the operations of
 * assembly/optim/eigen.ts in the same order, so that both have the same bits.
 */
import type { Views } from '../../../../memory/views.js';

const STEPS_MAX = 60;
/** Rounding of rounding, not part of a matrix of f32. */
const NEGLIGIBLE = 1e-200;

/** Results: 0, -1 for a matrix that is not finite, -2 for a value that did not settle. Everything is f64. */
export function symmetricEigenF64(
  m: Views,
  a: number,
  k: number,
  values: number,
  vectors: number,
  scratch: number,
): number {
  const at = (address: number, count: number) => m.f64.subarray(address >>> 3, (address >>> 3) + count);
  const [matrix, d, z] = [at(a, k * k), at(values, k), at(vectors, k * k)];
  const [e, taus, p] = [0, 1, 2].map((i) => at(scratch + i * k * 8, k)) as [Float64Array, Float64Array, Float64Array];
  tridiagonalize(matrix, k, e, taus, p);
  let size = 0;
  for (let i = 0; i < k; i++) {
    d[i] = matrix[i * k + i]!;
    if (i === k - 2) e[i] = matrix[i * k + i + 1]!;
    if (i === k - 1) e[i] = 0;
    size = Math.max(size, Math.abs(d[i]!) + Math.abs(e[i]!));
  }
  if (!(size < Number.POSITIVE_INFINITY)) {
    z.fill(Number.NaN);
    d.fill(Number.NaN);
    return -1;
  }
  gather(matrix, k, taus, z, p);
  const result = iterate(d, e, z, k, Number.EPSILON * size);
  sort(d, z, k);
  return result;
}

/** y[..n] += factor * x[..n], from the places `toY` and `toX`. */
function addMultiple(y: Float64Array, toY: number, x: Float64Array, toX: number, factor: number, n: number): void {
  for (let i = 0; i < n; i++) y[toY + i] = y[toY + i]! + factor * x[toX + i]!;
}

function dot(x: Float64Array, toX: number, y: Float64Array, toY: number, n: number): number {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += x[toX + i]! * y[toY + i]!;
  return sum;
}

function tridiagonalize(a: Float64Array, k: number, e: Float64Array, taus: Float64Array, p: Float64Array): void {
  for (let j = 0; j < k - 2; j++) {
    const n = k - 1 - j;
    const v = j * k + j + 1;
    const first = a[v]!;
    const rest = dot(a, v + 1, a, v + 1, n - 1);
    e[j] = first;
    taus[j] = 0;
    if (rest < NEGLIGIBLE) continue;
    const length = Math.sqrt(first * first + rest);
    const side = first >= 0 ? -length : length;
    const head = first - side;
    const tau = 2 / (head * head + rest);
    a[v] = head;
    e[j] = side;
    taus[j] = tau;
    p.fill(0, 0, n);
    for (let i = 0; i < n; i++) addMultiple(p, 0, a, v + k + i * k, tau * a[v + i]!, n);
    addMultiple(p, 0, a, v, -(tau / 2) * dot(a, v, p, 0, n), n);
    for (let i = 0; i < n; i++) {
      for (let c = 0; c < n; c++) {
        const at = v + k + i * k + c;
        a[at] = a[at]! - (a[v + i]! * p[c]! + p[i]! * a[v + c]!);
      }
    }
  }
}

/** The product of the reflections, turned over. */
function gather(a: Float64Array, k: number, taus: Float64Array, z: Float64Array, w: Float64Array): void {
  z.fill(0);
  for (let i = 0; i < k; i++) z[i * k + i] = 1;
  for (let j = k - 3; j >= 0; j--) {
    const tau = taus[j]!;
    if (tau === 0) continue;
    const n = k - 1 - j;
    const v = j * k + j + 1;
    const square = (j + 1) * (k + 1);
    w.fill(0, 0, n);
    for (let i = 0; i < n; i++) addMultiple(w, 0, z, square + i * k, a[v + i]!, n);
    for (let i = 0; i < n; i++) addMultiple(z, square + i * k, w, 0, -tau * a[v + i]!, n);
  }
  for (let i = 0; i < k; i++) {
    for (let j = 0; j < i; j++) [z[i * k + j], z[j * k + i]] = [z[j * k + i]!, z[i * k + j]!];
  }
}

function iterate(d: Float64Array, e: Float64Array, z: Float64Array, k: number, small: number): number {
  let result = 0;
  for (let l = 0; l < k; l++) {
    for (let steps = 0; ; steps++) {
      let m = l;
      while (m < k - 1 && Math.abs(e[m]!) > small) m++;
      if (m === l) break;
      if (steps === STEPS_MAX) {
        result = -2;
        break;
      }
      sweep(d, e, z, k, l, m);
    }
  }
  return result;
}

/** One sweep of QL from m up to l. */
function sweep(d: Float64Array, e: Float64Array, z: Float64Array, k: number, l: number, m: number): void {
  let g = (d[l + 1]! - d[l]!) / (2 * e[l]!);
  let r = Math.sqrt(g * g + 1);
  g = d[m]! - d[l]! + e[l]! / (g + (g >= 0 ? r : -r));
  let [s, c, p] = [1, 1, 0];
  for (let i = m - 1; i >= l; i--) {
    const [f, b] = [s * e[i]!, c * e[i]!];
    r = Math.sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r === 0) {
      d[i + 1] = d[i + 1]! - p;
      e[m] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1]! - p;
    r = (d[i]! - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    turn(z, i * k, (i + 1) * k, c, s, k);
  }
  d[l] = d[l]! - p;
  e[l] = g;
  e[m] = 0;
}

function turn(z: Float64Array, x: number, y: number, c: number, s: number, n: number): void {
  for (let i = 0; i < n; i++) {
    const [a, b] = [z[x + i]!, z[y + i]!];
    z[x + i] = c * a - s * b;
    z[y + i] = s * a + c * b;
  }
}

/** Smallest first; of equal ones the one that came first. */
function sort(d: Float64Array, z: Float64Array, k: number): void {
  for (let i = 0; i < k - 1; i++) {
    let least = i;
    for (let j = i + 1; j < k; j++) if (d[j]! < d[least]!) least = j;
    if (least === i) continue;
    [d[i], d[least]] = [d[least]!, d[i]!];
    turn(z, i * k, least * k, 0, -1, k);
  }
}
