/**
 * @file How each CUDA kernel is launched: its module, its operands, and the grid for given operands.
 *
 * A kernel that src/runtime/kernels/kernels.ts has too takes the same operands in the same order; those that are pointers have 64
 * bits. Blocks have 256 threads. Kernels walk with a stride of the whole grid, so a grid is a matter of speed only, except
 * that of the matrix products, where a block makes one tile.
 */
import { MonolithError } from '../../../base/errors.js';

/** `p` is a device address, `u` a count, stride or flag of 32 bits, `f` a float of 32 bits. */
export type CudaOperand = 'p' | 'u' | 'f';
export type CudaGrid = readonly [x: number, y: number];

export interface CudaKernel {
  readonly name: string;
  /** Name of the PTX file in cuda/ptx. */
  readonly module: string;
  readonly operands: readonly CudaOperand[];
  /** `multiprocessors` bounds the grid of kernels that walk; operands are given as numbers. */
  readonly grid: (operands: readonly number[], multiprocessors: number) => CudaGrid;
  /** False when blocks are tied to places of the result, so that the grid must be the one given. */
  readonly walks: boolean;
  /**
   * Floats that have to be read or written for an element of the largest matrix, or for a weight, when nothing is added to
   * what was there: a lower bound. 0 where it depends on the data.
   */
  readonly floatsPerElement: number;
}

export const BLOCK_THREADS = 256;
/** Blocks that fill a multiprocessor of 2048 threads. */
const BLOCKS_PER_MULTIPROCESSOR = 8;
const GEMM_TILE = 64;
const ELEMENTS_MAX = 2 ** 31;

type Grid = CudaKernel['grid'];

/** Threads that pay for the operands. */
function threads(count: (operands: readonly number[]) => number): Grid {
  return (operands, multiprocessors) => {
    const wanted = Math.ceil(count(operands) / BLOCK_THREADS);
    return [Math.max(1, Math.min(wanted, multiprocessors * BLOCKS_PER_MULTIPROCESSOR)), 1];
  };
}

function product(a: number, b: number): number {
  if (a * b < ELEMENTS_MAX) return a * b;
  const reason = `${a} x ${b} elements are more than 2^31 - 1`;
  throw new MonolithError('ML_CUDA_LAUNCH', { kernel: 'of a matrix', reason }, { hint: 'use a smaller batch' });
}

/** A thread for each element of rows x cols, given by the indexes of these operands. */
const elements = (rows: number, cols: number) => threads((o) => product(o[rows]!, o[cols]!));
/** A thread for every four elements where rows are whole quads. */
const quads = (rows: number, cols: number) =>
  threads((o) => product(o[rows]!, o[cols]!) / (o[cols]! % 4 === 0 ? 4 : 1));
const count = (index: number) => threads((o) => o[index]!);
/** A thread for every four weights. */
const weights = (index: number) => threads((o) => o[index]! / 4);
/** `lanes` threads for each row. */
const perRow = (rows: number, lanes: number) => threads((o) => o[rows]! * lanes);
/** As many lanes per row as it has units, a power of two, at most a warp: laneBits of cuda/kernels/common.cuh. */
export function lanesOf(units: number): number {
  return units <= 1 ? 1 : Math.min(32, 2 ** (32 - Math.clz32(units - 1)));
}
const lanesPerRow = (rows: number, dim: number, unit: 1 | 4) =>
  threads((o) => o[rows]! * lanesOf(o[dim]! % unit === 0 ? o[dim]! / unit : o[dim]!));
/** A block for every `size` of an operand. */
const blocks =
  (index: number, size: number): Grid =>
  (o, multiprocessors) => [
    Math.max(1, Math.min(Math.ceil(o[index]! / size), multiprocessors * BLOCKS_PER_MULTIPROCESSOR)),
    1,
  ];
const grains =
  (all: number, grain: number): Grid =>
  (o, multiprocessors) => [
    Math.max(1, Math.min(Math.ceil(o[all]! / o[grain]!), multiprocessors * BLOCKS_PER_MULTIPROCESSOR)),
    1,
  ];
const oneBlock: Grid = () => [1, 1];
const tiles =
  (m: number, n: number): Grid =>
  (o) => [Math.max(1, Math.ceil(o[n]! / GEMM_TILE)), Math.max(1, Math.ceil(o[m]! / GEMM_TILE))];

const table = new Map<string, CudaKernel>();

type Line = readonly [name: string, operands: string, grid: Grid, floatsPerElement: number];

/** A line per kernel. */
function family(module: string, lines: readonly Line[]): void {
  for (const [name, letters, grid, floatsPerElement] of lines) {
    const walks = grid !== oneBlock && module !== 'gemm';
    table.set(name, { name, module, operands: [...letters] as CudaOperand[], grid, walks, floatsPerElement });
  }
}

const zipped = 'pupupuuuu';
const mapped = 'pupuuu';

family('elementwise', [
  ['copyRowsF32', 'pupuuuu', quads(4, 5), 2],
  ['zeroRowsF32', 'puuu', quads(2, 3), 1],
  ['subF32', zipped, quads(6, 7), 3],
  ['mulF32', zipped, quads(6, 7), 3],
  ['scaleF32', 'pupuuufu', quads(4, 5), 2],
  ['addBiasF32', 'puppuuu', quads(5, 6), 2],
  ['scaleColumnsF32', 'puppuuuu', quads(5, 6), 2],
  ['broadcastScalarF32', 'ppuuufu', elements(3, 4), 1],
  ['scaleRowsF32', zipped, elements(6, 7), 2],
  ['broadcastF32', 'puupuuufu', elements(5, 6), 1],
  ['binaryF32', 'upuupuupuuu', elements(9, 10), 1],
  ['unaryF32', 'upupuuu', elements(5, 6), 2],
  ['divideByScalarF32', 'puppuuuu', elements(5, 6), 2],
  ['castI64F32', 'pupuuu', elements(4, 5), 3],
  ['dropoutF32', 'pupuuuupuufu', elements(4, 5), 2],
]);

const SMOOTH = ['sigmoidF32', 'tanhF32', 'geluF32', 'geluTanhF32', 'swishF32', 'softplusF32'];
const SMOOTH_GRADS = ['geluGradF32', 'geluTanhGradF32', 'swishGradF32', 'softplusGradF32'];
family('activation', [
  ['reluF32', mapped, quads(4, 5), 2],
  ['biasReluF32', 'puppuuu', quads(5, 6), 2],
  ...SMOOTH.map((name) => [name, mapped, elements(4, 5), 2] as const),
  ...['reluGradF32', 'sigmoidGradF32', 'tanhGradF32'].map((name) => [name, zipped, quads(6, 7), 3] as const),
  ...SMOOTH_GRADS.map((name) => [name, zipped, elements(6, 7), 3] as const),
  ['leakyReluF32', 'pupuuuf', quads(4, 5), 2],
  ['leakyReluGradF32', 'pupupuuufu', quads(6, 7), 3],
  ['preluF32', 'puppuuu', quads(5, 6), 2],
  ['preluGradF32', 'pupuppuuuu', elements(7, 8), 3],
]);

family('reduce', [
  ['sumRowsF32', 'pupuuu', blocks(4, 8), 1],
  ['preluSlopeGradF32', 'pupupuu', blocks(6, 8), 2],
  ['layerNormGainGradF32', 'pupuppuu', blocks(7, 8), 2],
  ['sumF32', 'puuupf', oneBlock, 1],
  ['sumColumnsF32', 'puuupuf', perRow(2, 32), 1],
  ['maxColumnsF32', 'puuupu', perRow(2, 32), 1],
  ['maxRowsF32', 'pupuu', count(4), 1],
  ['reduceSlicesF32', 'puupu', count(4), 2],
  ['rowDotF32', zipped, perRow(6, 8), 2],
  ['sumSquaresF64', 'puup', grains(1, 2), 1],
  ['rootOfSumF32', 'pup', oneBlock, 2],
  ['sumF64', 'pup', oneBlock, 2],
  ['rowSquaresF64', 'puuup', threads((o) => product(o[2]!, o[3]!)), 1],
  ['clipToNormF32', 'pppuf', weights(3), 2],
  ['clipRowsToNormF32', 'puppuuuf', quads(5, 6), 2],
  ['clipValueF32', 'ppuff', weights(2), 2],
]);

family('gemm', [
  ['gemmF32', 'puupuupuuuuup', tiles(8, 9), 1],
  ['gemmBiasF32', 'puupuupuuuupu', tiles(8, 9), 1],
]);

family('loss', [
  ['bceLogitsF32', 'pupupuu', count(6), 3],
  ['bceLogitsGradF32', 'pupupupuuu', count(8), 4],
  ['weightedBceF32', 'pupupuuff', count(6), 3],
  ['weightedBceGradF32', 'pupupupuuffu', count(8), 4],
  ['hingeF32', 'pupupuu', count(6), 3],
  ['hingeGradF32', 'pupupupuuu', count(8), 4],
  ['focalF32', 'pupupuufff', count(6), 3],
  ['focalGradF32', 'pupupupuufffu', count(8), 4],
  ['softmaxLossF32', 'pupupuuuu', perRow(6, 32), 1],
  ['softmaxLossGradF32', 'pupupupuuuuu', perRow(8, 32), 2],
]);

family('optimizers', [
  ['applySgdF32', 'ppuf', weights(2), 3],
  ['applyAdagradF32', 'pppuff', weights(3), 5],
  ['applyFtrlF32', 'ppppuffff', weights(4), 7],
  ['applyStandardFtrlF32', 'ppppuffff', weights(4), 7],
  ['applyMomentumF32', 'pppufffu', weights(3), 5],
  ['applyDenseMomentumF32', 'pppuffu', weights(3), 5],
  ['applyAdamomF32', 'pppppufffffuu', weights(5), 9],
  ['applyDenseRmspropF32', 'ppppufffffu', weights(4), 7],
  ['applyAdamF32', 'pppufffffu', weights(3), 7],
  ['applyDenseAdamF32', 'ppppufppffffu', weights(4), 7],
  ['applyAdamPowersF32', 'pff', oneBlock, 4],
  ['addCountI64', 'pu', oneBlock, 4],
]);

const ROWS = 'pupuppuuu';
family('row-optimizers', [
  ['stepRowsSgdF32', 'puppuuuf', lanesPerRow(5, 6, 4), 3],
  ['stepRowsMovingAverageF32', 'puppuuuf', lanesPerRow(5, 6, 4), 3],
  ['stepRowsAdagradF32', `${ROWS}ff`, lanesPerRow(7, 8, 4), 5],
  ['stepRowsDecoupledAdagradF32', `${ROWS}ff`, lanesPerRow(7, 8, 4), 5],
  ['stepRowsMomentumF32', `${ROWS}fffu`, lanesPerRow(7, 8, 4), 5],
  ['stepRowsRmspropF32', `${ROWS}fffu`, lanesPerRow(7, 8, 4), 5],
  ['stepRowsFtrlF32', `${ROWS}ffffu`, lanesPerRow(7, 8, 4), 7],
  ['stepRowsAdadeltaF32', `${ROWS}ffff`, lanesPerRow(7, 8, 4), 7],
  ['stepRowsAdamF32', `${ROWS}fffffu`, lanesPerRow(7, 8, 4), 7],
  ['stepRowsAmsgradF32', `${ROWS}fffffu`, lanesPerRow(7, 8, 4), 9],
]);

family('group-optimizers', [
  ['stepRowsGroupAdagradF32', `${ROWS}ffff`, perRow(7, 4), 4],
  ['stepRowsGroupFtrlF32', `${ROWS}ffff`, perRow(7, 4), 7],
  ['stepRowsBatchSoftmaxF32', 'pupupufuu', count(5), 6],
]);

family('sparse', [
  ['poolSumF32', 'pppuupu', lanesPerRow(3, 4, 4), 1],
  ['poolMeanF32', 'pppuupu', lanesPerRow(3, 4, 4), 1],
  ['poolSumRowsF32', 'puppuupu', lanesPerRow(4, 5, 4), 1],
  ['poolMeanRowsF32', 'puppuupu', lanesPerRow(4, 5, 4), 1],
  ['gatherMatrixF32', 'pupuupu', lanesPerRow(3, 4, 4), 2],
  ['gatherRowsF32', 'puupu', lanesPerRow(1, 2, 1), 2],
  ['scatterAddF32', 'puppuupup', lanesPerRow(4, 5, 1), 1],
  ['scatterMeanF32', 'puppuupup', lanesPerRow(4, 5, 1), 1],
  ['segmentSumF32', 'pupupuupu', lanesPerRow(3, 6, 4), 2],
  ['seqMaskF32', 'puupu', elements(1, 2), 1],
  ['firstNF32', 'pppuuupu', threads((o) => product(o[3]!, o[4]! * o[5]!)), 1],
  ['firstNGradF32', 'puppuuupup', threads((o) => product(o[4]!, o[5]! * o[6]!)), 1],
]);

family('slices', [
  ['gatherSlicesF32', 'ppuupu', perRow(3, 4), 0],
  ['gatherSlicesRowsF32', 'pupuupu', perRow(4, 4), 0],
  ['scatterSlicesF32', 'puupupup', perRow(2, 4), 0],
  ['segmentSumSlicesF32', 'pupupuuuuu', lanesPerRow(1, 6, 4), 0],
]);

family('fm', [
  ['fmPairsF32', 'pupuuuuu', perRow(4, 16), 1],
  ['fmPairsGradF32', 'pupupuuuuu', elements(6, 8), 2],
]);

family('norm', [
  ['layerNormF32', 'pupppupuuf', perRow(7, 32), 2],
  ['layerNormGradF32', 'pupupppuuuu', perRow(8, 32), 3],
  ['l2NormalizeF32', 'pupuuuf', perRow(4, 32), 2],
  ['l2NormalizeGradF32', 'pupupuuufu', perRow(6, 32), 3],
]);

/** A thread for each of the products of these operands. */
const products = (...indexes: readonly number[]) =>
  threads((o) =>
    product(
      indexes.slice(1).reduce((all, index) => all * o[index]!, 1),
      o[indexes[0]!]!,
    ),
  );

family('inner', [
  ['copyBlocksF32', 'puupuuuuuu', products(6, 7, 8), 2],
  ['transposeInnerF32', 'pupuuuuuu', products(4, 5, 6, 7), 2],
  ['gatherInnerF32', 'pupuuuuupuu', products(4, 5, 7, 9), 2],
  ['scatterInnerF32', 'pupuuuuupuu', products(4, 5, 6, 7), 1],
  ['sumInnerF32', 'pupuuuuufu', products(4, 5, 7), 1],
  ['maxInnerF32', 'pupuuuuuu', products(4, 5, 7), 1],
  ['maxInnerGradF32', 'pupupupuuuuuu', products(8, 9, 11), 2],
  ['broadcastInnerF32', 'pupuuuuufu', products(4, 5, 6, 7), 1],
  ['addSharedF32', 'puppuuuuu', elements(5, 6), 2],
  ['mulSharedF32', 'puppuuuuu', elements(5, 6), 2],
  ['scaleGroupsF32', 'pupupuuuuu', products(6, 7, 8), 2],
  ['groupDotF32', 'pupupuuuuu', products(6, 7), 2],
  ['softmaxF32', 'pupuupuuuu', threads((o) => product(o[7]!, o[8]!) * 32), 2],
  ['softmaxGradF32', 'pupupuuuuu', products(6, 7), 3],
  ['batchMatMulF32', 'pupupuupu', perRow(6, 256), 1],
  ['sumSharedF32', 'pupupuuu', count(7), 1],
  ['pairProductsF32', 'pupupuuuuuu', products(6, 7, 8, 9), 1],
  ['pairProductsGradF32', 'pupupuuuuuuuu', products(6, 7, 9), 1],
]);

family('pairs', [
  ['cinF32', 'pupuppuuuuuupu', threads((o) => product(o[7]!, o[10]! * (o[11]! % 4 === 0 ? o[11]! / 4 : o[11]!))), 0],
  [
    'cinGradF32',
    'pupupuppuupuupuuuuup',
    threads((o) => product(o[14]!, Math.max(o[15]!, o[16]!) * o[17]!) + product(o[15]! * o[16]!, o[18]!)),
    0,
  ],
  ['inbatchAucF32', 'ppuuup', threads((o) => product(o[2]!, o[4]!)), 0],
  ['inbatchAucGradF32', 'ppuuupfpuu', perRow(4, 32), 0],
]);

family('top-k', [
  ['topKF32', 'pupupuuuuu', threads((o) => product(o[6]!, o[7]!) * 32), 1],
  ['topKGradF32', 'pupupuuuuuu', threads((o) => product(o[6]!, o[7]!) * 32), 1],
]);

family('ids', [
  ['hashInsertI64', 'pupupup', count(3), 6],
  ['hashFirstI64', 'pupup', count(3), 6],
  ['hashFindI64', 'pupup', count(3), 6],
  ['mapIdToEmbeddingF32', 'pupupuupup', perRow(3, 32), 2],
  ['countInverseU32', 'pup', count(1), 2],
  ['countColumnsU32', 'puup', elements(1, 2), 2],
  ['rowIdsFromSplits', 'pup', perRow(1, 32), 1],
]);

family('device-table', [
  ['deviceTableFind', 'pupupuuppu', count(3), 6],
  ['deviceTableTake', 'pupuppppuu', count(3), 6],
  ['deviceTableFill', 'pppupuppu', lanesPerRow(3, 5, 4), 1],
  ['deviceTableAdmit', 'pupuupup', lanesPerRow(1, 4, 1), 1],
  ['deviceTablePlace', 'pupupu', count(3), 6],
]);

family('layout', [
  ['packF32', 'pppuupf', count(4), 2],
  ['unpackF32', 'pppuup', count(4), 2],
  ['layoutResolve', 'puupuupp', threads((o) => o[2]! - o[1]!), 4],
  ['layoutForwardF32', 'ppuuuuuupuu', elements(2, 5), 1],
  ['layoutBackwardF32', 'ppuuuuuupuuf', elements(2, 5), 1],
]);

/** All CUDA kernels by name. */
export const CUDA_KERNELS: ReadonlyMap<string, CudaKernel> = table;
