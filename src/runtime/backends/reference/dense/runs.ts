/** @file Runs of floats that the kernels over inner dimensions are made of; places count floats, not bytes. */
import type { Views } from '../../../../memory/views.js';
import { put } from './loops.js';

const f = Math.fround;

/** dst (+)= src. */
export function moveRun(m: Views, src: number, dst: number, count: number, acc: number): void {
  for (let i = 0; i < count; i++) put(m, dst + i, m.f32[src + i]!, acc);
}

/** dst (+)= factor * src. */
export function scaleRun(m: Views, factor: number, src: number, dst: number, count: number, acc: number): void {
  for (let i = 0; i < count; i++) put(m, dst + i, f(factor * m.f32[src + i]!), acc);
}

/** dst (+)= a * b. */
export function multiplyRun(m: Views, a: number, b: number, dst: number, count: number, acc: number): void {
  for (let i = 0; i < count; i++) put(m, dst + i, f(m.f32[a + i]! * m.f32[b + i]!), acc);
}

/** Four partial sums over the whole blocks of four terms, then (q0 + q2) + (q1 + q3), then the rest one by one. */
export function sumTerms(term: (index: number) => number, count: number): number {
  const q = new Float32Array(4);
  let i = 0;
  for (; i + 4 <= count; i += 4) for (let lane = 0; lane < 4; lane++) q[lane]! += term(i + lane);
  let sum = f(f(q[0]! + q[2]!) + f(q[1]! + q[3]!));
  for (; i < count; i++) sum = f(sum + term(i));
  return sum;
}

/** Dot product in the order of sumTerms. */
export function dotRun(m: Views, a: number, b: number, count: number): number {
  return sumTerms((i) => f(m.f32[a + i]! * m.f32[b + i]!), count);
}
