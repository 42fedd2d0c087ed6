/**
 * @file Exports of assembly/optim: one step of the `n` weights of a segment, in place.
 *
 * Pointers are byte addresses at any multiple of 4. State blocks are those of the sparse core's §3.3, one after the other.
 */
type AdamStep = (
  w: number,
  state: number,
  g: number,
  n: number,
  lr: number,
  beta1: number,
  beta2: number,
  decay: number,
  epsilon: number,
  nesterov: number,
) => void;

type RmspropStep = (w: number, state: number, g: number, n: number, lr: number, decay: number, mu: number) => void;

export interface OptimKernels {
  /** State: accum[n], update[n]. */
  applyAdadeltaF32(
    w: number,
    state: number,
    g: number,
    n: number,
    lr: number,
    decay: number,
    rho: number,
    epsilon: number,
  ): void;
  /** State: n[n]. */
  applyMomentumF32(
    w: number,
    state: number,
    g: number,
    n: number,
    lr: number,
    decay: number,
    mu: number,
    nesterov: number,
  ): void;
  applyMovingAverageF32(w: number, g: number, n: number, mu: number): void;
  applyDecoupledAdagradF32(w: number, norm: number, g: number, n: number, lr: number, decay: number): void;
  /** State: m[n], v[n], beta1_power, beta2_power. */
  readonly applyAdamF32: AdamStep;
  /** State: m[n], v[n], vhat[n], beta1_power, beta2_power. */
  readonly applyAmsgradF32: AdamStep;
  /** State: n[n]. The rate is the configured one. */
  readonly applyRmspropF32: RmspropStep;
  readonly applyRmspropV2F32: RmspropStep;
  applyStandardFtrlF32(
    w: number,
    norm: number,
    zero: number,
    g: number,
    n: number,
    lr: number,
    beta: number,
    l1: number,
    l2: number,
  ): void;
  /** State: one float. Leaves the gradient changed. */
  applyGroupAdagradF32(
    w: number,
    state: number,
    g: number,
    n: number,
    lr: number,
    beta: number,
    l2: number,
    decay: number,
  ): void;
  /** State: norm[n], zero[n]. */
  applyGroupFtrlF32(
    w: number,
    state: number,
    g: number,
    n: number,
    lr: number,
    beta: number,
    l1: number,
    l2: number,
  ): void;
  /** State: one i64 at a multiple of 4. */
  applyBatchSoftmaxF32(w: number, state: number, lr: number, globalStep: bigint): void;

  /** g += lambda * g * g * (w - latest). */
  compensateDelayF32(g: number, w: number, latest: number, n: number, lambda: number): void;
  nextMwc(generator: number): number;
  roundToHalf(x: number, p: number): number;
  roundToHalfF32(w: number, n: number, generator: number): void;

  /** Dense variables: slots m, v, c. `second` is the rule with epsilon outside of the root; `updates` 0 keeps the slots. */
  applyAdamomF32(
    w: number,
    m: number,
    v: number,
    c: number,
    g: number,
    n: number,
    lr: number,
    ada: number,
    mom: number,
    epsilon: number,
    decay: number,
    second: number,
    updates: number,
  ): void;
  /** Dense variables: slots m, v. */
  applyDenseRmspropF32(
    w: number,
    m: number,
    v: number,
    g: number,
    n: number,
    lr: number,
    beta1: number,
    beta2: number,
    epsilon: number,
    decay: number,
    second: number,
  ): void;

  /** First state of a row. `parameters` is a block of src/memory/optimizer-layout.ts. */
  initOptimizerState(kind: number, state: number, n: number, parameters: number): void;
  /** One step by the optimizer's number: 0, -1 for a negative step of batch_softmax, -2 for an unknown number. */
  applyOptimizerF32(kind: number, w: number, state: number, g: number, n: number, parameters: number): number;
}
