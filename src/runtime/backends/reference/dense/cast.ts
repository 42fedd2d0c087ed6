/** @file Whole numbers as floats. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';

/** Bits of a whole number that a float64 has no room for. */
const SPARE_BITS = 11n;

/** dst[r, c] = src[r, c], rounded once; strides count elements. */
export const castI64F32 = twin(KERNEL.castI64F32, (m, { src, srcStride, dst, dstStride, rows, cols }) => {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      m.f32[(dst >>> 2) + r * dstStride + c] = floatOf(m.i64[(src >>> 3) + r * srcStride + c]!);
    }
  }
});

/** By way of a float64 it would be rounded twice: so the bits that do not fit one leave a mark in its last bit. */
function floatOf(value: bigint): number {
  if (value === BigInt(Number(value))) return Math.fround(Number(value));
  const kept = value >> SPARE_BITS;
  return Math.fround(Number(kept | 1n) * 2 ** Number(SPARE_BITS));
}
