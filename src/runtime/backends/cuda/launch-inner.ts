/** @file Launches of kernels over `[batch, n, d]`: inner axes, pairs of features, the k largest. */
import { KERNEL } from '../../kernels/kernels.js';
import { count, elements, perRow, product, products, threads } from './launch-grids.js';
import { type LaunchFamilies, shared } from './launch-line.js';

export const INNER_LAUNCHES: LaunchFamilies = {
  inner: [
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
  ],
  pairs: [
    shared(
      KERNEL.cinF32,
      threads(['rows', 'dim', 'outs'], (rows, dim, outs) => product(rows, dim * (outs % 4 === 0 ? outs / 4 : outs))),
      0,
    ),
    shared(
      KERNEL.cinGradF32,
      threads(
        ['rows', 'lefts', 'rights', 'dim', 'outs'],
        (rows, lefts, rights, dim, outs) =>
          product(rows, Math.max(lefts, rights) * dim) + product(lefts * rights, outs),
      ),
      0,
    ),
    shared(KERNEL.inbatchAucF32, elements('rows', 'count'), 0),
    shared(KERNEL.inbatchAucGradF32, perRow('count', 32), 0),
  ],
  'top-k': [
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
  ],
};
