/** @file First state and step of any row optimizer by its number, in plain TypeScript. */
import { OPTIMIZER_NUMBER as KIND, PARAMETER_BLOCK, PARAMETER_FLAG } from '../../../../memory/optimizer-layout.js';
import type { Views } from '../../../../memory/views.js';
import { applyAdagradF32, applyFtrlF32, applySgdF32 } from '../dense/optimizers.js';
import { applyAdadeltaF32, applyDecoupledAdagradF32, applyMomentumF32, applyMovingAverageF32 } from './accumulate.js';
import { applyAdamF32, applyAmsgradF32 } from './adam.js';
import { applyStandardFtrlF32 } from './ftrl.js';
import { applyGroupAdagradF32, applyGroupFtrlF32 } from './group.js';
import { applyRmspropF32, applyRmspropV2F32 } from './rmsprop.js';

const f = Math.fround;

/** The i64 at a multiple of 4. */
function stepAt(m: Views, at: number): bigint {
  return BigInt.asIntN(64, (BigInt(m.u32[(at >>> 2) + 1]!) << 32n) | BigInt(m.u32[at >>> 2]!));
}

export function applyBatchSoftmaxF32(m: Views, w: number, state: number, lr: number, globalStep: bigint): void {
  // A step count is far below 2^53, so that the way through f64 does not round twice.
  const gap = f(Number(BigInt.asIntN(64, globalStep - stepAt(m, state))));
  m.u32[state >>> 2] = Number(BigInt.asUintN(32, globalStep));
  m.u32[(state >>> 2) + 1] = Number(BigInt.asUintN(32, globalStep >> 32n));
  m.f32[w >>> 2] = f(f(1 - f(lr)) * m.f32[w >>> 2]!) + f(f(lr) * gap);
}

/** First state of a row. `parameters` is a block of src/memory/optimizer-layout.ts. */
export function initOptimizerState(m: Views, kind: number, state: number, n: number, parameters: number): void {
  const at = state >>> 2;
  const initial = m.f32[(parameters + PARAMETER_BLOCK.initial) >>> 2]!;
  const values = (parameters + PARAMETER_BLOCK.values) >>> 2;
  switch (kind) {
    case KIND.adagrad:
    case KIND.dynamicWdAdagrad:
      m.f32.fill(initial, at, at + n);
      return;
    case KIND.ftrl:
    case KIND.groupFtrl:
      m.f32.fill(initial, at, at + n).fill(0, at + n, at + 2 * n);
      return;
    case KIND.adadelta:
      m.f32.fill(0, at, at + 2 * n);
      return;
    case KIND.adam:
    case KIND.amsgrad: {
      const powers = at + (kind === KIND.adam ? 2 : 3) * n;
      m.f32.fill(0, at, powers).set(m.f32.subarray(values, values + 2), powers);
      return;
    }
    case KIND.momentum:
    case KIND.rmsprop:
    case KIND.rmspropv2:
      m.f32.fill(0, at, at + n);
      return;
    case KIND.groupAdagrad:
      m.f32[at] = initial;
      return;
    case KIND.batchSoftmax:
      m.u32.fill(0, at, at + 2);
  }
}

/** One step by the optimizer's number: 0, -1 for a negative step of batch_softmax, -2 for an unknown number. */
export function applyOptimizerF32(
  m: Views,
  kind: number,
  w: number,
  state: number,
  g: number,
  n: number,
  parameters: number,
): number {
  const lr = m.f32[(parameters + PARAMETER_BLOCK.rate) >>> 2]!;
  const flags = m.u32[(parameters + PARAMETER_BLOCK.flags) >>> 2]!;
  const at = (parameters + PARAMETER_BLOCK.values) >>> 2;
  const [p0, p1, p2, p3] = [m.f32[at]!, m.f32[at + 1]!, m.f32[at + 2]!, m.f32[at + 3]!];
  const nesterov = flags & PARAMETER_FLAG.nesterov;
  const zero = state + n * 4;
  switch (kind) {
    case KIND.sgd:
      applySgdF32(m, w, g, n, lr);
      return 0;
    case KIND.adagrad:
      applyAdagradF32(m, w, state, g, n, lr, p0);
      return 0;
    case KIND.ftrl:
      if (flags & PARAMETER_FLAG.standardL1) applyStandardFtrlF32(m, w, state, zero, g, n, lr, p0, p1, p2);
      else applyFtrlF32(m, w, state, zero, g, n, lr, p0, p1, p2);
      return 0;
    case KIND.dynamicWdAdagrad:
      if (flags & PARAMETER_FLAG.decoupled) applyDecoupledAdagradF32(m, w, state, g, n, lr, p0);
      else applyAdagradF32(m, w, state, g, n, lr, p0);
      return 0;
    case KIND.adadelta:
      applyAdadeltaF32(m, w, state, g, n, lr, p0, p1, p2);
      return 0;
    case KIND.adam:
      applyAdamF32(m, w, state, g, n, lr, p0, p1, p2, p3, nesterov);
      return 0;
    case KIND.amsgrad:
      applyAmsgradF32(m, w, state, g, n, lr, p0, p1, p2, p3, nesterov);
      return 0;
    case KIND.momentum:
      applyMomentumF32(m, w, state, g, n, lr, p0, p1, nesterov);
      return 0;
    case KIND.movingAverage:
      applyMovingAverageF32(m, w, g, n, p0);
      return 0;
    case KIND.rmsprop:
      // The configured rate and not the scheduled one: upstream's numbers depend on it.
      applyRmspropF32(m, w, state, g, n, p2, p0, p1);
      return 0;
    case KIND.rmspropv2:
      applyRmspropV2F32(m, w, state, g, n, lr, p0, p1);
      return 0;
    case KIND.groupFtrl:
      applyGroupFtrlF32(m, w, state, g, n, lr, p0, p1, p2);
      return 0;
    case KIND.batchSoftmax: {
      const step = stepAt(m, parameters + PARAMETER_BLOCK.globalStep);
      if (step < 0n) return -1;
      applyBatchSoftmaxF32(m, w, state, lr, step);
      return 0;
    }
    case KIND.groupAdagrad:
      applyGroupAdagradF32(m, w, state, g, n, lr, p0, p1, p2);
      return 0;
    default:
      return -2;
  }
}
