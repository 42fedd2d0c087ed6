/**
 * @file What each operand of a kernel is to the memory: which are addresses, and whether what is there is read or written.
 *
 * A step over two memories needs it to know what must be where. One letter per operand, in the order of kernels.ts:
 *
 * - `r` address that is read, `w` written (and perhaps added to), `b` both, `-` no address;
 * - `a` addresses of table rows, which are read;
 * - `x` records that hold further addresses: see `recordAccesses` in step-works.ts;
 * - `s` scratch: nothing of it is read that the same call did not write; `o` scratch that a device does without.
 *
 * A kernel that is not here runs on the host, and whatever could be an address among its operands counts as both.
 */
export type Role = 'r' | 'w' | 'b' | '-' | 'a' | 'x' | 's' | 'o';

/** Roles → kernels that have them. */
const KERNELS_OF_ROLES: Readonly<Record<string, string>> = {
  // one matrix to another
  'r-w---': 'reluF32 sigmoidF32 tanhF32 geluF32 geluTanhF32 swishF32 softplusF32 sumRowsF32 castI64F32',
  'r-w----': 'copyRowsF32 leakyReluF32 l2NormalizeF32',
  'r-w-----': 'scaleF32 fmPairsF32',
  'r-w------': 'transposeInnerF32 maxInnerF32',
  'r-w-------': 'sumInnerF32 broadcastInnerF32',
  'r-w--': 'maxRowsF32',
  'r-w-----r--': 'gatherInnerF32 scatterInnerF32',
  'r-w----r----': 'dropoutF32',
  'r-w-w-----': 'topKF32',
  '-r-w---': 'unaryF32',
  'r---w-': 'sumF32 maxColumnsF32',
  'r---w--': 'sumColumnsF32',
  'rw-----': 'broadcastScalarF32',
  'r--w-': 'reduceSlicesF32 seqMaskF32',
  'r--w-----': 'broadcastF32',
  'r--w------': 'copyBlocksF32',
  // with what all rows share
  'r-rw---': 'addBiasF32 preluF32 biasReluF32',
  'r-rw----': 'scaleColumnsF32 divideByScalarF32 clipRowsToNormF32',
  'r-rw-----': 'addSharedF32 mulSharedF32',
  'r-rrw-w---': 'layerNormF32',
  'r-r-rrw----': 'layerNormGradF32',
  'r-r-rw--': 'layerNormGainGradF32',
  'r-r-rw----': 'preluGradF32',
  // two matrices to a third
  'r-r-w--': 'bceLogitsF32 hingeF32 preluSlopeGradF32',
  'r-r-w---': 'sumSharedF32',
  'r-r-w----':
    'subF32 mulF32 rowDotF32 scaleRowsF32 reluGradF32 sigmoidGradF32 tanhGradF32 geluGradF32 geluTanhGradF32 ' +
    'swishGradF32 softplusGradF32 weightedBceF32 softmaxLossF32',
  'r-r-w-----': 'leakyReluGradF32 l2NormalizeGradF32 focalF32 fmPairsGradF32 scaleGroupsF32 groupDotF32 softmaxGradF32',
  'r-r-w------': 'topKGradF32 pairProductsF32',
  'r-r-w--------': 'pairProductsGradF32',
  'r-r-w--r-': 'batchMatMulF32',
  'r-r--w----': 'softmaxF32',
  '-r--r--w---': 'binaryF32',
  'r--r--w-----o': 'gemmF32',
  'rr---w': 'inbatchAucF32',
  'rr---r-w--': 'inbatchAucGradF32',
  // three and more
  'r-r-r-w---': 'bceLogitsGradF32 hingeGradF32',
  'r-r-r-w-----': 'weightedBceGradF32 softmaxLossGradF32',
  'r-r-r-w------': 'focalGradF32 maxInnerGradF32',
  'r-r-rw------o-': 'cinF32',
  'r-r-r-rw--w--w-----o': 'cinGradF32',
  // norms and updates of variables
  'r--w': 'sumSquaresF64',
  'r-w': 'rootOfSumF32 sumF64',
  'r---w': 'rowSquaresF64',
  'rw---': 'clipValueF32',
  'rrw--': 'clipToNormF32',
  'br--': 'applySgdF32',
  'bbr---': 'applyAdagradF32',
  'bbr----': 'applyDenseMomentumF32',
  'bbbr-----': 'applyFtrlF32 applyStandardFtrlF32',
  'bbbr--rr-----': 'applyDenseAdamF32',
  'x--': 'applyShampooF32',
  'bbbr-------': 'applyDenseRmspropF32',
  'bbbbr--------': 'applyAdamomF32',
  'b-': 'addCountI64',
  // ids, tables and lookups
  '--': 'multiplyU32',
  'bb-': 'advanceGeneration',
  'r-b---bw': 'uniqueI64',
  'r--r-b---bw': 'uniqueColumnsI64',
  'r--ww': 'partitionByHash',
  'r-b': 'countInverseU32',
  'r--b': 'countColumnsU32',
  '-r-ww': 'tableFind',
  '-r-w-s': 'tableRetrieve',
  '-rrrww': 'bankedFind',
  '---x-s-': 'tableApply bankedApply',
  '---x-': 'tableAdmit filterCount',
  '--r-rb': 'filterAsk',
  '---x---s': 'tableTouch',
  'w---': 'zeroRowsF32',
  'arr--w-': 'poolSumF32 poolMeanF32',
  'arr---w-': 'firstNF32',
  'r-rr--b-o': 'scatterAddF32 scatterMeanF32',
  'r-rr---b-o': 'firstNGradF32',
  'ar--x-': 'gatherSlicesF32',
  'r--x-b-o': 'scatterSlicesF32',
};

export const OPERAND_ROLES: ReadonlyMap<string, readonly Role[]> = new Map(
  Object.entries(KERNELS_OF_ROLES).flatMap(([roles, names]) =>
    names.split(' ').map((name) => [name, [...roles] as Role[]] as const),
  ),
);
