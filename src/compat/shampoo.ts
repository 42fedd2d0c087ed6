/**
 * @file The functions of native_training/optimizers/shampoo, over values: what a step of `optim.shampoo` does inside.
 */
import { eigenScratch } from '../memory/dense-layout.js';
import { Views } from '../memory/views.js';
import { symmetricEigenF64 } from '../runtime/backends/reference/optim/eigen.js';
import { check } from '../tensor/ops/check.js';
import { Tensor } from '../tensor/tensor.js';

type Floats = Tensor<'float32'>;

export interface InverseRoot {
  /** `[k, kept]`: the eigenvectors that are kept, in columns. */
  readonly pvec: Floats;
  /** `[kept]`: their eigenvalues to the power -1/p, less the offset. */
  readonly pval: Floats;
  readonly offset: number;
}

/** Eigenvalues of a symmetric matrix, smallest first, and eigenvectors, one per row. */
function eigen({ data, shape: [k = 0] }: Floats): { values: Float64Array; vectors: Float64Array } {
  const square = k * k;
  const words = 2 * square + k + eigenScratch(k);
  const views = new Views(new SharedArrayBuffer(8 * words));
  views.f64.set(data);
  const [vectors, values, scratch] = [square * 8, 2 * square * 8, (2 * square + k) * 8];
  const found = symmetricEigenF64(views, 0, k, values, vectors, scratch) === 0;
  check(found, 'eigenInverseRoot', 'the eigenvalues of the matrix cannot be found: is it finite?');
  return { values: views.f64.slice(2 * square, 2 * square + k), vectors: views.f64.slice(square, 2 * square) };
}

/**
 * mat^(-1/p) of a symmetric matrix as V diag(pval) Vᵀ + offset * I, from the `head` smallest eigenvalues above
 * `damping` and the `tail` largest. The offset is a mean of raw eigenvalues, as upstream.
 */
export function eigenInverseRoot(mat: Floats, p: number, head: number, tail: number, damping = 1e-3): InverseRoot {
  const [k = 0, columns] = mat.shape;
  check(mat.shape.length === 2 && k === columns && k > 0, 'eigenInverseRoot', `[${mat.shape}] is no square matrix`);
  const { values, vectors } = eigen(mat);
  let first = Math.max(
    0,
    values.findIndex((value) => value > damping),
  );
  let [heads, tails] = [head, tail];
  if (heads + tails > k) [first, heads, tails] = [0, k, 0];
  else first = Math.min(first, k - heads - tails);
  const middle = values.subarray(first + heads, k - tails);
  const offset = middle.length === 0 ? 0 : middle.reduce((sum, value) => sum + value, 0) / middle.length;
  const kept = [...values.keys()].filter((i) => (i >= first && i < first + heads) || i >= k - tails);
  const pval = Float32Array.from(kept, (i) => Math.max(values[i]!, damping) ** (-1 / p) - offset);
  const pvec = Float32Array.from({ length: k * kept.length }, (_, at) => {
    const [row, column] = [Math.floor(at / kept.length), kept[at % kept.length]!];
    return vectors[column * k + row]!;
  });
  return {
    pvec: new Tensor('float32', [k, kept.length], pvec),
    pval: new Tensor('float32', [kept.length], pval),
    offset,
  };
}

/** The operator of `eigenInverseRoot` on axis 0 of a tensor, with that axis moved last. */
export function applySparsePrecond(tensor: Floats, pvec: Floats, pval: Floats, offset: number): Floats {
  const [k = 0, ...others] = tensor.shape;
  const [rows, kept = 0] = pvec.shape;
  const shapes = [tensor, pvec, pval].map(({ shape }) => `[${shape}]`);
  check(rows === k && pval.size === kept, 'applySparsePrecond', `${shapes.join(', ')} do not fit together`);
  const rest = tensor.size / k;
  const out = new Float32Array(tensor.size);
  for (let r = 0; r < rest; r++) {
    for (let c = 0; c < kept; c++) {
      let dot = 0;
      for (let i = 0; i < k; i++) dot += tensor.data[i * rest + r]! * pvec.data[i * kept + c]!;
      for (let i = 0; i < k; i++) out[r * k + i]! += dot * pval.data[c]! * pvec.data[i * kept + c]!;
    }
    for (let i = 0; i < k; i++) out[r * k + i]! += tensor.data[i * rest + r]! * offset;
  }
  return new Tensor('float32', [...others, k], out);
}
