/**
 * @file Layers: the parts of recommender models that have variables of their own. `nn` of the package.
 *
 * A function makes a layer and calls it once; a class is for a layer that is called more than once.
 */
export type { LayerActivation } from '../layers/activation.js';
export { type AttentionCall, AttentionLayer, type AttentionOptions, attention } from '../layers/attention-layer.js';
export { CinLayer, type CinOptions, cin } from '../layers/cin-layer.js';
export { CrossLayer, type CrossOptions, cross } from '../layers/cross-layer.js';
export { DenseLayer, type DenseOptions, dense } from '../layers/dense-layer.js';
export { fieldAwareFm, fm } from '../layers/factorization.js';
export { Layer, type LayerOptions, trainableVariables } from '../layers/layer.js';
export { MlpLayer, type MlpOptions, mlp } from '../layers/mlp-layer.js';
export { MmoeLayer, type MmoeOptions, mmoe } from '../layers/mmoe-layer.js';
export { SenetLayer, type SenetOptions, senet } from '../layers/senet-layer.js';
export {
  type TargetAttentionCall,
  TargetAttentionLayer,
  type TargetAttentionOptions,
  targetAttention,
} from '../layers/target-attention-layer.js';
export type { WeightInitializer } from '../layers/weight-initializers.js';
