/**
 * @file The ways a model may clip its gradients, dense and sparse ones together. Mirrors the clip types of
 * feature_utils.
 */
import type { Tensor } from '../../graph/graph.js';
import { cast } from '../../graph/ops/cast.js';
import { clipByNorm, clipByValue, globalNorm } from '../../graph/ops/clip.js';
import { div, maximum, minimum, mul } from '../../graph/ops/elementwise.js';
import { globalStep } from '../../graph/ops/state.js';

/**
 * `ClipByGlobalNorm` scales all gradients by one norm of them all, `ClipByDenseAndSparse` dense and sparse ones by
 * norms of their own, `ClipByNorm` each by its own, `ClipByValue` clips every value; `NoClip` leaves them.
 */
export type ClipType = 'ClipByGlobalNorm' | 'ClipByDenseAndSparse' | 'ClipByNorm' | 'ClipByValue' | 'NoClip';
export const CLIP_TYPES: readonly ClipType[] = [
  'ClipByGlobalNorm',
  'ClipByDenseAndSparse',
  'ClipByNorm',
  'ClipByValue',
  'NoClip',
];

export interface ClipOptions {
  /** Default: ClipByGlobalNorm. */
  readonly clipType?: ClipType;
  /** Nothing is clipped without it. */
  readonly clipNorm?: number;
  /**
   * The norm that gradients of lookups are clipped to. Default: `clipNorm`. ClipByDenseAndSparse clips them only with
   * it.
   */
  readonly sparseClipNorm?: number;
  /** Steps over which the norm of lookups grows from 0 to what it is. */
  readonly sparseNormWarmupSteps?: number;
}

export interface Gradients {
  readonly dense: readonly Tensor[];
  /** Of lookups: rows per example. */
  readonly sparse: readonly Tensor[];
}

/** Names of the norms, by which they can be fetched. */
export const GLOBAL_GRADIENT_NORM = 'global_gradient_norm';

export function clipGradients({ dense, sparse }: Gradients, options: ClipOptions): Gradients {
  const { clipType = 'ClipByGlobalNorm', clipNorm, sparseClipNorm, sparseNormWarmupSteps } = options;
  const scaled = (grads: readonly Tensor[], limit: number | undefined, norm: Tensor | undefined) =>
    limit === undefined ? grads : grads.map((grad) => clipByNorm(grad, limit, { norm }));
  const warmed = (limit: number | undefined, norm: Tensor | undefined) =>
    limit === undefined || sparseNormWarmupSteps === undefined || norm === undefined
      ? scaled(sparse, limit, norm)
      : sparse.map((grad) => clipWarm(grad, limit, norm, sparseNormWarmupSteps));
  const normOf = (grads: readonly Tensor[], name: string) =>
    grads.length === 0 ? undefined : globalNorm(grads, { name });
  switch (clipType) {
    case 'ClipByGlobalNorm': {
      if (clipNorm === undefined) return { dense, sparse };
      const norm = normOf([...dense, ...sparse], GLOBAL_GRADIENT_NORM);
      return { dense: scaled(dense, clipNorm, norm), sparse: warmed(sparseClipNorm ?? clipNorm, norm) };
    }
    case 'ClipByDenseAndSparse': {
      const ofDense = clipNorm === undefined ? undefined : normOf(dense, `${GLOBAL_GRADIENT_NORM}/dense`);
      const ofSparse = sparseClipNorm === undefined ? undefined : normOf(sparse, `${GLOBAL_GRADIENT_NORM}/sparse`);
      return { dense: scaled(dense, clipNorm, ofDense), sparse: warmed(sparseClipNorm, ofSparse) };
    }
    case 'ClipByNorm':
      return { dense: scaled(dense, clipNorm, undefined), sparse: scaled(sparse, clipNorm, undefined) };
    case 'ClipByValue': {
      if (clipNorm === undefined) return { dense, sparse };
      const cut = (grads: readonly Tensor[]) => grads.map((grad) => clipByValue(grad, -clipNorm, clipNorm));
      return { dense: cut(dense), sparse: cut(sparse) };
    }
    case 'NoClip':
      return { dense, sparse };
    default:
      return clipType satisfies never;
  }
}

/** Keeps a norm of 0 under a limit of 0 from being divided by. */
const NORM_MIN = 1e-38;

/** The gradient times limit / max(norm, limit), the limit growing from 0 with the steps. */
function clipWarm(grad: Tensor, clipNorm: number, norm: Tensor, warmupSteps: number): Tensor {
  const share = minimum(div(cast(globalStep(grad.graph), 'float32'), warmupSteps), 1);
  const limit = mul(share, clipNorm);
  return mul(grad, div(limit, maximum(maximum(norm, limit), NORM_MIN)), { name: 'clip_by_warm_norm' });
}
