/**
 * @file Eigenvalues and vectors of a symmetric matrix by cyclic Jacobi rotations: another way than the kernel's, to
 * hold it to.
 */
const SWEEPS_MAX = 60;

export interface SymmetricEigen {
  /** Ascending. */
  readonly values: Float64Array;
  /** Row-major k x k; column i belongs to value i. */
  readonly vectors: Float64Array;
}

/** `matrix` is row-major k x k; only its symmetric part counts. */
export function symmetricEigen(matrix: ArrayLike<number>, k: number): SymmetricEigen {
  const a = Float64Array.from({ length: k * k }, (_, i) => {
    const [row, column] = [Math.floor(i / k), i % k];
    return (matrix[i]! + matrix[column * k + row]!) / 2;
  });
  const v = Float64Array.from({ length: k * k }, (_, i) => (Math.floor(i / k) === i % k ? 1 : 0));
  const scale = a.reduce((sum, x) => sum + x * x, 0);
  for (let sweep = 0; sweep < SWEEPS_MAX && offDiagonal(a, k) > 1e-30 * scale; sweep++) {
    for (let p = 0; p < k - 1; p++) for (let q = p + 1; q < k; q++) rotate(a, v, k, p, q);
  }
  const order = Array.from({ length: k }, (_, i) => i).sort((i, j) => a[i * k + i]! - a[j * k + j]!);
  return {
    values: Float64Array.from(order, (i) => a[i * k + i]!),
    vectors: Float64Array.from({ length: k * k }, (_, at) => v[Math.floor(at / k) * k + order[at % k]!]!),
  };
}

function offDiagonal(a: Float64Array, k: number): number {
  let sum = 0;
  for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) if (i !== j) sum += a[i * k + j]! ** 2;
  return sum;
}

/** Makes a[p][q] zero by a rotation of rows and columns p and q, and turns the vectors with it. */
function rotate(a: Float64Array, v: Float64Array, k: number, p: number, q: number): void {
  const apq = a[p * k + q]!;
  if (apq === 0) return;
  const theta = (a[q * k + q]! - a[p * k + p]!) / (2 * apq);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let i = 0; i < k; i++) turn(a, i * k + p, i * k + q, c, s);
  for (let i = 0; i < k; i++) turn(a, p * k + i, q * k + i, c, s);
  for (let i = 0; i < k; i++) turn(v, i * k + p, i * k + q, c, s);
}

function turn(x: Float64Array, i: number, j: number, c: number, s: number): void {
  const [xi, xj] = [x[i]!, x[j]!];
  x[i] = c * xi - s * xj;
  x[j] = s * xi + c * xj;
}
