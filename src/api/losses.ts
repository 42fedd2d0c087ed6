/**
 * @file Losses: `(logits, labels, options?)`, a value per example that `ops.reduceMean` makes one. `losses` of the
 * package.
 */
export { type InbatchAucOptions, inbatchAucLoss } from '../graph/ops/inbatch-auc.js';
export { type InbatchSoftmaxOptions, inbatchSoftmaxLoss } from '../graph/ops/inbatch-softmax.js';
export {
  type FocalOptions,
  focalLoss,
  hingeLoss,
  type LossOptions,
  sigmoidCrossEntropyWithLogits,
  softmaxCrossEntropyWithLogits,
  sparseSoftmaxCrossEntropyWithLogits,
  squaredError,
  type WeightedCrossEntropyOptions,
  weightedCrossEntropyWithLogits,
} from '../graph/ops/losses.js';
