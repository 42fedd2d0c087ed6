// One entry for all row optimizers: the first state of a row, and a step of it, by the number of the optimizer in its
// config message.
//
// Parameter block, 48 bytes (twin: src/memory/optimizer-layout.ts):
// | 0 rate f32 | 4 flags u32 | 8 initial accumulator f32 | 12 .. 31 five parameters f32 | 32 global step i64 | 40 - |
// flags: 1 nesterov, 2 standard l1 of ftrl, 4 decoupled decay.
import { applyAdagradF32, applyFtrlF32, applySgdF32 } from "../dense/optimizers";
import { applyAdadeltaF32, applyDecoupledAdagradF32, applyMomentumF32, applyMovingAverageF32 } from "./accumulate";
import { applyAdamF32, applyAmsgradF32 } from "./adam";
import { applyStandardFtrlF32 } from "./ftrl";
import { applyGroupAdagradF32, applyGroupFtrlF32 } from "./group";
import { applyRmspropF32, applyRmspropV2F32 } from "./rmsprop";

const ADAGRAD: i32 = 1;
const SGD: i32 = 2;
const FTRL: i32 = 3;
const DYNAMIC_WD_ADAGRAD: i32 = 5;
const ADADELTA: i32 = 6;
const ADAM: i32 = 7;
const AMSGRAD: i32 = 8;
const MOMENTUM: i32 = 9;
const MOVING_AVERAGE: i32 = 10;
const RMSPROP: i32 = 11;
const RMSPROPV2: i32 = 12;
const GROUP_FTRL: i32 = 14;
const BATCH_SOFTMAX: i32 = 15;
const GROUP_ADAGRAD: i32 = 16;

const NESTEROV: u32 = 1;
const STANDARD_L1: u32 = 2;
const DECOUPLED: u32 = 4;

/** w' = (1 - lr) * w + lr * (step - stored); stored' = step. `state` is an i64 at any 4-byte boundary. */
export function applyBatchSoftmaxF32(w: usize, state: usize, lr: f32, globalStep: i64): void {
  const gap = <f32>(globalStep - load<i64>(state));
  store<i64>(state, globalStep);
  const rest: f32 = 1 - lr;
  store<f32>(w, rest * load<f32>(w) + lr * gap);
}

function fill(at: usize, n: i32, value: f32): void {
  for (let i = 0; i < n; i++, at += 4) store<f32>(at, value);
}

/** Writes the state of a new row. */
export function initOptimizerState(kind: i32, state: usize, n: i32, parameters: usize): void {
  const initial = load<f32>(parameters, 8);
  const block = <usize>n << 2;
  switch (kind) {
    case ADAGRAD:
    case DYNAMIC_WD_ADAGRAD:
      fill(state, n, initial);
      break;
    case FTRL:
    case GROUP_FTRL:
      fill(state, n, initial);
      memory.fill(state + block, 0, block);
      break;
    case ADADELTA:
      memory.fill(state, 0, block * 2);
      break;
    case ADAM:
    case AMSGRAD: {
      const powers = block * (kind == ADAM ? 2 : 3);
      memory.fill(state, 0, powers);
      store<f32>(state + powers, load<f32>(parameters, 12));
      store<f32>(state + powers, load<f32>(parameters, 16), 4);
      break;
    }
    case MOMENTUM:
    case RMSPROP:
    case RMSPROPV2:
      memory.fill(state, 0, block);
      break;
    case GROUP_ADAGRAD:
      store<f32>(state, initial);
      break;
    case BATCH_SOFTMAX:
      store<i64>(state, 0);
      break;
  }
}

/** Steps `n` weights. Returns 0, or -1 when batch_softmax was given a negative step, or -2 for an unknown kind. */
export function applyOptimizerF32(kind: i32, w: usize, state: usize, g: usize, n: i32, parameters: usize): i32 {
  const lr = load<f32>(parameters);
  const flags = load<u32>(parameters, 4);
  const p0 = load<f32>(parameters, 12);
  const p1 = load<f32>(parameters, 16);
  const p2 = load<f32>(parameters, 20);
  const p3 = load<f32>(parameters, 24);
  switch (kind) {
    case SGD:
      applySgdF32(w, g, n, lr);
      return 0;
    case ADAGRAD:
      applyAdagradF32(w, state, g, n, lr, p0);
      return 0;
    case FTRL: {
      const zero = state + (<usize>n << 2);
      if (flags & STANDARD_L1) applyStandardFtrlF32(w, state, zero, g, n, lr, p0, p1, p2);
      else applyFtrlF32(w, state, zero, g, n, lr, p0, p1, p2);
      return 0;
    }
    case DYNAMIC_WD_ADAGRAD:
      if (flags & DECOUPLED) applyDecoupledAdagradF32(w, state, g, n, lr, p0);
      else applyAdagradF32(w, state, g, n, lr, p0);
      return 0;
    case ADADELTA:
      applyAdadeltaF32(w, state, g, n, lr, p0, p1, p2);
      return 0;
    case ADAM:
      applyAdamF32(w, state, g, n, lr, p0, p1, p2, p3, flags & NESTEROV);
      return 0;
    case AMSGRAD:
      applyAmsgradF32(w, state, g, n, lr, p0, p1, p2, p3, flags & NESTEROV);
      return 0;
    case MOMENTUM:
      applyMomentumF32(w, state, g, n, lr, p0, p1, flags & NESTEROV);
      return 0;
    case MOVING_AVERAGE:
      applyMovingAverageF32(w, g, n, p0);
      return 0;
    case RMSPROP:
      // The configured rate and not the scheduled one: upstream's numbers depend on it.
      applyRmspropF32(w, state, g, n, p2, p0, p1);
      return 0;
    case RMSPROPV2:
      applyRmspropV2F32(w, state, g, n, lr, p0, p1);
      return 0;
    case GROUP_FTRL:
      applyGroupFtrlF32(w, state, g, n, lr, p0, p1, p2);
      return 0;
    case BATCH_SOFTMAX: {
      const step = load<i64>(parameters, 32);
      if (step < 0) return -1;
      applyBatchSoftmaxF32(w, state, lr, step);
      return 0;
    }
    case GROUP_ADAGRAD:
      applyGroupAdagradF32(w, state, g, n, lr, p0, p1, p2);
      return 0;
    default:
      return -2;
  }
}
