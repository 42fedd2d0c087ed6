/** @file The names of native_training/feature_utils. */
import { CLIP_TYPES, type ClipType } from '../feature/model/clip-gradients.js';

export { applyGradientsWithVarOptimizer } from '../feature/model/apply-gradients-with-var-optimizer.js';
export { applyGradients } from '../optim/apply-gradients.js';

/** How `applyGradientsWithVarOptimizer` clips gradients. */
export const GradClipType = Object.fromEntries(CLIP_TYPES.map((type) => [type, type])) as {
  readonly [T in ClipType]: T;
};
