/** @file FTRL with the l1 of the literature, in plain TypeScript. */
import { KERNEL } from '../../../kernels/kernels.js';
import { stepFtrl } from '../dense/ftrl.js';
import { twin } from '../twin.js';

export const applyStandardFtrlF32 = twin(
  KERNEL.applyStandardFtrlF32,
  (m, { w, norm, zero, g, n, lr, beta, l1, l2 }) => {
    stepFtrl(m, w, norm, zero, g, n, lr, beta, l1, l2, (z) => (z < 0 || Object.is(z, -0) ? -1 : 1));
  },
);
