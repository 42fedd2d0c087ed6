// Shampoo: gradients preconditioned by inverse roots of their second moments along each axis. Slots and products are
// f32 as upstream, the eigenvalues f64. A variable is stepped whole by one thread; src/memory/dense-layout.ts draws its
// block.
import { SHAMPOO, SHAMPOO_AXIS, SHAMPOO_AXIS_BYTES } from "../generated/layouts";
import { gemmF32 } from "../dense/gemm";
import { sumSquaresF64 } from "../dense/whole";
import { symmetricEigenF64 } from "./eigen";

/** x^(1 / r) of a positive x: square roots while r is even, then Newton's steps, which fall until they are there. */
function integerRoot(x: f64, r: i32): f64 {
  let y = x;
  for (; r > 1 && (r & 1) == 0; r >>= 1) y = sqrt<f64>(y);
  if (r == 1) return y;
  const target = y;
  y = max<f64>(y, 1);
  while (true) {
    let power: f64 = 1;
    for (let i = 1; i < r; i++) power *= y;
    const next = y - (y - target / power) / <f64>r;
    if (!(next < y)) return y;
    y = next;
  }
}

/**
 * s^(-1/p) of the f32 matrix s (k x k) as V diag(pval) V^T + o * I, from the `head` smallest eigenvalues above the
 * damping and the `tail` largest; p is even. pvec gets V (k x kept, kept = min(k, head + tail)), the rest are pval and
 * o. The offset is a mean of raw eigenvalues, which upstream's numbers depend on. `scratch` has 2 k^2 + 4 k f64.
 */
export function inverseRootF32(
  s: usize, k: i32, p: i32, head: i32, tail: i32, damping: f32, pvec: usize, pval: usize, o: usize, scratch: usize,
): void {
  const square = (<usize>k * <usize>k) << 3;
  const a = scratch, vectors = a + square, values = vectors + square;
  for (let i = 0; i < k * k; i++) store<f64>(a + (<usize>i << 3), <f64>load<f32>(s + (<usize>i << 2)));
  symmetricEigenF64(a, k, values, vectors, values + (<usize>k << 3));
  let first = 0;
  while (first < k && !(load<f64>(values + (<usize>first << 3)) > <f64>damping)) first++;
  if (first == k) first = 0;
  if (head + tail > k) {
    first = 0;
    head = k;
    tail = 0;
  } else if (first + head + tail > k) first = k - head - tail;
  let offset: f64 = 0;
  const middle = k - first - head - tail;
  if (middle > 0) {
    for (let i = first + head; i < k - tail; i++) offset += load<f64>(values + (<usize>i << 3));
    offset /= <f64>middle;
  }
  const kept = head + tail;
  for (let c = 0; c < kept; c++) {
    const column = c < head ? first + c : k - kept + c;
    const value = load<f64>(values + (<usize>column << 3));
    const root = 1 / sqrt<f64>(integerRoot(max<f64>(value, <f64>damping), p >> 1));
    store<f32>(pval + (<usize>c << 2), <f32>(root - offset));
    const vector = vectors + ((<usize>column * <usize>k) << 3);
    for (let i = 0; i < k; i++) {
      store<f32>(pvec + ((<usize>i * <usize>kept + <usize>c) << 2), <f32>load<f64>(vector + (<usize>i << 3)));
    }
  }
  store<f32>(o, <f32>offset);
}

/**
 * The operator V diag(pval) V^T + o[0] * I on axis 0 of x (k x rest), with that axis moved last: out is rest x k. After
 * as many calls as there are axes the order is the first one again. `projected` has rest x kept floats, `scratch` what
 * both products need.
 */
export function preconditionF32(
  x: usize, k: i32, rest: i32, pvec: usize, kept: i32, pval: usize, o: usize, out: usize, projected: usize,
  scratch: usize,
): void {
  gemmF32(x, 1, rest, pvec, kept, 1, projected, kept, rest, kept, k, 0, scratch);
  let at = projected;
  for (let r = 0; r < rest; r++) {
    for (let c = 0; c < kept; c++, at += 4) store<f32>(at, load<f32>(at) * load<f32>(pval + (<usize>c << 2)));
  }
  gemmF32(projected, kept, 1, pvec, 1, kept, out, k, rest, k, kept, 0, scratch);
  const offset = load<f32>(o);
  if (offset == 0) return;
  at = out;
  for (let r = 0; r < rest; r++) {
    for (let i = 0; i < k; i++, at += 4) {
      store<f32>(at, load<f32>(at) + offset * load<f32>(x + ((<usize>i * <usize>rest + <usize>r) << 2)));
    }
  }
}

/** g = the gradient contracted with itself over all axes but one: k x k. */
function statistic(gradient: usize, outer: i32, k: i32, inner: i32, g: usize, scratch: usize): void {
  if (inner == 1) {
    gemmF32(gradient, 1, k, gradient, k, 1, g, k, k, k, outer, 0, scratch);
    return;
  }
  for (let i = 0; i < outer; i++) {
    const part = gradient + ((<usize>i * <usize>k * <usize>inner) << 2);
    gemmF32(part, inner, 1, part, 1, inner, g, k, k, k, inner, i32(i > 0), scratch);
  }
}

/** s += g, or with a beta below 1 s = beta * s + (1 - beta) * g. */
function collect(s: usize, g: usize, n: i32, beta: f32): void {
  const sums = !(beta < 1);
  const rest: f32 = 1 - beta;
  for (let i = 0; i < n; i++, s += 4, g += 4) {
    store<f32>(s, sums ? load<f32>(s) + load<f32>(g) : beta * load<f32>(s) + rest * load<f32>(g));
  }
}

/** Whether an operator was ever made: before that it is zero, and so is what it gives. */
function isMade(axis: usize): bool {
  if (load<f32>(<usize>load<u32>(axis, SHAMPOO_AXIS.o)) != 0) return true;
  const pval = <usize>load<u32>(axis, SHAMPOO_AXIS.pval);
  for (let i: u32 = 0; i < load<u32>(axis, SHAMPOO_AXIS.kept); i++) {
    if (load<f32>(pval + (<usize>i << 2)) != 0) return true;
  }
  return false;
}

/** Brings the statistics of all axes up to date and returns where the preconditioned gradient is. */
function preconditioned(block: usize, step: u32): usize {
  const rank = load<i32>(block, SHAMPOO.rank);
  const count = load<i32>(block, SHAMPOO.count);
  const gradient = <usize>load<u32>(block, SHAMPOO.gradient);
  const scratch = <usize>load<u32>(block, SHAMPOO.gemm);
  const due = step > load<u32>(block, SHAMPOO.warmup) && step % load<u32>(block, SHAMPOO.tau1) == 0;
  let from = gradient, to = <usize>load<u32>(block, SHAMPOO.work), next = <usize>load<u32>(block, SHAMPOO.otherWork);
  let inner = count;
  let axis = block + SHAMPOO.axes;
  let made = true;
  for (let i = 0; i < rank; i++, axis += SHAMPOO_AXIS_BYTES) {
    const k = load<i32>(axis, SHAMPOO_AXIS.size);
    const s = <usize>load<u32>(axis, SHAMPOO_AXIS.s), g = <usize>load<u32>(axis, SHAMPOO_AXIS.g);
    const pvec = <usize>load<u32>(axis, SHAMPOO_AXIS.pvec);
    const pval = <usize>load<u32>(axis, SHAMPOO_AXIS.pval);
    const o = <usize>load<u32>(axis, SHAMPOO_AXIS.o);
    inner /= k;
    if (step % load<u32>(block, SHAMPOO.tau2) == 0) statistic(gradient, count / (k * inner), k, inner, g, scratch);
    collect(s, g, k * k, load<f32>(block, SHAMPOO.beta2));
    if (due) {
      const head = load<i32>(block, SHAMPOO.eigenHead), tail = load<i32>(block, SHAMPOO.eigenTail);
      inverseRootF32(
        s, k, 2 * rank, head, tail, load<f32>(block, SHAMPOO.damping), pvec, pval, o,
        <usize>load<u32>(block, SHAMPOO.eigen),
      );
    }
    made = made && isMade(axis);
    if (!made) continue;
    preconditionF32(
      from, k, count / k, pvec, load<i32>(axis, SHAMPOO_AXIS.kept), pval, o, to,
      <usize>load<u32>(block, SHAMPOO.projected), scratch,
    );
    from = to;
    to = next;
    next = from;
  }
  if (!made) {
    from = <usize>load<u32>(block, SHAMPOO.work);
    memory.fill(from, 0, <usize>count << 2);
  }
  return from;
}

/** The norm of something shaped as the variable, by way of the scratch of the eigenvalues. */
function norm(x: usize, block: usize): f32 {
  const count = load<i32>(block, SHAMPOO.count);
  const scratch = <usize>load<u32>(block, SHAMPOO.eigen);
  sumSquaresF64(x, count, count, scratch);
  return <f32>sqrt<f64>(load<f64>(scratch));
}

/**
 * A step of the variable of a block when `step` steps are done; block 0 is none. d += g^2; m = beta1 * m + (1 - beta1)
 * * g / sqrt(d + 1e-30); pm = beta1 * pm + (1 - beta1) * preconditioned g; the step goes over from lr * m to pm at the
 * length of lr * m between one and two times `warmup` steps.
 */
export function applyShampooF32(block: usize, lr: f32, step: u32): void {
  if (block == 0) return;
  const count = load<i32>(block, SHAMPOO.count);
  const p = preconditioned(block, step);
  const w = <usize>load<u32>(block, SHAMPOO.variable), gradient = <usize>load<u32>(block, SHAMPOO.gradient);
  const d = <usize>load<u32>(block, SHAMPOO.d);
  const m = <usize>load<u32>(block, SHAMPOO.m);
  const pm = <usize>load<u32>(block, SHAMPOO.pm);
  const beta = load<f32>(block, SHAMPOO.beta1);
  const rest: f32 = 1 - beta;
  for (let i = 0; i < count; i++) {
    const at = <usize>i << 2;
    const g = load<f32>(gradient + at);
    const sum: f32 = load<f32>(d + at) + g * g;
    store<f32>(d + at, sum);
    store<f32>(m + at, beta * load<f32>(m + at) + (rest * g) / sqrt<f32>(sum + <f32>1e-30));
    store<f32>(pm + at, beta * load<f32>(pm + at) + rest * load<f32>(p + at));
  }
  const warmup = load<u32>(block, SHAMPOO.warmup);
  const ratio: f32 = <f32>step / <f32>warmup - 1;
  const blend: f32 = step > warmup ? min<f32>(max<f32>(ratio, 0), 1) : 0;
  const length = norm(m, block);
  const graft: f32 = (lr * length) / (norm(pm, block) + <f32>1e-10);
  const first: f32 = 1 - blend;
  for (let i = 0; i < count; i++) {
    const at = <usize>i << 2;
    const diagonal: f32 = lr * load<f32>(m + at);
    store<f32>(w + at, load<f32>(w + at) - (first * diagonal + blend * (graft * load<f32>(pm + at))));
  }
}
