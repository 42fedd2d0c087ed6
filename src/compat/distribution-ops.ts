/**
 * @file The ops of native_training/distribution_ops and of the small op modules beside it, over values and with their
 * gradients.
 *
 * They stand in a namespace, because graph ops and combiners have some of these names too.
 */
export { KernelOps, type KernelOpsOptions } from '../runtime/backends/wasm/kernel-ops.js';
export { alignedFlatConcat, alignedFlatSplit } from '../tensor/ops/aligned-flat.js';
export { clipByGlobalNorm, fusedClipByGlobalNorm, globalL2Reduce } from '../tensor/ops/clip-by-global-norm.js';
export {
  featureInsight,
  featureInsightAggregate,
  featureInsightAggregateGradient,
  featureInsightGradient,
} from '../tensor/ops/feature-insight.js';
export { ffm, ffmGradient } from '../tensor/ops/ffm.js';
export { fidCounter, fidCounterGradient } from '../tensor/ops/fid-counter.js';
export {
  fusedGatherEmbeddingsByInput,
  fusedGatherEmbeddingsByInputGradient,
  gatherEmbeddingsByInput,
  gatherEmbeddingsByInputGradient,
  mapIdToEmbedding,
  mapIdToEmbeddingGradient,
  mapIdToEmbeddingGradient as mapIdToEmbeddingGradientBackProp,
} from '../tensor/ops/gather-embeddings.js';
export { genSeqMask } from '../tensor/ops/gen-seq-mask.js';
export { inbatchAucLoss, inbatchAucLossGradient } from '../tensor/ops/inbatch-auc-loss.js';
export {
  fusedReduceSumAndSplit,
  fusedReduceSumAndSplitGradient,
  reduceMean,
  reduceMeanGradient,
  reduceSqrtn,
  reduceSqrtnGradient,
  reduceSum,
  reduceSumGradient,
} from '../tensor/ops/reduce.js';
export {
  fusedReduceAndSplit,
  fusedReduceAndSplitGradient,
  fusedSortedSegmentSum,
  fusedSortedSegmentSumGradient,
} from '../tensor/ops/reduce-and-split.js';
export { fusedReorderByIndices, reorderByIndices } from '../tensor/ops/reorder-by-indices.js';
export { raggedSplitByIndices, splitByIndices, splitByIndicesGradient } from '../tensor/ops/split-by-indices.js';
export {
  fillWithOffsetMap,
  fillWithOffsetMapGradient,
  finalizeSharedTensor,
  SharedTensorHandle,
  uniqueKeyWithValueAndOffset,
} from '../tensor/ops/unique-key.js';
