/** @file Steps of variables over `n` neighbouring weights: weights, slots, gradient, how many, rate, and constants. */
import { family, kernel } from '../kernel.js';
import { count, flag, float, i64, matrix, read, records, update, write } from '../operand.js';

const STEP = { g: read, n: count, lr: float } as const;
const FTRL = { w: update, norm: update, zero: update, ...STEP, beta: float, l1: float, l2: float } as const;

export const DENSE_STEPS = family('dense', {
  applySgdF32: kernel('w -= lr * g', { w: update, ...STEP }),
  applyAdagradF32: kernel('h = g + decay * w; n += h * h; w -= lr / sqrt(n) * h', {
    w: update,
    norm: update,
    ...STEP,
    decay: float,
  }),
  applyFtrlF32: kernel('FTRL-proximal step', FTRL),
});

export const VARIABLE_STEPS = family('optim', {
  applyStandardFtrlF32: kernel('FTRL-proximal step with the sign in l1', FTRL),
  applyDenseMomentumF32: kernel('momentum step with slot accum', {
    w: update,
    accum: update,
    ...STEP,
    mu: float,
    nesterov: flag,
  }),
  applyDenseAdamF32: kernel('adam step with slots m, v and shared powers', {
    w: update,
    m: update,
    v: update,
    ...STEP,
    power1: read,
    power2: read,
    beta1: float,
    beta2: float,
    decay: float,
    epsilon: float,
    nesterov: flag,
  }),
  applyAdamomF32: kernel('adamom step with slots m, v, c', {
    w: update,
    m: update,
    v: update,
    c: update,
    ...STEP,
    ada: float,
    mom: float,
    epsilon: float,
    decay: float,
    second: flag,
    updates: flag,
  }),
  applyDenseRmspropF32: kernel('rmsprop step with slots m, v', {
    w: update,
    m: update,
    v: update,
    ...STEP,
    beta1: float,
    beta2: float,
    epsilon: float,
    decay: float,
    second: flag,
  }),
  applyShampooF32: kernel('shampoo step of the variable of a block', { block: records, lr: float, step: count }),
});

/** The parts of all slices, `sliceStride` bytes apart. */
const PARTS = { parts: i64(read), sliceStride: count, slices: count } as const;

export const COUNTERS = family('counts', {
  addCountI64: kernel('the i64 counter grows by count', { counter: i64(update), count }),
  sumI64: kernel('dst[0] = sum of a column of i64, modulo 2^64', {
    src: i64(matrix.read),
    rows: count,
    dst: i64(write),
  }),
  maxI64: kernel('dst[0] = largest of a column of i64, the smallest i64 without rows', {
    src: i64(matrix.read),
    rows: count,
    dst: i64(write),
  }),
  addSlicesI64: kernel('the i64 counter grows by the parts of all slices', { counter: i64(update), ...PARTS }),
  latestOfSlices: kernel('finds the largest of the parts of all slices', PARTS, {
    result: 'it as a time of rows, or that there is none',
  }),
});
