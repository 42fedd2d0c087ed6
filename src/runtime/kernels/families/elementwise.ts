/** @file Kernels that move, scale and combine rows element by element. */
import { family, kernel } from '../kernel.js';
import { ACCUMULATE, count, float, i64, matrix, read, SIZE, stepped } from '../operand.js';

const ZIPPED = { a: matrix.read, b: matrix.read, dst: matrix.write, ...SIZE, ...ACCUMULATE } as const;

export const ELEMENTWISE = family('dense', {
  copyRowsF32: kernel('dst (+)= src', { src: matrix.read, dst: matrix.write, ...SIZE, ...ACCUMULATE }),
  subF32: kernel('dst (+)= a - b', ZIPPED),
  mulF32: kernel('dst (+)= a * b', ZIPPED),
  scaleF32: kernel('dst (+)= factor * src', {
    src: matrix.read,
    dst: matrix.write,
    ...SIZE,
    factor: float,
    ...ACCUMULATE,
  }),
  addBiasF32: kernel('dst[r,:] = x[r,:] + bias', { x: matrix.read, bias: read, dst: matrix.write, ...SIZE }),
  scaleColumnsF32: kernel('dst[r,c] (+)= factor[c] * x[r,c]', {
    x: matrix.read,
    factor: read,
    dst: matrix.write,
    ...SIZE,
    ...ACCUMULATE,
  }),
  scaleRowsF32: kernel('dst[r,:] (+)= scale[r] * src[r,:]', {
    scale: matrix.read,
    src: matrix.read,
    dst: matrix.write,
    ...SIZE,
    ...ACCUMULATE,
  }),
  broadcastScalarF32: kernel('dst (+)= factor * src[0]', {
    src: read,
    dst: matrix.write,
    ...SIZE,
    factor: float,
    ...ACCUMULATE,
  }),
  broadcastF32: kernel('dst (+)= factor * src, of which rows and elements may repeat', {
    src: stepped.read,
    dst: matrix.write,
    ...SIZE,
    factor: float,
    ...ACCUMULATE,
  }),
  binaryF32: kernel('dst = a op b, where rows and elements of either may repeat; `kind` is one of BINARY_KIND', {
    kind: count,
    a: stepped.read,
    b: stepped.read,
    dst: matrix.write,
    ...SIZE,
  }),
  unaryF32: kernel('y = op x; `kind` is one of UNARY_KIND', { kind: count, x: matrix.read, y: matrix.write, ...SIZE }),
  divideByScalarF32: kernel('dst (+)= x / divisor[0], 0 where that is 0', {
    x: matrix.read,
    divisor: read,
    dst: matrix.write,
    ...SIZE,
    ...ACCUMULATE,
  }),
  castI64F32: kernel('dst = src, i64 to f32', { src: i64(matrix.read), dst: matrix.write, ...SIZE }),
  dropoutF32: kernel('y (+)= scale * x where a hash of step, row and column says so', {
    x: matrix.read,
    y: matrix.write,
    ...SIZE,
    first: count,
    step: i64(read),
    seed: count,
    drop: count,
    scale: float,
    ...ACCUMULATE,
  }),
});
