/**
 * @file How each CUDA kernel is launched: its module, its operands, and the grid for given operands.
 *
 * A kernel of src/runtime/kernels takes the words of its entry there, in the same order; those that are addresses have
 * 64 bits. The words of kernels that only a device has are here. Blocks have 256 threads.
 */

import type { WordName } from '../../kernels/kernel.js';
import { KERNEL, type Kernel, type Operands } from '../../kernels/kernels.js';
import {
  blocks,
  type CudaGrid,
  count,
  elements,
  type GridOf,
  grains,
  lanesPerRow,
  oneBlock,
  perRow,
  product,
  products,
  quads,
  threads,
  tiles,
  weights,
} from './launch-grids.js';

export { BLOCK_THREADS } from './launch-grids.js';

/** `p` is a device address, `u` a count, stride or flag of 32 bits, `f` a float of 32 bits. */
export type CudaOperand = 'p' | 'u' | 'f';

export interface CudaKernel {
  readonly name: string;
  /** Name of the PTX file in cuda/ptx. */
  readonly module: string;
  readonly operands: readonly CudaOperand[];
  /** Names of the operands, which are those of its parameters in cuda/kernels. */
  readonly words: readonly string[];
  /** `multiprocessors` bounds the grid of kernels that walk; operands are given as numbers. */
  readonly grid: (operands: readonly number[], multiprocessors: number) => CudaGrid;
  /** False when blocks are tied to places of the result, so that the grid must be the one given. */
  readonly walks: boolean;
  /**
   * Floats that have to be read or written for an element of the largest matrix, or for a weight, when nothing is added
   * to what was there: a lower bound. 0 where it depends on the data.
   */
  readonly floatsPerElement: number;
}

interface Line {
  readonly name: string;
  readonly words: readonly string[];
  readonly operands: readonly CudaOperand[];
  readonly grid: GridOf<string>;
  readonly floatsPerElement: number;
}

const LETTERS = { address: 'p', count: 'u', float: 'f' } as const;

/** A kernel of the kernel table. */
function shared<O extends Operands>(kernel: Kernel<O>, grid: GridOf<WordName<O>>, floatsPerElement: number): Line {
  const { name, words } = kernel;
  const operands = words.map(({ kind }) => LETTERS[kind]);
  return { name, words: words.map((word) => word.name), operands, grid: grid as GridOf<string>, floatsPerElement };
}

/** A kernel that only a device has. Its words are named as its parameters: `*` is an address, `~` a float. */
function own(name: string, parameters: string, grid: GridOf<string>, floatsPerElement: number): Line {
  const all = parameters.split(' ');
  const operands = all.map((word): CudaOperand => (word.startsWith('*') ? 'p' : word.startsWith('~') ? 'f' : 'u'));
  return { name, words: all.map((word) => word.replace(/^[*~]/, '')), operands, grid, floatsPerElement };
}

const table = new Map<string, CudaKernel>();

/** A line per kernel. */
function family(module: string, lines: readonly Line[]): void {
  for (const { name, words, operands, grid, floatsPerElement } of lines) {
    const walks = grid !== oneBlock && module !== 'gemm';
    const indexOf = (word: string) => {
      const index = words.indexOf(word);
      if (index < 0) throw new Error(`${name} has no word ${word}`);
      return index;
    };
    table.set(name, { name, module, operands, words, grid: grid(indexOf), walks, floatsPerElement });
  }
}

family('elementwise', [
  shared(KERNEL.copyRowsF32, quads('rows', 'cols'), 2),
  shared(KERNEL.zeroRowsF32, quads('rows', 'cols'), 1),
  shared(KERNEL.subF32, quads('rows', 'cols'), 3),
  shared(KERNEL.mulF32, quads('rows', 'cols'), 3),
  shared(KERNEL.scaleF32, quads('rows', 'cols'), 2),
  shared(KERNEL.addBiasF32, quads('rows', 'cols'), 2),
  shared(KERNEL.scaleColumnsF32, quads('rows', 'cols'), 2),
  shared(KERNEL.broadcastScalarF32, elements('rows', 'cols'), 1),
  shared(KERNEL.scaleRowsF32, elements('rows', 'cols'), 2),
  shared(KERNEL.broadcastF32, elements('rows', 'cols'), 1),
  shared(KERNEL.binaryF32, elements('rows', 'cols'), 1),
  shared(KERNEL.unaryF32, elements('rows', 'cols'), 2),
  shared(KERNEL.divideByScalarF32, elements('rows', 'cols'), 2),
  shared(KERNEL.castI64F32, elements('rows', 'cols'), 3),
  shared(KERNEL.dropoutF32, elements('rows', 'cols'), 2),
]);

const SMOOTH = [
  KERNEL.sigmoidF32,
  KERNEL.tanhF32,
  KERNEL.geluF32,
  KERNEL.geluTanhF32,
  KERNEL.swishF32,
  KERNEL.softplusF32,
];
const FROM_Y = [KERNEL.reluGradF32, KERNEL.sigmoidGradF32, KERNEL.tanhGradF32];
const FROM_X = [KERNEL.geluGradF32, KERNEL.geluTanhGradF32, KERNEL.swishGradF32, KERNEL.softplusGradF32];
family('activation', [
  shared(KERNEL.reluF32, quads('rows', 'cols'), 2),
  shared(KERNEL.biasReluF32, quads('rows', 'cols'), 2),
  ...SMOOTH.map((kernel) => shared(kernel, elements('rows', 'cols'), 2)),
  ...FROM_Y.map((kernel) => shared(kernel, quads('rows', 'cols'), 3)),
  ...FROM_X.map((kernel) => shared(kernel, elements('rows', 'cols'), 3)),
  shared(KERNEL.leakyReluF32, quads('rows', 'cols'), 2),
  shared(KERNEL.leakyReluGradF32, quads('rows', 'cols'), 3),
  shared(KERNEL.preluF32, quads('rows', 'cols'), 2),
  shared(KERNEL.preluGradF32, elements('rows', 'cols'), 3),
]);

family('reduce', [
  shared(KERNEL.sumRowsF32, blocks('cols', 8), 1),
  shared(KERNEL.preluSlopeGradF32, blocks('cols', 8), 2),
  shared(KERNEL.layerNormGainGradF32, blocks('cols', 8), 2),
  shared(KERNEL.sumF32, oneBlock, 1),
  shared(KERNEL.sumColumnsF32, perRow('rows', 32), 1),
  shared(KERNEL.maxColumnsF32, perRow('rows', 32), 1),
  shared(KERNEL.maxRowsF32, count('cols'), 1),
  shared(KERNEL.reduceSlicesF32, count('n'), 2),
  shared(KERNEL.rowDotF32, perRow('rows', 8), 2),
  shared(KERNEL.sumSquaresF64, grains('count', 'grain'), 1),
  shared(KERNEL.rootOfSumF32, oneBlock, 2),
  shared(KERNEL.sumF64, oneBlock, 2),
  shared(KERNEL.rowSquaresF64, elements('rows', 'cols'), 1),
  shared(KERNEL.clipToNormF32, weights('count'), 2),
  shared(KERNEL.clipRowsToNormF32, quads('rows', 'cols'), 2),
  shared(KERNEL.clipValueF32, weights('n'), 2),
]);

family('gemm', [
  shared(KERNEL.gemmF32, tiles('m', 'n'), 1),
  own(
    'gemmBiasF32',
    '*a aRowStride aColStride *b bRowStride bColStride *c cStride m n k *bias activation',
    tiles('m', 'n'),
    1,
  ),
]);

family('loss', [
  shared(KERNEL.bceLogitsF32, count('rows'), 3),
  shared(KERNEL.bceLogitsGradF32, count('rows'), 4),
  shared(KERNEL.weightedBceF32, count('rows'), 3),
  shared(KERNEL.weightedBceGradF32, count('rows'), 4),
  shared(KERNEL.hingeF32, count('rows'), 3),
  shared(KERNEL.hingeGradF32, count('rows'), 4),
  shared(KERNEL.focalF32, count('rows'), 3),
  shared(KERNEL.focalGradF32, count('rows'), 4),
  shared(KERNEL.softmaxLossF32, perRow('rows', 32), 1),
  shared(KERNEL.softmaxLossGradF32, perRow('rows', 32), 2),
]);

family('optimizers', [
  shared(KERNEL.applySgdF32, weights('n'), 3),
  shared(KERNEL.applyAdagradF32, weights('n'), 5),
  shared(KERNEL.applyFtrlF32, weights('n'), 7),
  shared(KERNEL.applyStandardFtrlF32, weights('n'), 7),
  own('applyMomentumF32', '*w *state *g n ~lr ~decay ~mu nesterov', weights('n'), 5),
  shared(KERNEL.applyDenseMomentumF32, weights('n'), 5),
  shared(KERNEL.applyAdamomF32, weights('n'), 9),
  shared(KERNEL.applyDenseRmspropF32, weights('n'), 7),
  own('applyAdamF32', '*w *state *g n ~lr ~beta1 ~beta2 ~decay ~epsilon nesterov', weights('n'), 7),
  shared(KERNEL.applyDenseAdamF32, weights('n'), 7),
  own('applyAdamPowersF32', '*powers ~beta1 ~beta2', oneBlock, 4),
  shared(KERNEL.addCountI64, oneBlock, 4),
]);

const ROWS = '*w wStride *state stateStride *index *grad gradStride count dim';
family('row-optimizers', [
  own('stepRowsSgdF32', '*w wStride *index *grad gradStride count dim ~lr', lanesPerRow('count', 'dim', 4), 3),
  own(
    'stepRowsMovingAverageF32',
    '*w wStride *index *grad gradStride count dim ~mu',
    lanesPerRow('count', 'dim', 4),
    3,
  ),
  own('stepRowsAdagradF32', `${ROWS} ~lr ~decay`, lanesPerRow('count', 'dim', 4), 5),
  own('stepRowsDecoupledAdagradF32', `${ROWS} ~lr ~decay`, lanesPerRow('count', 'dim', 4), 5),
  own('stepRowsMomentumF32', `${ROWS} ~lr ~decay ~mu nesterov`, lanesPerRow('count', 'dim', 4), 5),
  own('stepRowsRmspropF32', `${ROWS} ~lr ~decay ~mu second`, lanesPerRow('count', 'dim', 4), 5),
  own('stepRowsFtrlF32', `${ROWS} ~lr ~beta ~l1 ~l2 standard`, lanesPerRow('count', 'dim', 4), 7),
  own('stepRowsAdadeltaF32', `${ROWS} ~lr ~decay ~rho ~epsilon`, lanesPerRow('count', 'dim', 4), 7),
  own('stepRowsAdamF32', `${ROWS} ~lr ~beta1 ~beta2 ~decay ~epsilon nesterov`, lanesPerRow('count', 'dim', 4), 7),
  own('stepRowsAmsgradF32', `${ROWS} ~lr ~beta1 ~beta2 ~decay ~epsilon nesterov`, lanesPerRow('count', 'dim', 4), 9),
]);

family('group-optimizers', [
  own(
    'stepRowsGroupAdagradF32',
    '*w wStride *state stateStride *index *grad gradStride count dim ~lr ~beta ~l2 ~decay',
    perRow('count', 4),
    4,
  ),
  own(
    'stepRowsGroupFtrlF32',
    '*w wStride *state stateStride *index *grad gradStride count dim ~lr ~beta ~l1 ~l2',
    perRow('count', 4),
    7,
  ),
  own('stepRowsBatchSoftmaxF32', '*w wStride *state stateStride *index count ~lr stepLow stepHigh', count('count'), 6),
]);

family('sparse', [
  shared(KERNEL.poolSumF32, lanesPerRow('rows', 'dim', 4), 1),
  shared(KERNEL.poolMeanF32, lanesPerRow('rows', 'dim', 4), 1),
  own(
    'poolSumRowsF32',
    '*table tableStride *inverse *splits rows dim *out outStride',
    lanesPerRow('rows', 'dim', 4),
    1,
  ),
  own(
    'poolMeanRowsF32',
    '*table tableStride *inverse *splits rows dim *out outStride',
    lanesPerRow('rows', 'dim', 4),
    1,
  ),
  own('gatherMatrixF32', '*table tableStride *index count dim *out outStride', lanesPerRow('count', 'dim', 4), 2),
  own('gatherRowsF32', '*rowPtrs n dim *out outStride', lanesPerRow('n', 'dim', 1), 2),
  shared(KERNEL.scatterAddF32, lanesPerRow('rows', 'dim', 1), 1),
  shared(KERNEL.scatterMeanF32, lanesPerRow('rows', 'dim', 1), 1),
  own(
    'segmentSumF32',
    '*grad gradStride *sorted segments *rowSplits perRow dim *ugrad ugradStride',
    lanesPerRow('segments', 'dim', 4),
    2,
  ),
  shared(KERNEL.seqMaskF32, elements('rows', 'n'), 1),
  shared(
    KERNEL.firstNF32,
    threads(['rows', 'dim', 'n'], (rows, dim, n) => product(rows, dim * n)),
    1,
  ),
  shared(
    KERNEL.firstNGradF32,
    threads(['rows', 'dim', 'n'], (rows, dim, n) => product(rows, dim * n)),
    1,
  ),
]);

family('slices', [
  shared(KERNEL.gatherSlicesF32, perRow('rows', 4), 0),
  own('gatherSlicesRowsF32', '*table tableStride *inverse idsPerRow rows *pieces pieceCount', perRow('rows', 4), 0),
  shared(KERNEL.scatterSlicesF32, perRow('rows', 4), 0),
  own(
    'segmentSumSlicesF32',
    '*sorted segments *pieces pieceCount *sums sumStride width quads rows mostIds',
    lanesPerRow('segments', 'width', 4),
    0,
  ),
]);

family('fm', [
  shared(KERNEL.fmPairsF32, perRow('rows', 16), 1),
  shared(KERNEL.fmPairsGradF32, elements('rows', 'dim'), 2),
]);

family('norm', [
  shared(KERNEL.layerNormF32, perRow('rows', 32), 2),
  shared(KERNEL.layerNormGradF32, perRow('rows', 32), 3),
  shared(KERNEL.l2NormalizeF32, perRow('rows', 32), 2),
  shared(KERNEL.l2NormalizeGradF32, perRow('rows', 32), 3),
]);

family('inner', [
  shared(KERNEL.copyBlocksF32, products('rows', 'blocks', 'width'), 2),
  shared(KERNEL.transposeInnerF32, products('rows', 'outer', 'n', 'inner'), 2),
  shared(KERNEL.gatherInnerF32, products('rows', 'outer', 'inner', 'count'), 2),
  shared(KERNEL.scatterInnerF32, products('rows', 'outer', 'n', 'inner'), 1),
  shared(KERNEL.sumInnerF32, products('rows', 'outer', 'inner'), 1),
  shared(KERNEL.maxInnerF32, products('rows', 'outer', 'inner'), 1),
  shared(KERNEL.maxInnerGradF32, products('rows', 'outer', 'inner'), 2),
  shared(KERNEL.broadcastInnerF32, products('rows', 'outer', 'n', 'inner'), 1),
  shared(KERNEL.addSharedF32, elements('rows', 'cols'), 2),
  shared(KERNEL.mulSharedF32, elements('rows', 'cols'), 2),
  shared(KERNEL.scaleGroupsF32, products('rows', 'groups', 'width'), 2),
  shared(KERNEL.groupDotF32, products('rows', 'groups'), 2),
  shared(
    KERNEL.softmaxF32,
    threads(['rows', 'groups'], (rows, groups) => product(rows, groups) * 32),
    2,
  ),
  shared(KERNEL.softmaxGradF32, products('rows', 'groups'), 3),
  shared(KERNEL.batchMatMulF32, perRow('rows', 256), 1),
  shared(KERNEL.sumSharedF32, count('period'), 1),
  shared(KERNEL.pairProductsF32, products('rows', 'lefts', 'rights', 'dim'), 1),
  shared(KERNEL.pairProductsGradF32, products('rows', 'count', 'dim'), 1),
]);

family('pairs', [
  shared(
    KERNEL.cinF32,
    threads(['rows', 'dim', 'outs'], (rows, dim, outs) => product(rows, dim * (outs % 4 === 0 ? outs / 4 : outs))),
    0,
  ),
  shared(
    KERNEL.cinGradF32,
    threads(
      ['rows', 'lefts', 'rights', 'dim', 'outs'],
      (rows, lefts, rights, dim, outs) => product(rows, Math.max(lefts, rights) * dim) + product(lefts * rights, outs),
    ),
    0,
  ),
  shared(KERNEL.inbatchAucF32, elements('rows', 'count'), 0),
  shared(KERNEL.inbatchAucGradF32, perRow('count', 32), 0),
]);

family('top-k', [
  shared(
    KERNEL.topKF32,
    threads(['rows', 'groups'], (rows, groups) => product(rows, groups) * 32),
    1,
  ),
  shared(
    KERNEL.topKGradF32,
    threads(['rows', 'groups'], (rows, groups) => product(rows, groups) * 32),
    1,
  ),
]);

family('ids', [
  own('hashInsertI64', '*slots mask *ids n *counter rowsMax *flags', count('n'), 6),
  own('hashFirstI64', '*slots mask *ids n *flags', count('n'), 6),
  own('hashFindI64', '*slots mask *ids n *rows', count('n'), 6),
  own('mapIdToEmbeddingF32', '*slots mask *ids n *embeddings stride dim *out outStride *flags', perRow('n', 32), 2),
  shared(KERNEL.countInverseU32, count('n'), 2),
  shared(KERNEL.countColumnsU32, elements('rows', 'columns'), 2),
  own('rowIdsFromSplits', '*splits rows *out', perRow('rows', 32), 1),
]);

family('device-table', [
  own('deviceTableFind', '*slots mask *ids n *rows rowFloats rowsMax *rowOf *addresses secret', count('n'), 6),
  own('deviceTableTake', '*slots mask *ids n *rowOf *fresh *idOf *counters rowsMax secret', count('n'), 6),
  own(
    'deviceTableFill',
    '*fresh *rowOf *ids n *rows rowFloats *first *range seed',
    lanesPerRow('n', 'rowFloats', 4),
    1,
  ),
  own('deviceTableAdmit', '*rowOf n *grad gradStride dim *times timeSec *counters', lanesPerRow('n', 'dim', 1), 1),
  own('deviceTablePlace', '*slots mask *ids n *counters secret', count('n'), 6),
]);

family('layout', [
  own('packF32', '*sources *sizes *offsets count total *dst ~scale', count('total'), 2),
  own('unpackF32', '*targets *sizes *offsets count total *src', count('total'), 2),
  own(
    'layoutResolve',
    '*fidOffset begin end *sources sourceCount dim *rows *bad',
    threads(['end', 'begin'], (end, begin) => end - begin),
    4,
  ),
  own(
    'layoutForwardF32',
    '*rows *samples batch shared start dim pooling limit *out rowStride positionStride',
    elements('batch', 'dim'),
    1,
  ),
  own(
    'layoutBackwardF32',
    '*rows *samples batch shared start dim pooling limit *grad rowStride positionStride ~scale',
    elements('batch', 'dim'),
    1,
  ),
]);

/** All CUDA kernels by name. */
export const CUDA_KERNELS: ReadonlyMap<string, CudaKernel> = table;
