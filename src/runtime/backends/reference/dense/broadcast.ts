/** @file Elementwise kernels whose operands may repeat, in plain TypeScript. */

import { BINARY_KIND, UNARY_KIND } from '../../../../memory/kinds.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { map } from './combinators.js';
import { put } from './loops.js';

const f = Math.fround;

const PAIRS = byKind<keyof typeof BINARY_KIND, (x: number, y: number) => number>(BINARY_KIND, {
  add: (x, y) => f(x + y),
  sub: (x, y) => f(x - y),
  mul: (x, y) => f(x * y),
  div: (x, y) => f(x / y),
  maximum: Math.max,
  minimum: Math.min,
  greaterEqual: (x, y) => (x >= y ? 1 : 0),
  equal: (x, y) => (x === y ? 1 : 0),
});

function byKind<K extends string, F>(kinds: Readonly<Record<K, number>>, of: Readonly<Record<K, F>>): Map<number, F> {
  return new Map((Object.keys(kinds) as K[]).map((kind) => [kinds[kind], of[kind]]));
}

/** dst = a op b, where a stride of 0 repeats a row and a step of 0 an element. Comparisons give 1 or 0. */
export const binaryF32 = twin(
  KERNEL.binaryF32,
  (m, { kind, a, aStride, aStep, b, bStride, bStep, dst, dstStride, rows, cols }) => {
    const pair = PAIRS.get(kind)!;
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) {
        const [x, y] = [m.f32[(a >>> 2) + r * aStride + c * aStep]!, m.f32[(b >>> 2) + r * bStride + c * bStep]!];
        m.f32[(dst >>> 2) + r * dstStride + c] = pair(x, y);
      }
    }
  },
);

const SINGLES = byKind<keyof typeof UNARY_KIND, (x: number) => number>(UNARY_KIND, {
  abs: Math.abs,
  sqrt: (x) => f(Math.sqrt(x)),
  exp: (x) => f(Math.exp(x)),
  log: (x) => f(Math.log(x)),
  log1p: (x) => f(Math.log1p(x)),
  sign: (x) => (x > 0 ? 1 : x < 0 ? -1 : 0),
});

/** The sign of NaN is 0. */
export const unaryF32 = map(KERNEL.unaryF32, (x, { kind }) => SINGLES.get(kind)!(x));

/** dst[r, c] (+)= factor * src[r * srcStride + c * srcStep]. */
export const broadcastF32 = twin(
  KERNEL.broadcastF32,
  (m, { src, srcStride, srcStep, dst, dstStride, rows, cols, factor, acc }) => {
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) {
        const value = f(f(factor) * m.f32[(src >>> 2) + r * srcStride + c * srcStep]!);
        put(m, (dst >>> 2) + r * dstStride + c, value, acc);
      }
    }
  },
);
