/** @file Floats as instructions see them: signs of zeros, flushing, rounding to whole numbers, saturation. */
import type { Register } from './vector-kernel.js';

export const finite = (...values: number[]) => values.every(Number.isFinite);
export const fr = Math.fround;

export const isNegative = (x: number) => x < 0 || Object.is(x, -0);
export const flush = (x: number) => (Math.abs(x) < 2 ** -126 ? (isNegative(x) ? -0 : 0) : x);
export const roundEven = (x: number) => {
  const r = Math.round(x);
  const even = Math.abs(x % 1) === 0.5 && r % 2 !== 0 ? r - 1 : r;
  return even === 0 ? (isNegative(x) ? -0 : 0) : even;
};
export const clampTo = (bits: bigint, signed: boolean) => (x: number) => {
  if (Number.isNaN(x)) return bits === 64n ? 1n << 63n : 0n;
  const [low, high] = signed ? [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n] : [0n, (1n << bits) - 1n];
  if (x <= Number(low)) return low;
  return x >= Number(high) ? high : BigInt(x);
};

export const f = (count: number): Register[] => new Array(count).fill('f32');
