/**
 * @file Graph ops: what takes tensors and gives tensors. `ops` of the package.
 *
 * One rule for all of them: `(operands…, options?)`, `name` among the options.
 */
export { type GradientsOptions, gradients } from '../graph/gradients.js';
export {
  type DiceOptions,
  dice,
  type GeluOptions,
  gelu,
  type LeakyReluOptions,
  leakyRelu,
  prelu,
  relu,
  sigmoid,
  silu,
  softplus,
  swish,
  tanh,
} from '../graph/ops/activations.js';
export { type SoftmaxOptions, softmax } from '../graph/ops/attention.js';
export { batchMatMul, matMulInner } from '../graph/ops/batch-matmul.js';
export { asPartial, type BatchSumOptions, batchSum } from '../graph/ops/batch-sum.js';
export { type BroadcastOptions, broadcastTo } from '../graph/ops/broadcast.js';
export { cast, stopGradient } from '../graph/ops/cast.js';
export {
  type ClipByGlobalNormOptions,
  type ClipByNormOptions,
  type ClippedTensors,
  clipByGlobalNorm,
  clipByNorm,
  clipByValue,
  globalNorm,
} from '../graph/ops/clip.js';
export { columns, concatColumns } from '../graph/ops/columns.js';
export {
  add,
  addN,
  div,
  equal,
  greaterEqual,
  maximum,
  minimum,
  mul,
  type Operand,
  scale,
  sub,
} from '../graph/ops/elementwise.js';
export {
  addShared,
  broadcastInner,
  groupDot,
  maxInner,
  meanInner,
  mulShared,
  scaleGroups,
  sumInner,
  topK,
} from '../graph/ops/inner.js';
export type { AxisOptions } from '../graph/ops/inner-shape.js';
export { type MatMulOptions, matMul } from '../graph/ops/matmul.js';
export { type BatchNormOptions, batchNorm, l2Normalize, layerNorm, type NormOptions } from '../graph/ops/norms.js';
export type { OpOptions } from '../graph/ops/options.js';
export { cin, type FfmKind, type FfmOptions, type FmOptions, ffm, fmPairs } from '../graph/ops/pairs.js';
export { concatInner, gatherInner, sliceInner, splitInner } from '../graph/ops/positions.js';
export {
  type Axis,
  type ReduceOptions,
  reduceMax,
  reduceMean,
  reduceSum,
  weightedMean,
} from '../graph/ops/reductions.js';
export { addBias, rowDot, scaleColumns, scaleRows } from '../graph/ops/rows.js';
export { sequenceLengths, sequenceMask } from '../graph/ops/sequence.js';
export { reshape, stack, transposeInner, unstack } from '../graph/ops/shape.js';
export {
  assign,
  assignAdd,
  type ConstantOptions,
  constant,
  globalStep,
  group,
  type IncrementOptions,
  idsPlaceholder,
  increment,
  type NewVariable,
  type PlaceholderOptions,
  placeholder,
  type RaggedPlaceholderOptions,
  raggedPlaceholder,
  variable,
} from '../graph/ops/state.js';
export {
  type DropoutOptions,
  dropout,
  type IfTrainingOptions,
  ifTraining,
  type TrainingOption,
} from '../graph/ops/training.js';
export * from '../graph/ops/unary.js';
export {
  applyEmbeddingGradients,
  type EmbeddingUpdateOptions,
  embeddingLookup,
  type LookupOptions,
} from '../sparse/steps/embedding-ops.js';
export type { Pooling } from '../sparse/steps/pooled-shape.js';
