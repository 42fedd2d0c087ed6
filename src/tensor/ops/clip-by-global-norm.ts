/**
 * @file Clipping of gradients by their common norm. Mirrors clip_ops.
 *
 * Sums run in float64, so values whose squares leave float32 still have a norm. A NaN norm compares as not larger and
 * leaves everything as it is, as in the reference.
 */
import { MonolithError } from '../../base/errors.js';
import { Tensor } from '../tensor.js';

type Floats = Tensor<'float32'>;

/** Sum of the squares of all values of all tensors. */
export function globalL2Reduce(tensors: readonly Floats[]): number {
  let total = 0;
  for (const { data } of tensors) for (const x of data) total += x * x;
  return total;
}

/** Multiplies by clipNorm / globalNorm when the norm is larger; else returns the tensors it was given. */
export function clipByGivenNorm(tensors: readonly Floats[], globalNorm: number, clipNorm: number): readonly Floats[] {
  if (!(globalNorm > clipNorm)) return tensors;
  const factor = Math.fround(clipNorm / globalNorm);
  return tensors.map(
    ({ shape, data }) =>
      new Tensor(
        'float32',
        shape,
        data.map((x) => x * factor),
      ),
  );
}

export interface Clipped {
  readonly clipped: readonly Floats[];
  readonly globalNorm: number;
}

/**
 * Clips to a norm of `clipNorm`; `useNorm` replaces the norm that would be computed. Inputs are never modified.
 *
 * ```ts
 * clipByGlobalNorm([Tensor.of('float32', [-3, 4])], 2.5).globalNorm; // 5
 * ```
 */
export function clipByGlobalNorm(tList: readonly Floats[], clipNorm: number, useNorm?: number): Clipped {
  if (!Array.isArray(tList)) throw new MonolithError('ML_CLIP_LIST');
  if (tList.length === 0) return { clipped: tList, globalNorm: 0 };
  const globalNorm = useNorm ?? Math.fround(Math.sqrt(globalL2Reduce(tList)));
  return { clipped: clipByGivenNorm(tList, globalNorm, clipNorm), globalNorm };
}

/** The device form: computes the norm and clips in one op. Returns the norm, not its square as the reference does. */
export function fusedClipByGlobalNorm(tensors: readonly Floats[], clipNorm: number): Clipped {
  const globalNorm = Math.fround(Math.sqrt(globalL2Reduce(tensors)));
  return { clipped: clipByGivenNorm(tensors, globalNorm, clipNorm), globalNorm };
}
