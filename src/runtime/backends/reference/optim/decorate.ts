/** @file Delay compensation and stochastic rounding to half in plain TypeScript. */
import { mix64BigInt } from '../../../../memory/hash.js';
import type { Views } from '../../../../memory/views.js';
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

export function roundingKey(_m: Views, seed: number, id: bigint, step: bigint): bigint {
  const row = mix64BigInt(BigInt.asUintN(64, id) ^ BigInt.asUintN(64, BigInt(seed >>> 0) * 0x9e3779b97f4a7c15n));
  return mix64BigInt(row ^ mix64BigInt(step + 0x9e3779b97f4a7c15n));
}

/** Rounds weights by a draw above 0 and up to 1 for each, a hash of the key and the column. */
export function roundToHalfF32(m: Views, w: number, n: number, key: bigint, first: number): void {
  for (let i = 0; i < n; i++) {
    const bits = Number(mix64BigInt(key + BigInt(first + i) * 0xd1b54a32d192ed03n) >> 40n);
    m.f32[(w >>> 2) + i] = roundToHalf(m, m.f32[(w >>> 2) + i]!, (bits + 1) * 2 ** -24);
  }
}
