/** @file Copies of memory: elements that go into queues and out of them, rows that are sent. */
import { family, kernel } from '../kernel.js';
import { count, handle } from '../operand.js';

export const COPIES = family('sparse', {
  copyPieces: kernel(
    'copies pieces, as a list of them says; none of the targets overlaps another or a source',
    { descriptors: handle, count },
    { result: '0' },
  ),
  copyMatrices: kernel(
    'copies the rows of matrices, as a list of them says; none of the targets overlaps another or a source',
    { descriptors: handle, count },
    { result: '0' },
  ),
});
