// One entry for all row optimizers: the first state of a row, and a step of it, by the number of the optimizer in its
// config message. src/memory/optimizer-layout.ts draws the parameter block.
import { OPTIMIZER_NUMBER, PARAMETER_BLOCK, PARAMETER_FLAG } from "../generated/layouts";
import { FLOAT } from "../units";
import { fillRun } from "../dense/vectors";
import { applyAdagradF32, applyFtrlF32, applySgdF32 } from "../dense/optimizers";
import { applyAdadeltaF32, applyDecoupledAdagradF32, applyMomentumF32, applyMovingAverageF32 } from "./accumulate";
import { applyAdamF32, applyAmsgradF32 } from "./adam";
import { applyStandardFtrlF32 } from "./ftrl";
import { applyGroupAdagradF32, applyGroupFtrlF32 } from "./group";
import { applyRmspropF32, applyRmspropV2F32 } from "./rmsprop";

/** w' = (1 - lr) * w + lr * (step - stored); stored' = step. `state` is an i64 at any 4-byte boundary. */
export function applyBatchSoftmaxF32(w: usize, state: usize, lr: f32, globalStep: i64): void {
  const gap = <f32>(globalStep - load<i64>(state));
  store<i64>(state, globalStep);
  const rest: f32 = 1 - lr;
  store<f32>(w, rest * load<f32>(w) + lr * gap);
}

function fill(at: usize, n: i32, value: f32): void {
  fillRun(value, at, n);
}

/** Writes the state of a new row. */
export function initOptimizerState(kind: i32, state: usize, n: i32, parameters: usize): void {
  const initial = load<f32>(parameters, PARAMETER_BLOCK.initial);
  const block = <usize>n << 2;
  switch (kind) {
    case OPTIMIZER_NUMBER.adagrad:
    case OPTIMIZER_NUMBER.dynamicWdAdagrad:
      fill(state, n, initial);
      break;
    case OPTIMIZER_NUMBER.ftrl:
    case OPTIMIZER_NUMBER.groupFtrl:
      fill(state, n, initial);
      fill(state + block, n, 0);
      break;
    case OPTIMIZER_NUMBER.adadelta:
      fill(state, n * 2, 0);
      break;
    case OPTIMIZER_NUMBER.adam:
    case OPTIMIZER_NUMBER.amsgrad: {
      const powers = block * (kind == OPTIMIZER_NUMBER.adam ? 2 : 3);
      fill(state, <i32>(powers >> 2), 0);
      store<f32>(state + powers, load<f32>(parameters, PARAMETER_BLOCK.values));
      store<f32>(state + powers, load<f32>(parameters, PARAMETER_BLOCK.values + FLOAT), FLOAT);
      break;
    }
    case OPTIMIZER_NUMBER.momentum:
    case OPTIMIZER_NUMBER.rmsprop:
    case OPTIMIZER_NUMBER.rmspropv2:
      fill(state, n, 0);
      break;
    case OPTIMIZER_NUMBER.groupAdagrad:
      store<f32>(state, initial);
      break;
    case OPTIMIZER_NUMBER.batchSoftmax:
      store<i64>(state, 0);
      break;
  }
}

/** Steps `n` weights. Returns 0, or -1 when batch_softmax was given a negative step, or -2 for an unknown kind. */
export function applyOptimizerF32(kind: i32, w: usize, state: usize, g: usize, n: i32, parameters: usize): i32 {
  const lr = load<f32>(parameters, PARAMETER_BLOCK.rate);
  const flags = load<u32>(parameters, PARAMETER_BLOCK.flags);
  const p0 = load<f32>(parameters, PARAMETER_BLOCK.values);
  const p1 = load<f32>(parameters, PARAMETER_BLOCK.values + FLOAT);
  const p2 = load<f32>(parameters, PARAMETER_BLOCK.values + 2 * FLOAT);
  const p3 = load<f32>(parameters, PARAMETER_BLOCK.values + 3 * FLOAT);
  switch (kind) {
    case OPTIMIZER_NUMBER.sgd:
      applySgdF32(w, g, n, lr);
      return 0;
    case OPTIMIZER_NUMBER.adagrad:
      applyAdagradF32(w, state, g, n, lr, p0);
      return 0;
    case OPTIMIZER_NUMBER.ftrl: {
      const zero = state + (<usize>n << 2);
      if (flags & PARAMETER_FLAG.standardL1) applyStandardFtrlF32(w, state, zero, g, n, lr, p0, p1, p2);
      else applyFtrlF32(w, state, zero, g, n, lr, p0, p1, p2);
      return 0;
    }
    case OPTIMIZER_NUMBER.dynamicWdAdagrad:
      if (flags & PARAMETER_FLAG.decoupled) applyDecoupledAdagradF32(w, state, g, n, lr, p0);
      else applyAdagradF32(w, state, g, n, lr, p0);
      return 0;
    case OPTIMIZER_NUMBER.adadelta:
      applyAdadeltaF32(w, state, g, n, lr, p0, p1, p2);
      return 0;
    case OPTIMIZER_NUMBER.adam:
      applyAdamF32(w, state, g, n, lr, p0, p1, p2, p3, flags & PARAMETER_FLAG.nesterov);
      return 0;
    case OPTIMIZER_NUMBER.amsgrad:
      applyAmsgradF32(w, state, g, n, lr, p0, p1, p2, p3, flags & PARAMETER_FLAG.nesterov);
      return 0;
    case OPTIMIZER_NUMBER.momentum:
      applyMomentumF32(w, state, g, n, lr, p0, p1, flags & PARAMETER_FLAG.nesterov);
      return 0;
    case OPTIMIZER_NUMBER.movingAverage:
      applyMovingAverageF32(w, g, n, p0);
      return 0;
    case OPTIMIZER_NUMBER.rmsprop:
      // The configured rate and not the scheduled one: upstream's numbers depend on it.
      applyRmspropF32(w, state, g, n, p2, p0, p1);
      return 0;
    case OPTIMIZER_NUMBER.rmspropv2:
      applyRmspropV2F32(w, state, g, n, lr, p0, p1);
      return 0;
    case OPTIMIZER_NUMBER.groupFtrl:
      applyGroupFtrlF32(w, state, g, n, lr, p0, p1, p2);
      return 0;
    case OPTIMIZER_NUMBER.batchSoftmax: {
      const step = load<i64>(parameters, PARAMETER_BLOCK.globalStep);
      if (step < 0) return -1;
      applyBatchSoftmaxF32(w, state, lr, step);
      return 0;
    }
    case OPTIMIZER_NUMBER.groupAdagrad:
      applyGroupAdagradF32(w, state, g, n, lr, p0, p1, p2);
      return 0;
    default:
      return -2;
  }
}
