/**
 * @file The table of kernels a program may call: the contract between the compiler and the backends.
 *
 * Each kernel has an opcode, its operands in order, and one sentence. The WASM side dispatches on the opcode
 * (assembly/program.ts), the reference side looks the function up by name (src/runtime/backends/reference/). Matrices are
 * row-major f32 and `stride` counts floats between rows.
 */

/** `u32` is a pointer, count or stride; `f32` a float in the register's bits. */
export type OperandKind = 'u32' | 'f32';

export interface Kernel {
  readonly name: string;
  readonly opcode: number;
  readonly operands: readonly OperandKind[];
  readonly meaning: string;
}

const table = new Map<string, Kernel>();

function kernel(opcode: number, name: string, signature: string, meaning: string): Kernel {
  const operands = [...signature].map((letter): OperandKind => (letter === 'f' ? 'f32' : 'u32'));
  const entry = { name, opcode, operands, meaning };
  table.set(name, entry);
  return entry;
}

/** Signatures: one letter per operand, `u` for u32 and `f` for f32. */
export const KERNEL = {
  copyRowsF32: kernel(2, 'copyRowsF32', 'uuuuuuu', 'dst (+)= src'),
  subF32: kernel(4, 'subF32', 'uuuuuuuuu', 'dst (+)= a - b'),
  mulF32: kernel(5, 'mulF32', 'uuuuuuuuu', 'dst (+)= a * b'),
  scaleF32: kernel(6, 'scaleF32', 'uuuuuufu', 'dst (+)= factor * src'),
  addBiasF32: kernel(7, 'addBiasF32', 'uuuuuuu', 'dst[r,:] = x[r,:] + bias'),
  sumRowsF32: kernel(8, 'sumRowsF32', 'uuuuuu', 'dst[c] (+)= sum over r of src[r,c]'),
  sumF32: kernel(9, 'sumF32', 'uuuuuf', 'dst[0] = factor * sum of src'),
  broadcastScalarF32: kernel(10, 'broadcastScalarF32', 'uuuuufu', 'dst (+)= factor * src[0]'),
  rowDotF32: kernel(11, 'rowDotF32', 'uuuuuuuuu', 'out[r] (+)= dot of a[r,:] and b[r,:]'),
  scaleRowsF32: kernel(12, 'scaleRowsF32', 'uuuuuuuuu', 'dst[r,:] (+)= scale[r] * src[r,:]'),
  reluF32: kernel(13, 'reluF32', 'uuuuuu', 'y = max(x, 0)'),
  reluGradF32: kernel(14, 'reluGradF32', 'uuuuuuuuu', 'dx (+)= dy where y > 0'),
  sigmoidF32: kernel(15, 'sigmoidF32', 'uuuuuu', 'y = 1 / (1 + exp(-x))'),
  sigmoidGradF32: kernel(16, 'sigmoidGradF32', 'uuuuuuuuu', 'dx (+)= dy * y * (1 - y)'),
  tanhF32: kernel(17, 'tanhF32', 'uuuuuu', 'y = tanh(x)'),
  tanhGradF32: kernel(18, 'tanhGradF32', 'uuuuuuuuu', 'dx (+)= dy * (1 - y * y)'),
  bceLogitsF32: kernel(19, 'bceLogitsF32', 'uuuuuuu', 'out[r] = cross entropy of label[r] under logit x[r]'),
  bceLogitsGradF32: kernel(20, 'bceLogitsGradF32', 'uuuuuuuuuu', 'dx[r] (+)= dy[r] * (sigmoid(x[r]) - label[r])'),
  gemmF32: kernel(21, 'gemmF32', 'uuuuuuuuuuuuu', 'c (+)= a * b, general strides'),
  reduceSlicesF32: kernel(22, 'reduceSlicesF32', 'uuuuu', 'dst[i] = sum over slices of src[slice][i], in slice order'),
  applySgdF32: kernel(23, 'applySgdF32', 'uuuf', 'w -= lr * g'),
  applyAdagradF32: kernel(24, 'applyAdagradF32', 'uuuuff', 'h = g + decay * w; n += h * h; w -= lr / sqrt(n) * h'),
  applyFtrlF32: kernel(25, 'applyFtrlF32', 'uuuuuffff', 'FTRL-proximal step'),
  addCountI64: kernel(26, 'addCountI64', 'uu', 'the i64 counter grows by count'),
  applyAdamomF32: kernel(27, 'applyAdamomF32', 'uuuuuufffffuu', 'adamom step with slots m, v, c'),
  applyDenseRmspropF32: kernel(28, 'applyDenseRmspropF32', 'uuuuufffffu', 'rmsprop step with slots m, v'),
  advanceGeneration: kernel(40, 'advanceGeneration', 'uuu', 'empties a unique scratch table by a new generation'),
  uniqueI64: kernel(41, 'uniqueI64', 'uuuuuuuu', 'unique ids in first-seen order, with inverse; result: count'),
  partitionByHash: kernel(42, 'partitionByHash', 'uuuuu', 'indexes of ids, grouped by the partition of their hash'),
  tableFind: kernel(43, 'tableFind', 'uuuuu', 'rows and slots of ids, the zero row for absent ones; result: found'),
  poolSumF32: kernel(44, 'poolSumF32', 'uuuuuuu', 'out[r,:] = sum of the rows of the ids of example r'),
  zeroRowsF32: kernel(45, 'zeroRowsF32', 'uuuu', 'dst = 0'),
  scatterAddF32: kernel(46, 'scatterAddF32', 'uuuuuuuuu', 'gradient of poolSumF32, added per unique id'),
  tableApply: kernel(47, 'tableApply', 'uuuuuuu', 'sums gradients per id over slices and steps each row once'),
  tableRetrieve: kernel(48, 'tableRetrieve', 'uuuuuu', 'out[i,:] = what a lookup of id i shows; result: found'),
  bankedFind: kernel(
    49,
    'bankedFind',
    'uuuuuu',
    'rows of ids in other memories, copied to a local buffer; result: found',
  ),
  bankedApply: kernel(50, 'bankedApply', 'uuuuuuu', 'tableApply of a table in other memories'),
  countInverseU32: kernel(51, 'countInverseU32', 'uuu', 'how often each unique id came'),
  tableAdmit: kernel(52, 'tableAdmit', 'uuuuu', 'ids that the filter keeps out go to the sink; result: how many'),
  filterAsk: kernel(54, 'filterAsk', 'uuuuuu', 'which ids without a row the filter keeps out, marked in their counts'),
  filterCount: kernel(55, 'filterCount', 'uuuuu', 'counts the sightings of all ids that asked'),
  tableTouch: kernel(
    53,
    'tableTouch',
    'uuuuuuuu',
    'ids that got a step go to a set of touched pairs; result: how many',
  ),
  geluF32: kernel(80, 'geluF32', 'uuuuuu', 'y = x * Phi(x)'),
  geluGradF32: kernel(81, 'geluGradF32', 'uuuuuuuuu', 'dx (+)= dy * (Phi(x) + x * phi(x))'),
  geluTanhF32: kernel(82, 'geluTanhF32', 'uuuuuu', 'y = x * (1 + tanh(0.798 (x + 0.0447 x^3))) / 2'),
  geluTanhGradF32: kernel(83, 'geluTanhGradF32', 'uuuuuuuuu', 'dx (+)= dy * slope of geluTanhF32 at x'),
  swishF32: kernel(84, 'swishF32', 'uuuuuu', 'y = x * sigmoid(x)'),
  swishGradF32: kernel(85, 'swishGradF32', 'uuuuuuuuu', 'dx (+)= dy * slope of swishF32 at x'),
  softplusF32: kernel(86, 'softplusF32', 'uuuuuu', 'y = log(1 + exp(x))'),
  softplusGradF32: kernel(87, 'softplusGradF32', 'uuuuuuuuu', 'dx (+)= dy * sigmoid(x)'),
  leakyReluF32: kernel(88, 'leakyReluF32', 'uuuuuuf', 'y = x where x > 0, else slope * x'),
  leakyReluGradF32: kernel(89, 'leakyReluGradF32', 'uuuuuuuufu', 'dx (+)= dy where x > 0, else slope * dy'),
  preluF32: kernel(90, 'preluF32', 'uuuuuuu', 'y[r,c] = x[r,c] where x > 0, else slope[c] * x[r,c]'),
  preluGradF32: kernel(91, 'preluGradF32', 'uuuuuuuuuu', 'dx[r,c] (+)= dy[r,c] where x > 0, else slope[c] * dy[r,c]'),
  preluSlopeGradF32: kernel(
    92,
    'preluSlopeGradF32',
    'uuuuuuu',
    'dslope[c] = sum over r of dy * x where x is not above 0',
  ),
  scaleColumnsF32: kernel(93, 'scaleColumnsF32', 'uuuuuuuu', 'dst[r,c] (+)= factor[c] * x[r,c]'),
  layerNormF32: kernel(
    94,
    'layerNormF32',
    'uuuuuuuuuf',
    'y[r,:] = (x[r,:] - mean) * rstd * gain + bias; mean and rstd are kept',
  ),
  layerNormGradF32: kernel(95, 'layerNormGradF32', 'uuuuuuuuuuu', 'dx (+)= gradient of layerNormF32'),
  layerNormGainGradF32: kernel(
    96,
    'layerNormGainGradF32',
    'uuuuuuuu',
    'dgain[c] = sum over r of dy * (x - mean) * rstd',
  ),
  l2NormalizeF32: kernel(97, 'l2NormalizeF32', 'uuuuuuf', 'y[r,:] = x[r,:] / length of x[r,:]'),
  l2NormalizeGradF32: kernel(98, 'l2NormalizeGradF32', 'uuuuuuuufu', 'dx (+)= gradient of l2NormalizeF32'),
  weightedBceF32: kernel(
    99,
    'weightedBceF32',
    'uuuuuuuff',
    'out[r] = cross entropy under logit x[r], with a weight for each class',
  ),
  weightedBceGradF32: kernel(100, 'weightedBceGradF32', 'uuuuuuuuuffu', 'dx[r] (+)= dy[r] * slope of weightedBceF32'),
  hingeF32: kernel(101, 'hingeF32', 'uuuuuuu', 'out[r] = max(0, 1 - (2 label[r] - 1) * x[r])'),
  hingeGradF32: kernel(102, 'hingeGradF32', 'uuuuuuuuuu', 'dx[r] (+)= dy[r] * slope of hingeF32'),
  focalF32: kernel(103, 'focalF32', 'uuuuuuufff', 'out[r] = cross entropy times (1 - p of the true class)^gamma'),
  focalGradF32: kernel(104, 'focalGradF32', 'uuuuuuuuufffu', 'dx[r] (+)= dy[r] * slope of focalF32'),
  softmaxLossF32: kernel(105, 'softmaxLossF32', 'uuuuuuuuu', 'out[r] = cross entropy of the softmax of x[r,:]'),
  softmaxLossGradF32: kernel(
    106,
    'softmaxLossGradF32',
    'uuuuuuuuuuuu',
    'dx[r,:] (+)= dy[r] * (softmax of x[r,:] - label)',
  ),
  fmPairsF32: kernel(
    110,
    'fmPairsF32',
    'uuuuuuuu',
    'out[r] (+)= sum of the dot products of all pairs of fields of x[r]',
  ),
  fmPairsGradF32: kernel(111, 'fmPairsGradF32', 'uuuuuuuuuu', 'gradient of fmPairsF32'),
  sumSquaresF64: kernel(60, 'sumSquaresF64', 'uuuu', 'dst[i] = sum of squares of the i-th grain of floats, as f64'),
  rootOfSumF32: kernel(61, 'rootOfSumF32', 'uuu', 'dst[0] = square root of the sum of f64'),
  clipToNormF32: kernel(62, 'clipToNormF32', 'uuuuf', 'dst = src, scaled down when norm[0] is above the limit'),
  binaryF32: kernel(63, 'binaryF32', 'uuuuuuuuuuu', 'dst = a op b, where rows and elements of either may repeat'),
  unaryF32: kernel(64, 'unaryF32', 'uuuuuuu', 'y = op x'),
  sumColumnsF32: kernel(65, 'sumColumnsF32', 'uuuuuuf', 'out[r] = factor * sum of row r'),
  maxColumnsF32: kernel(66, 'maxColumnsF32', 'uuuuuu', 'out[r] = largest of row r'),
  broadcastF32: kernel(67, 'broadcastF32', 'uuuuuuufu', 'dst (+)= factor * src, of which rows and elements may repeat'),
  inbatchAucF32: kernel(
    68,
    'inbatchAucF32',
    'uuuuuu',
    'dst[0] = sum over pairs of the batch of log sigmoid of positive less negative',
  ),
  inbatchAucGradF32: kernel(69, 'inbatchAucGradF32', 'uuuuuufuuu', 'dst (+)= gradient of inbatchAucF32 times grad[0]'),
  maxRowsF32: kernel(70, 'maxRowsF32', 'uuuuu', 'dst[c] = largest of column c'),
  copyBlocksF32: kernel(112, 'copyBlocksF32', 'uuuuuuuuuu', 'for each block: dst (+)= src, at steps of their own'),
  transposeInnerF32: kernel(113, 'transposeInnerF32', 'uuuuuuuuu', 'dst[r, o, j, i] (+)= src[r, o, i, j]'),
  gatherInnerF32: kernel(114, 'gatherInnerF32', 'uuuuuuuuuuu', 'dst[r, o, k, :] (+)= src[r, o, indices[k], :]'),
  scatterInnerF32: kernel(115, 'scatterInnerF32', 'uuuuuuuuuuu', 'gradient of gatherInnerF32'),
  sumInnerF32: kernel(116, 'sumInnerF32', 'uuuuuuuufu', 'dst[r, o, i] (+)= factor * sum over j of src[r, o, j, i]'),
  maxInnerF32: kernel(117, 'maxInnerF32', 'uuuuuuuuu', 'dst[r, o, i] (+)= the largest src[r, o, j, i]'),
  maxInnerGradF32: kernel(118, 'maxInnerGradF32', 'uuuuuuuuuuuuu', 'gradient of maxInnerF32, shared by equal values'),
  broadcastInnerF32: kernel(119, 'broadcastInnerF32', 'uuuuuuuufu', 'dst[r, o, j, i] (+)= factor * src[r, o, i]'),
  addSharedF32: kernel(120, 'addSharedF32', 'uuuuuuuuu', 'out[r, p, c] (+)= x[r, p, c] + v[c]'),
  mulSharedF32: kernel(121, 'mulSharedF32', 'uuuuuuuuu', 'out[r, p, c] (+)= x[r, p, c] * v[c]'),
  sumSharedF32: kernel(122, 'sumSharedF32', 'uuuuuuuu', 'dst[c] = sum over r and p of a[r, p, c] * b[r, p, c]'),
  cinGradF32: kernel(123, 'cinGradF32', 'uuuuuuuuuuuuuuuuuuuu', 'gradients of cinF32'),
  scaleGroupsF32: kernel(124, 'scaleGroupsF32', 'uuuuuuuuuu', 'dst[r, g, :] (+)= factors[r, g] * src[r, g, :]'),
  groupDotF32: kernel(125, 'groupDotF32', 'uuuuuuuuuu', 'out[r, g] (+)= dot of a[r, g, :] and b[r, g, :]'),
  softmaxF32: kernel(126, 'softmaxF32', 'uuuuuuuuuu', 'y = softmax of x over groups, 0 where a mask is 0'),
  softmaxGradF32: kernel(127, 'softmaxGradF32', 'uuuuuuuuuu', 'dx (+)= y * (dy - dot of dy and y)'),
  topKF32: kernel(128, 'topKF32', 'uuuuuuuuuu', 'the k largest of each group, and where they are'),
  topKGradF32: kernel(129, 'topKGradF32', 'uuuuuuuuuuu', 'gradient of topKF32'),
  batchMatMulF32: kernel(130, 'batchMatMulF32', 'uuuuuuuuu', 'c (+)= a * b for each row and group'),
  multiplyU32: kernel(131, 'multiplyU32', 'uu', 'result: a * b'),
  seqMaskF32: kernel(132, 'seqMaskF32', 'uuuuu', 'dst[r, j] = 1 where example r has a j-th id'),
  firstNF32: kernel(133, 'firstNF32', 'uuuuuuuu', 'out[r, j, :] = the row of the j-th id of example r'),
  firstNGradF32: kernel(134, 'firstNGradF32', 'uuuuuuuuuu', 'gradient of firstNF32, added per unique id'),
  poolMeanF32: kernel(135, 'poolMeanF32', 'uuuuuuu', 'out[r, :] = mean of the rows of the ids of example r'),
  scatterMeanF32: kernel(136, 'scatterMeanF32', 'uuuuuuuuu', 'gradient of poolMeanF32, added per unique id'),
  pairProductsF32: kernel(137, 'pairProductsF32', 'uuuuuuuuuuu', 'out[r, i, j, :] (+)= left[r, i, :] * right[r, j, :]'),
  pairProductsGradF32: kernel(138, 'pairProductsGradF32', 'uuuuuuuuuuuuu', 'gradient of pairProductsF32 for one side'),
  cinF32: kernel(139, 'cinF32', 'uuuuuuuuuuuuuu', 'weighted sums of the products of all pairs of fields'),
  dropoutF32: kernel(
    107,
    'dropoutF32',
    'uuuuuuuuuufu',
    'y (+)= scale * x where a hash of step, row and column says so',
  ),
  divideByScalarF32: kernel(108, 'divideByScalarF32', 'uuuuuuuu', 'dst (+)= x / divisor[0], 0 where that is 0'),
  uniqueColumnsI64: kernel(
    170,
    'uniqueColumnsI64',
    'uuuuuuuuuuu',
    'uniqueI64 of columns of a matrix of ids; result: count',
  ),
  countColumnsU32: kernel(171, 'countColumnsU32', 'uuuu', 'countInverseU32 of the inverse of columns'),
  gatherSlicesF32: kernel(
    172,
    'gatherSlicesF32',
    'uuuuuu',
    'slices of the rows of ids to the matrices of their features',
  ),
  biasReluF32: kernel(174, 'biasReluF32', 'uuuuuuu', 'y[r,:] = max(x[r,:] + bias, 0)'),
  scatterSlicesF32: kernel(173, 'scatterSlicesF32', 'uuuuuuuu', 'gradient of gatherSlicesF32, added per unique id'),
  numberRepeatsU32: kernel(
    175,
    'numberRepeatsU32',
    'uuuuuuuuu',
    'numbers the distinct ids of each column of an inverse',
  ),
  gemmRepeatsF32: kernel(
    176,
    'gemmRepeatsF32',
    'uuuuuuuuuuuuu',
    'gemmF32, multiplying equal rows of a field of columns once',
  ),
  gemmRepeatsGradF32: kernel(177, 'gemmRepeatsGradF32', 'uuuuuuuuuuuuuuuuuu', 'gradients of gemmRepeatsF32'),
  applyDenseMomentumF32: kernel(140, 'applyDenseMomentumF32', 'uuuuffu', 'momentum step with slot accum'),
  applyDenseAdamF32: kernel(141, 'applyDenseAdamF32', 'uuuuufuuffffu', 'adam step with slots m, v and shared powers'),
  applyStandardFtrlF32: kernel(142, 'applyStandardFtrlF32', 'uuuuuffff', 'FTRL-proximal step with the sign in l1'),
  applyShampooF32: kernel(143, 'applyShampooF32', 'ufu', 'shampoo step of the variable of a block'),
  clipValueF32: kernel(144, 'clipValueF32', 'uuuff', 'dst = min(max(src, low), high)'),
  sumF64: kernel(146, 'sumF64', 'uuu', 'dst[0] = sum of f64, in order'),
  clipRowsToNormF32: kernel(147, 'clipRowsToNormF32', 'uuuuuuuf', 'clipToNormF32 of each row, by one norm'),
  castI64F32: kernel(650, 'castI64F32', 'uuuuuu', 'dst = src, i64 to f32'),
  rowSquaresF64: kernel(149, 'rowSquaresF64', 'uuuuu', 'dst[0] = sum of squares of a matrix, f64'),
} as const satisfies Record<string, Kernel>;

export const KERNELS: ReadonlyMap<string, Kernel> = table;
export const KERNEL_OF_OPCODE: ReadonlyMap<number, Kernel> = new Map([...table.values()].map((k) => [k.opcode, k]));
