/** @file Shampoo in plain TypeScript: the operations of assembly/optim/shampoo.ts in the same order. */

import { SHAMPOO, SHAMPOO_AXIS, SHAMPOO_AXIS_WORDS } from '../../../../memory/dense-layout.js';
import type { Views } from '../../../../memory/views.js';
import { KERNEL } from '../../../kernels/kernels.js';
import { gemmF32 } from '../dense/gemm.js';
import { sumSquaresF64 } from '../dense/whole.js';
import { twin } from '../twin.js';
import { symmetricEigenF64 } from './eigen.js';

const f = Math.fround;

/** s^(-1/p) as V diag(pval) V^T + o * I, from the smallest eigenvalues above the damping and the largest. */
export function inverseRootF32(
  m: Views,
  s: number,
  k: number,
  p: number,
  headWanted: number,
  tailWanted: number,
  damping: number,
  pvec: number,
  pval: number,
  o: number,
  scratch: number,
): void {
  const vectors = scratch + k * k * 8;
  const values = vectors + k * k * 8;
  m.f64.set(m.f32.subarray(s >>> 2, (s >>> 2) + k * k), scratch >>> 3);
  symmetricEigenF64(m, scratch, k, values, vectors, values + k * 8);
  const lambda = m.f64.subarray(values >>> 3, (values >>> 3) + k);
  const isWhole = headWanted + tailWanted > k;
  const [head, tail] = isWhole ? [k, 0] : [headWanted, tailWanted];
  const above = lambda.findIndex((value) => value > f(damping));
  const first = isWhole ? 0 : Math.min(Math.max(0, above), k - head - tail);
  const middle = lambda.subarray(first + head, k - tail);
  const offset = middle.length === 0 ? 0 : middle.reduce((sum, value) => sum + value, 0) / middle.length;
  const kept = head + tail;
  for (let c = 0; c < kept; c++) {
    const column = c < head ? first + c : k - kept + c;
    const root = 1 / Math.sqrt(integerRoot(Math.max(lambda[column]!, f(damping)), p / 2));
    m.f32[(pval >>> 2) + c] = root - offset;
    for (let i = 0; i < k; i++) m.f32[(pvec >>> 2) + i * kept + c] = m.f64[(vectors >>> 3) + column * k + i]!;
  }
  m.f32[o >>> 2] = offset;
}

/** x^(1 / r) of a positive x. */
function integerRoot(x: number, root: number): number {
  let [y, r] = [x, root];
  for (; r > 1 && r % 2 === 0; r /= 2) y = Math.sqrt(y);
  if (r === 1) return y;
  const target = y;
  y = Math.max(y, 1);
  for (;;) {
    let power = 1;
    for (let i = 1; i < r; i++) power *= y;
    const next = y - (y - target / power) / r;
    if (!(next < y)) return y;
    y = next;
  }
}

/** The operator on axis 0 of x (k x rest), with that axis moved last: out is rest x k. */
export function preconditionF32(
  m: Views,
  x: number,
  k: number,
  rest: number,
  pvec: number,
  kept: number,
  pval: number,
  o: number,
  out: number,
  projected: number,
  scratch: number,
): void {
  const { f32 } = m;
  gemmF32(m, x, 1, rest, pvec, kept, 1, projected, kept, rest, kept, k, 0, scratch);
  for (let i = 0; i < rest * kept; i++) {
    f32[(projected >>> 2) + i] = f32[(projected >>> 2) + i]! * f32[(pval >>> 2) + (i % kept)]!;
  }
  gemmF32(m, projected, kept, 1, pvec, 1, kept, out, k, rest, k, kept, 0, scratch);
  const offset = f32[o >>> 2]!;
  if (offset === 0) return;
  for (let i = 0; i < rest * k; i++) {
    const from = f32[(x >>> 2) + (i % k) * rest + Math.floor(i / k)]!;
    f32[(out >>> 2) + i] = f32[(out >>> 2) + i]! + f(offset * from);
  }
}

/** A step of the variable of a block when `step` steps are done; block 0 is none. */
export const applyShampooF32 = twin(KERNEL.applyShampooF32, (m, { block, lr, step }) => {
  if (block === 0) return;
  const { f32 } = m;
  const word = (name: keyof typeof SHAMPOO) => m.u32[block / 4 + SHAMPOO[name]]!;
  const [count, beta] = [word('count'), f32[block / 4 + SHAMPOO.beta1]!];
  const p = preconditioned(m, block, step) >>> 2;
  const names = ['variable', 'gradient', 'd', 'm', 'pm'] as const;
  const [w, gradient, d, mean, pm] = names.map((name) => word(name) >>> 2) as [number, number, number, number, number];
  const rest = f(1 - beta);
  for (let i = 0; i < count; i++) {
    const g = f32[gradient + i]!;
    f32[d + i] = f32[d + i]! + f(g * g);
    const root = f(Math.sqrt(f(f32[d + i]! + f(1e-30))));
    f32[mean + i] = f(beta * f32[mean + i]!) + f(f(rest * g) / root);
    f32[pm + i] = f(beta * f32[pm + i]!) + f(rest * f32[p + i]!);
  }
  const warmup = word('warmup');
  const blend = step > warmup ? Math.min(Math.max(f(f(f(step) / f(warmup)) - 1), 0), 1) : 0;
  const [length, other] = [normOf(m, word('m'), block), normOf(m, word('pm'), block)];
  const graft = f(f(f(lr) * length) / f(other + f(1e-10)));
  for (let i = 0; i < count; i++) {
    const diagonal = f(f(lr) * f32[mean + i]!);
    const second = f(blend * f(graft * f32[pm + i]!));
    f32[w + i] = f32[w + i]! - f(f(f(1 - blend) * diagonal) + second);
  }
});

/** The norm of something shaped as the variable, by way of the scratch of the eigenvalues. */
function normOf(m: Views, at: number, block: number): number {
  const scratch = m.u32[block / 4 + SHAMPOO.eigen]!;
  const count = m.u32[block / 4 + SHAMPOO.count]!;
  sumSquaresF64(m, at, count, count, scratch);
  return f(Math.sqrt(m.f64[scratch >>> 3]!));
}

/** Brings the statistics of all axes up to date and returns where the preconditioned gradient is. */
function preconditioned(m: Views, block: number, step: number): number {
  const word = (name: keyof typeof SHAMPOO) => m.u32[block / 4 + SHAMPOO[name]]!;
  const [rank, count, gradient, scratch] = [word('rank'), word('count'), word('gradient'), word('gemm')];
  const isDue = step > word('warmup') && step % word('tau1') === 0;
  const damping = m.f32[block / 4 + SHAMPOO.damping]!;
  let from = gradient;
  let to = word('work');
  let next = word('otherWork');
  let inner = count;
  let isMade = true;
  for (let i = 0; i < rank; i++) {
    const axis = block / 4 + SHAMPOO.axes + i * SHAMPOO_AXIS_WORDS;
    const words = Object.values(SHAMPOO_AXIS).map((at) => m.u32[axis + at]!);
    const [k, kept, s, g, pvec, pval, o] = words as [number, number, number, number, number, number, number];
    inner /= k;
    if (step % word('tau2') === 0) statistic(m, gradient, count / (k * inner), k, inner, g, scratch);
    collect(m, s, g, k * k, m.f32[block / 4 + SHAMPOO.beta2]!);
    if (isDue) {
      const [head, tail] = [word('eigenHead'), word('eigenTail')];
      inverseRootF32(m, s, k, 2 * rank, head, tail, damping, pvec, pval, o, word('eigen'));
    }
    const values = m.f32.subarray(pval >>> 2, (pval >>> 2) + kept);
    isMade &&= m.f32[o >>> 2] !== 0 || values.some((value) => value !== 0);
    if (!isMade) continue;
    preconditionF32(m, from, k, count / k, pvec, kept, pval, o, to, word('projected'), scratch);
    [from, to, next] = [to, next, to];
  }
  if (isMade) return from;
  m.f32.fill(0, word('work') >>> 2, (word('work') >>> 2) + count);
  return word('work');
}

/** g = the gradient contracted with itself over all axes but one. */
function statistic(
  m: Views,
  gradient: number,
  outer: number,
  k: number,
  inner: number,
  g: number,
  scratch: number,
): void {
  if (inner === 1) {
    gemmF32(m, gradient, 1, k, gradient, k, 1, g, k, k, k, outer, 0, scratch);
    return;
  }
  for (let i = 0; i < outer; i++) {
    const part = gradient + i * k * inner * 4;
    gemmF32(m, part, inner, 1, part, 1, inner, g, k, k, k, inner, i > 0 ? 1 : 0, scratch);
  }
}

/** s += g, or with a beta below 1 s = beta * s + (1 - beta) * g. */
function collect({ f32 }: Views, s: number, g: number, n: number, beta: number): void {
  const rest = f(1 - beta);
  for (let i = 0; i < n; i++) {
    const [before, fresh] = [f32[(s >>> 2) + i]!, f32[(g >>> 2) + i]!];
    f32[(s >>> 2) + i] = beta < 1 ? f(beta * before) + f(rest * fresh) : before + fresh;
  }
}
