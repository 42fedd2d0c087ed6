/** @file Launches of kernels of ids and rows: pooling, slices, row optimizers, tables on the device, layouts. */
import { KERNEL } from '../../kernels/kernels.js';
import { count, elements, lanesPerRow, perRow, product, threads } from './launch-grids.js';
import { type LaunchFamilies, own, shared } from './launch-line.js';

const ROWS = '*w wStride *state stateStride *index *grad gradStride count dim';
export const SPARSE_LAUNCHES: LaunchFamilies = {
  'row-optimizers': [
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
  ],
  'group-optimizers': [
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
    own(
      'stepRowsBatchSoftmaxF32',
      '*w wStride *state stateStride *index count ~lr stepLow stepHigh',
      count('count'),
      6,
    ),
  ],
  sparse: [
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
  ],
  slices: [
    shared(KERNEL.gatherSlicesF32, perRow('rows', 4), 0),
    own('gatherSlicesRowsF32', '*table tableStride *inverse idsPerRow rows *pieces pieceCount', perRow('rows', 4), 0),
    shared(KERNEL.scatterSlicesF32, perRow('rows', 4), 0),
    own(
      'segmentSumSlicesF32',
      '*sorted segments *pieces pieceCount *sums sumStride width quads rows mostIds',
      lanesPerRow('segments', 'width', 4),
      0,
    ),
  ],
  ids: [
    own('hashInsertI64', '*slots mask *ids n *counter rowsMax *flags', count('n'), 6),
    own('hashFirstI64', '*slots mask *ids n *flags', count('n'), 6),
    own('hashFindI64', '*slots mask *ids n *rows', count('n'), 6),
    own('mapIdToEmbeddingF32', '*slots mask *ids n *embeddings stride dim *out outStride *flags', perRow('n', 32), 2),
    shared(KERNEL.countInverseU32, count('n'), 2),
    shared(KERNEL.countColumnsU32, elements('rows', 'columns'), 2),
    own('rowIdsFromSplits', '*splits rows *out', perRow('rows', 32), 1),
  ],
  'device-table': [
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
  ],
  layout: [
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
  ],
};
