/** @file Compressors, quantizers and the initializer stream in plain TypeScript. tanh is the platform's, in f64. */
import type { Views } from '../../../memory/views.js';
import { halfFromF32, halfToF32 } from './half.js';

const f = Math.fround;

/** The float at any address. */
function readF32(m: Views, at: number): number {
  return new DataView(m.buffer).getFloat32(at, true);
}

function writeF32(m: Views, at: number, value: number): void {
  new DataView(m.buffer).setFloat32(at, value, true);
}

export function encodeHalfF32(m: Views, src: number, dst: number, n: number): void {
  const view = new DataView(m.buffer);
  for (let i = 0; i < n; i++) view.setUint16(dst + 2 * i, halfFromF32(readF32(m, src + 4 * i)), true);
}

export function decodeHalfF32(m: Views, src: number, dst: number, n: number): void {
  const view = new DataView(m.buffer);
  for (let i = 0; i < n; i++) writeF32(m, dst + 4 * i, halfToF32(view.getUint16(src + 2 * i, true)));
}

function stepsOf(x: number, r: number): number {
  if (Number.isNaN(x)) return 0;
  const step = f(f(r) / 128);
  const away = f(x + (x >= 0 ? 1 : -1) * f(step / 2));
  return Math.min(127, Math.max(-128, Math.trunc(f(away / step)))) + 0;
}

export function encodeFixedR8F32(m: Views, src: number, dst: number, n: number, r: number): void {
  for (let i = 0; i < n; i++) m.u8[dst + i] = stepsOf(readF32(m, src + 4 * i), r);
}

export function decodeFixedR8F32(m: Views, src: number, dst: number, n: number, r: number): void {
  const step = f(f(r) / 128);
  for (let i = 0; i < n; i++) writeF32(m, dst + 4 * i, ((m.u8[src + i]! << 24) >> 24) * step);
}

export function quantizeFixedR8F32(m: Views, src: number, dst: number, n: number, r: number): void {
  const step = f(f(r) / 128);
  for (let i = 0; i < n; i++) writeF32(m, dst + 4 * i, stepsOf(readF32(m, src + 4 * i), r) * step);
}

export function hashNetForwardF32(
  m: Views,
  src: number,
  dst: number,
  n: number,
  scale: number,
  amplitude: number,
): void {
  for (let i = 0; i < n; i++) {
    writeF32(m, dst + 4 * i, f(amplitude) * f(Math.tanh(f(f(scale) * readF32(m, src + 4 * i)))));
  }
}

export function hashNetBackwardF32(m: Views, w: number, g: number, n: number, scale: number, amplitude: number): void {
  const factor = f(f(amplitude) * f(scale));
  for (let i = 0; i < n; i++) {
    const y = f(Math.tanh(f(f(scale) * readF32(m, w + 4 * i))));
    writeF32(m, g + 4 * i, readF32(m, g + 4 * i) * f(factor * f(f(1 - y) * f(1 + y))));
  }
}

export function encodeOneBitF32(m: Views, src: number, dst: number, n: number, scale: number, amplitude: number): void {
  for (let i = 0; i < n; i++) {
    const value = f(f(amplitude) * f(Math.tanh(f(f(scale) * readF32(m, src + 4 * i)))));
    m.u8[dst + i] = value > 0 ? 1 : 255;
  }
}

export function decodeOneBitF32(m: Views, src: number, dst: number, n: number, amplitude: number): void {
  for (let i = 0; i < n; i++) writeF32(m, dst + 4 * i, ((m.u8[src + i]! << 24) >> 24) * f(amplitude));
}

const WORDS = 624;
const SHIFT = 397;

export function seedMt(m: Views, generator: number, seed: number): void {
  const at = generator >>> 2;
  m.u32[at] = seed;
  for (let i = 1; i < WORDS; i++) {
    const before = m.u32[at + i - 1]!;
    m.u32[at + i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
  }
  m.u32[at + WORDS] = WORDS;
}

export function nextMt(m: Views, generator: number): number {
  const at = generator >>> 2;
  const words = m.u32.subarray(at, at + WORDS);
  if (m.u32[at + WORDS]! >= WORDS) {
    for (let i = 0; i < WORDS; i++) {
      const bits = (words[i]! & 0x80000000) | (words[(i + 1) % WORDS]! & 0x7fffffff);
      words[i] = words[(i + SHIFT) % WORDS]! ^ (bits >>> 1) ^ (bits & 1 ? 0x9908b0df : 0);
    }
    m.u32[at + WORDS] = 0;
  }
  let word = words[m.u32[at + WORDS]!++]!;
  word ^= word >>> 11;
  word ^= (word << 7) & 0x9d2c5680;
  word ^= (word << 15) & 0xefc60000;
  // Signed, as a kernel's result arrives.
  return word ^ (word >>> 18);
}

export function fillUniformMtF32(
  m: Views,
  generator: number,
  dst: number,
  n: number,
  minval: number,
  maxval: number,
): void {
  const range = f(f(maxval) - f(minval));
  for (let i = 0; i < n; i++) {
    const x = Math.min(f(nextMt(m, generator) >>> 0) / 2 ** 32, f(0.99999994));
    writeF32(m, dst + 4 * i, f(x * range) + f(minval));
  }
}
