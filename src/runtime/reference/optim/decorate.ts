/** @file Delay compensation and stochastic rounding to half in plain TypeScript. */
import type { Views } from '../../../memory/views.js';
import { halfNeighbours } from '../half.js';

const f = Math.fround;

/** g += lambda * g * g * (w - latest). */
export function compensateDelayF32(m: Views, g: number, w: number, latest: number, n: number, lambda: number): void {
  for (let i = 0; i < n; i++) {
    const grad = m.f32[(g >>> 2) + i]!;
    const gap = f(m.f32[(w >>> 2) + i]! - m.f32[(latest >>> 2) + i]!);
    m.f32[(g >>> 2) + i] = grad + f(f(f(f(lambda) * grad) * grad) * gap);
  }
}

export function nextMwc(m: Views, generator: number): number {
  const at = generator >>> 2;
  const step = (word: number, factor: number) => (factor * (word & 65535) + (word >>> 16)) >>> 0;
  const a = step(m.u32[at]!, 36969);
  const b = step(m.u32[at + 1]!, 18000);
  m.u32[at] = a;
  m.u32[at + 1] = b;
  return f((((a & 65535) << 16) + b) >>> 0) / 2 ** 32;
}

export function roundToHalf(_m: Views, x: number, p: number): number {
  if (Number.isNaN(x)) return x;
  const { down, up } = halfNeighbours(x);
  if (down === x) return x;
  return p <= f(f(x - down) / f(up - down)) ? up : down;
}

export function roundToHalfF32(m: Views, w: number, n: number, generator: number): void {
  for (let i = 0; i < n; i++) {
    m.f32[(w >>> 2) + i] = roundToHalf(m, m.f32[(w >>> 2) + i]!, nextMwc(m, generator));
  }
}
