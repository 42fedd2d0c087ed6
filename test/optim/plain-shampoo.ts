/**
 * @file Shampoo over plain arrays, straight from the formulas and in f64 between float32 slots: what the kernel is held
 * to.
 */
import type { ShampooOptions } from '../../src/optim/shampoo.js';
import { symmetricEigen } from './plain-eigen.js';

export interface InverseRoot {
  readonly size: number;
  /** Columns kept. */
  readonly rank: number;
  /** Row-major size x rank. */
  readonly vectors: Float32Array;
  /** Inverse roots of the kept eigenvalues, less the offset. */
  readonly values: Float32Array;
  readonly offset: number;
}

/**
 * S^(-1/p) as V diag(values) V^T + offset * I, from the `head` smallest eigenvalues above the damping and the `tail`
 * largest.
 */
export function inverseRoot(
  matrix: ArrayLike<number>,
  size: number,
  p: number,
  head: number,
  tail: number,
  damping: number,
): InverseRoot {
  const { values, vectors } = symmetricEigen(matrix, size);
  let first = Math.max(
    0,
    values.findIndex((value) => value > damping),
  );
  let kept = { head, tail };
  if (head + tail > size) {
    first = 0;
    kept = { head: size, tail: 0 };
  } else if (first + head + tail > size) first = size - head - tail;
  const middle = values.subarray(first + kept.head, size - kept.tail);
  const isWhole = first + kept.head + kept.tail === size;
  const offset = isWhole ? 0 : middle.reduce((sum, value) => sum + value, 0) / middle.length;
  const columns = [
    ...Array.from({ length: kept.head }, (_, i) => first + i),
    ...Array.from({ length: kept.tail }, (_, i) => size - kept.tail + i),
  ];
  const rank = columns.length;
  return {
    size,
    rank,
    vectors: Float32Array.from({ length: size * rank }, (_, at) => {
      return vectors[Math.floor(at / rank) * size + columns[at % rank]!]!;
    }),
    values: Float32Array.from(columns, (column) => Math.max(values[column]!, damping) ** (-1 / p) - offset),
    offset,
  };
}

/**
 * The operator of `root` on axis 0 of a tensor given as size x rest, with that axis moved to the end: the result is
 * rest x size. After as many calls as there are axes the order is the first one again.
 */
export function precondition(tensor: ArrayLike<number>, root: InverseRoot): Float64Array {
  const { size, rank, vectors, values, offset } = root;
  const rest = tensor.length / size;
  const out = new Float64Array(tensor.length);
  const projected = new Float64Array(rank);
  for (let column = 0; column < rest; column++) {
    projected.fill(0);
    for (let i = 0; i < size; i++) {
      const x = tensor[i * rest + column]!;
      for (let e = 0; e < rank; e++) projected[e] = projected[e]! + x * vectors[i * rank + e]!;
    }
    for (let i = 0; i < size; i++) {
      let sum = 0;
      for (let e = 0; e < rank; e++) sum += projected[e]! * values[e]! * vectors[i * rank + e]!;
      out[column * size + i] = sum + offset * tensor[i * rest + column]!;
    }
  }
  return out;
}

/** Contraction of the gradient with itself over all axes but `axis`: a size x size matrix. */
export function axisStatistic(gradient: ArrayLike<number>, shape: readonly number[], axis: number): Float64Array {
  const size = shape[axis]!;
  const inner = shape.slice(axis + 1).reduce((product, dim) => product * dim, 1);
  const outer = gradient.length / (size * inner);
  const out = new Float64Array(size * size);
  for (let o = 0; o < outer; o++) {
    for (let a = 0; a < size; a++) {
      for (let b = 0; b <= a; b++) {
        let sum = 0;
        const [atA, atB] = [(o * size + a) * inner, (o * size + b) * inner];
        for (let i = 0; i < inner; i++) sum += gradient[atA + i]! * gradient[atB + i]!;
        out[a * size + b] = out[a * size + b]! + sum;
        if (a !== b) out[b * size + a] = out[b * size + a]! + sum;
      }
    }
  }
  return out;
}

interface AxisSlots {
  /** `s{i}` and `g{i}`. */
  readonly sum: Float32Array;
  readonly statistic: Float32Array;
  /** `pvec{i}`, `pval{i}` and `o{i}`; all zero until the first refresh. */
  root: InverseRoot;
}

export interface ShampooSlots {
  readonly shape: readonly number[];
  readonly axes: readonly AxisSlots[];
  readonly d: Float32Array;
  readonly m: Float32Array;
  readonly pm: Float32Array;
}

type Options = Required<Omit<ShampooOptions, 'name' | 'learningRate'>> & { readonly learningRate: number };

export class PlainShampoo {
  readonly #options: Options;

  constructor(options: Partial<Options> = {}) {
    const { learningRate = 0.03, beta1 = 0.9, beta2 = 1, warmup = 5000, tau1 = 200, tau2 = 20 } = options;
    const { eigenHead = 100, eigenTail = 100, dampingEpsilon = 1e-3 } = options;
    this.#options = { learningRate, beta1, beta2, warmup, tau1, tau2, eigenHead, eigenTail, dampingEpsilon };
  }

  createSlots(shape: readonly number[]): ShampooSlots {
    const count = shape.reduce((product, dim) => product * dim, 1);
    const axes = shape.map((size): AxisSlots => {
      const rank = Math.min(size, this.#options.eigenHead + this.#options.eigenTail);
      const vectors = new Float32Array(size * rank);
      return {
        sum: new Float32Array(size * size),
        statistic: new Float32Array(size * size),
        root: { size, rank, vectors, values: new Float32Array(rank), offset: 0 },
      };
    });
    const [d, m, pm] = [new Float32Array(count), new Float32Array(count), new Float32Array(count)];
    return { shape, axes, d, m, pm };
  }

  /** One step of `variable`, in place, when `globalStep` steps are done. */
  step(variable: Float32Array, gradient: Float32Array, slots: ShampooSlots, globalStep: number): void {
    const { beta1, warmup, learningRate } = this.#options;
    const preconditioned = this.#preconditioned(gradient, slots, globalStep);
    const { d, m, pm } = slots;
    for (let i = 0; i < gradient.length; i++) {
      d[i] = d[i]! + gradient[i]! ** 2;
      m[i] = beta1 * m[i]! + ((1 - beta1) * gradient[i]!) / Math.sqrt(d[i]! + 1e-30);
      pm[i] = beta1 * pm[i]! + (1 - beta1) * preconditioned[i]!;
    }
    const rate = learningRate;
    const isWarm = globalStep > warmup;
    const blend = isWarm ? Math.min(1, Math.max(0, globalStep / warmup - 1)) : 0;
    const graft = (rate * norm(m)) / (norm(pm) + 1e-10);
    for (let i = 0; i < variable.length; i++) {
      variable[i] = variable[i]! - ((1 - blend) * rate * m[i]! + blend * graft * pm[i]!);
    }
  }

  #preconditioned(gradient: Float32Array, { shape, axes }: ShampooSlots, globalStep: number): ArrayLike<number> {
    const { beta2, warmup, tau1, tau2, eigenHead, eigenTail, dampingEpsilon } = this.#options;
    const isPreDue = globalStep > warmup && globalStep % tau1 === 0;
    let tensor: ArrayLike<number> = gradient;
    axes.forEach((axis, i) => {
      if (globalStep % tau2 === 0) axis.statistic.set(axisStatistic(gradient, shape, i));
      for (let at = 0; at < axis.sum.length; at++) {
        const fresh = axis.statistic[at]!;
        axis.sum[at] = beta2 < 1 - 1e-10 ? beta2 * axis.sum[at]! + (1 - beta2) * fresh : axis.sum[at]! + fresh;
      }
      if (isPreDue)
        axis.root = inverseRoot(axis.sum, shape[i]!, 2 * shape.length, eigenHead, eigenTail, dampingEpsilon);
      tensor = precondition(tensor, axis.root);
    });
    return tensor;
  }
}

function norm(values: Float32Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
}
