/** @file Norms within a row in plain TypeScript, with the sums in the order assembly/dense/norm.ts states. */
import { KERNEL } from '../../../kernels/kernels.js';
import { twin } from '../twin.js';
import { sumColumn } from './block-sums.js';
import { put } from './loops.js';

const f = Math.fround;

/** Sum of `term(c)` in f64: four partial sums over whole blocks of four, then those, then what is left. */
function sumOf(cols: number, term: (c: number) => number): number {
  const p = [0, 0, 0, 0];
  const whole = cols - (cols % 4);
  for (let c = 0; c < whole; c++) p[c % 4]! += term(c);
  let sum = p[0]! + p[2]! + (p[1]! + p[3]!);
  for (let c = whole; c < cols; c++) sum += term(c);
  return sum;
}

/** y[r, :] = (x[r, :] - mean) * rstd * gain + bias; mean and rstd of each row go to `stats`. */
export const layerNormF32 = twin(
  KERNEL.layerNormF32,
  (m, { x, xStride, gain, bias, y, yStride, stats, rows, cols, epsilon }) => {
    for (let r = 0; r < rows; r++) {
      const at = (c: number) => m.f32[(x >>> 2) + r * xStride + c]!;
      const exact = sumOf(cols, at) / cols;
      const squares = sumOf(cols, (c) => (at(c) - exact) * (at(c) - exact));
      const [mean, rstd] = [f(exact), f(1 / Math.sqrt(squares / cols + f(epsilon)))];
      m.f32.set([mean, rstd], (stats >>> 2) + 2 * r);
      for (let c = 0; c < cols; c++) {
        const unit = f(f(at(c) - mean) * rstd);
        m.f32[(y >>> 2) + r * yStride + c] = f(f(unit * m.f32[(gain >>> 2) + c]!) + m.f32[(bias >>> 2) + c]!);
      }
    }
  },
);

/** dx[r, :] (+)= rstd * (h - mean(h) - unit * mean(h * unit)) with h = dy * gain and unit = (x - mean) * rstd. */
export const layerNormGradF32 = twin(
  KERNEL.layerNormGradF32,
  (m, { dy, dyStride, x, xStride, gain, stats, dx, dxStride, rows, cols, acc }) => {
    for (let r = 0; r < rows; r++) {
      const [mean, rstd] = [m.f32[(stats >>> 2) + 2 * r]!, m.f32[(stats >>> 2) + 2 * r + 1]!];
      const h = (c: number) => f(m.f32[(dy >>> 2) + r * dyStride + c]! * m.f32[(gain >>> 2) + c]!);
      const unit = (c: number) => f(f(m.f32[(x >>> 2) + r * xStride + c]! - mean) * rstd);
      const meanH = f(sumOf(cols, h) / cols);
      const meanDot = f(sumOf(cols, (c) => h(c) * unit(c)) / cols);
      for (let c = 0; c < cols; c++) {
        const value = f(rstd * f(f(h(c) - meanH) - f(unit(c) * meanDot)));
        put(m, (dx >>> 2) + r * dxStride + c, value, acc);
      }
    }
  },
);

/** dgain[c] = sum over r of dy[r, c] * (x[r, c] - mean) * rstd, from 0 in row order. */
export const layerNormGainGradF32 = twin(
  KERNEL.layerNormGainGradF32,
  (m, { dy, dyStride, x, xStride, stats, dgain, rows, cols }) => {
    for (let c = 0; c < cols; c++) {
      m.f32[(dgain >>> 2) + c] = sumColumn(rows, 0, (r) => {
        const [mean, rstd] = [m.f32[(stats >>> 2) + 2 * r]!, m.f32[(stats >>> 2) + 2 * r + 1]!];
        const unit = f(f(m.f32[(x >>> 2) + r * xStride + c]! - mean) * rstd);
        return f(m.f32[(dy >>> 2) + r * dyStride + c]! * unit);
      });
    }
  },
);

/** y[r, :] = x[r, :] / sqrt(max(sum of squares, epsilon)). */
export const l2NormalizeF32 = twin(KERNEL.l2NormalizeF32, (m, { x, xStride, y, yStride, rows, cols, epsilon }) => {
  for (let r = 0; r < rows; r++) {
    const at = (c: number) => m.f32[(x >>> 2) + r * xStride + c]!;
    const inverse = f(
      1 /
        Math.sqrt(
          Math.max(
            sumOf(cols, (c) => at(c) * at(c)),
            f(epsilon),
          ),
        ),
    );
    for (let c = 0; c < cols; c++) m.f32[(y >>> 2) + r * yStride + c] = f(at(c) * inverse);
  }
});

/** dx[r, :] (+)= (dy - x * dot(dy, x) / length^2) / length; a length that epsilon bounds from below is a constant. */
export const l2NormalizeGradF32 = twin(
  KERNEL.l2NormalizeGradF32,
  (m, { dy, dyStride, x, xStride, dx, dxStride, rows, cols, epsilon, acc }) => {
    for (let r = 0; r < rows; r++) {
      const at = (c: number) => m.f32[(x >>> 2) + r * xStride + c]!;
      const grad = (c: number) => m.f32[(dy >>> 2) + r * dyStride + c]!;
      const squares = sumOf(cols, (c) => at(c) * at(c));
      const inverse = f(1 / Math.sqrt(Math.max(squares, f(epsilon))));
      const along = squares > f(epsilon) ? f(sumOf(cols, (c) => grad(c) * at(c)) / squares) : 0;
      for (let c = 0; c < cols; c++) {
        put(m, (dx >>> 2) + r * dxStride + c, f(f(grad(c) - f(at(c) * along)) * inverse), acc);
      }
    }
  },
);
