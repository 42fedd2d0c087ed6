/**
 * @file Which test holds each CUDA kernel to its reference, and so to the WASM kernel of that name, under 20 schedules.
 *
 * kernel-coverage.test.ts fails for a kernel that is not here; the test that is named fails when it leaves the kernel
 * out.
 */
export const KERNEL_TESTS: Readonly<Record<string, readonly string[]>> = {
  'kernels-clip': names(`
    clipRowsToNormF32 clipToNormF32 clipValueF32 rootOfSumF32 rowSquaresF64 sumF64 sumSquaresF64
  `),
  'kernels-device-table': names(`
    deviceTableAdmit deviceTableFill deviceTableFind deviceTablePlace deviceTableTake
  `),
  'kernels-elementwise': names(`
    addBiasF32 biasReluF32 binaryF32 broadcastF32 broadcastScalarF32 castI64F32 copyRowsF32 divideByScalarF32
    dropoutF32 geluF32 geluGradF32 geluTanhF32 geluTanhGradF32 layerNormGainGradF32 leakyReluF32
    leakyReluGradF32 maxColumnsF32 maxRowsF32 mulF32 preluF32 preluGradF32 preluSlopeGradF32 reduceSlicesF32
    reluF32 reluGradF32 rowDotF32 scaleColumnsF32 scaleF32 scaleRowsF32 sigmoidF32 sigmoidGradF32 softplusF32
    softplusGradF32 subF32 sumColumnsF32 sumF32 sumRowsF32 swishF32 swishGradF32 tanhF32 tanhGradF32 unaryF32
    zeroRowsF32
  `),
  'kernels-gemm': names(`
    gemmBiasF32 gemmF32
  `),
  'kernels-ids': names(`
    countColumnsU32 countInverseU32 hashFindI64 hashFirstI64 hashInsertI64 layoutBackwardF32 layoutForwardF32
    layoutResolve mapIdToEmbeddingF32 packF32 rowIdsFromSplits unpackF32
  `),
  'kernels-inner': names(`
    addSharedF32 batchMatMulF32 broadcastInnerF32 copyBlocksF32 gatherInnerF32 groupDotF32 l2NormalizeF32
    l2NormalizeGradF32 layerNormF32 layerNormGradF32 maxInnerF32 maxInnerGradF32 mulSharedF32 pairProductsF32
    pairProductsGradF32 scaleGroupsF32 scatterInnerF32 softmaxF32 softmaxGradF32 sumInnerF32 sumSharedF32
    transposeInnerF32
  `),
  'kernels-loss': names(`
    bceLogitsF32 bceLogitsGradF32 fmPairsF32 fmPairsGradF32 focalF32 focalGradF32 hingeF32 hingeGradF32
    softmaxLossF32 softmaxLossGradF32 weightedBceF32 weightedBceGradF32
  `),
  'kernels-optim': names(`
    addCountI64 applyAdagradF32 applyAdamF32 applyAdamPowersF32 applyAdamomF32 applyDenseAdamF32
    applyDenseMomentumF32 applyDenseRmspropF32 applyFtrlF32 applyMomentumF32 applySgdF32 applyStandardFtrlF32
    stepRowsAdadeltaF32 stepRowsAdagradF32 stepRowsAdamF32 stepRowsAmsgradF32 stepRowsBatchSoftmaxF32
    stepRowsDecoupledAdagradF32 stepRowsFtrlF32 stepRowsGroupAdagradF32 stepRowsGroupFtrlF32 stepRowsMomentumF32
    stepRowsMovingAverageF32 stepRowsRmspropF32 stepRowsSgdF32
  `),
  'kernels-pairs': names(`
    cinF32 cinGradF32 inbatchAucF32 inbatchAucGradF32 topKF32 topKGradF32
  `),
  'kernels-slices': names(`
    gatherSlicesF32 gatherSlicesRowsF32 scatterSlicesF32 segmentSumSlicesF32
  `),
  'kernels-sparse': names(`
    firstNF32 firstNGradF32 gatherMatrixF32 gatherRowsF32 poolMeanF32 poolMeanRowsF32 poolSumF32 poolSumRowsF32
    scatterAddF32 scatterMeanF32 segmentSumF32 seqMaskF32
  `),
};

function names(list: string): readonly string[] {
  return list.trim().split(/\s+/);
}
