/** @file What every op computes, by its type; and those that need no rule, with the reason. */
import type { Rule } from './evaluation.js';
import { BASIC_RULES } from './rules-basic.js';
import { LOSS_RULES } from './rules-losses.js';
import { REDUCE_RULES } from './rules-reduce.js';

export const RULES: ReadonlyMap<string, Rule> = new Map(
  Object.entries({ ...BASIC_RULES, ...REDUCE_RULES, ...LOSS_RULES }),
);

const ADJOINT = 'made by gradients() alone: what it gives is held to the adjoints that follow from the rule of its op';
const UPDATE = 'an update: what it leaves behind is held to the steps of optimizers and to assigned values';
const NORM = 'part of clipping, which is computed on the gradients';

export const WITHOUT_RULE: Readonly<Record<string, string>> = {
  QueueEnqueueV2: 'moves values beside the step: test/train/prefetch-queue.test.ts',
  QueueDequeueV2: 'hands on what was put into a queue: test/train/prefetch-queue.test.ts',
  QueueCloseV2: 'ends a queue, and has no value',
  ActivationGrad: ADJOINT,
  BiasAddGrad: ADJOINT,
  CinGrad: ADJOINT,
  FmPairsGrad: ADJOINT,
  InbatchAucLossGrad: ADJOINT,
  InbatchSoftmaxLossGrad: ADJOINT,
  L2NormalizeGrad: ADJOINT,
  LayerNormGainGrad: ADJOINT,
  LayerNormGrad: ADJOINT,
  LeakyReluGrad: ADJOINT,
  LogitLossGrad: ADJOINT,
  MatMulInnerGrad: ADJOINT,
  MaxInnerGrad: ADJOINT,
  MeanGrad: ADJOINT,
  PairProductsGrad: ADJOINT,
  PreluGrad: ADJOINT,
  PreluSlopeGrad: ADJOINT,
  ScatterInner: ADJOINT,
  SigmoidCrossEntropyGrad: ADJOINT,
  SmoothActivationGrad: ADJOINT,
  SoftmaxCrossEntropyGrad: ADJOINT,
  SoftmaxGrad: ADJOINT,
  SumShared: ADJOINT,
  TopKGrad: ADJOINT,
  ApplyGradient: UPDATE,
  Assign: UPDATE,
  AssignAdd: UPDATE,
  AssignAddI64: UPDATE,
  AssignMul: UPDATE,
  EmbeddingUpdate: UPDATE,
  ClipToNorm: NORM,
  GlobalNorm: NORM,
  RowSquares: NORM,
  SumSquares: NORM,
  FetchVariable: 'a copy of a variable, taken between steps: test/graph/utils.test.ts',
  QueueDequeue: 'a copy of a variable before the updates of the step: test/train/async-function-mgr.test.ts',
  NoOp: 'it has no value',
};
