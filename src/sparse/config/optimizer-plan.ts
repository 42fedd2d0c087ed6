/**
 * @file What a table needs to know to run a row optimizer: its number, the size of its state, its parameter block.
 *
 * The block is what `initOptimizerState` and `applyOptimizerF32` read; the rate and the global step in it change from
 * step to step, the rest is written once.
 */
import { MonolithError } from '../../base/errors.js';
import { checkConstantRate } from '../../base/rates/rate.js';
import { type Fields, type Message, printMessage, type ValueOf, valueOr } from '../../io/message.js';
import { OPTIMIZER_NUMBER, PARAMETER_BLOCK, PARAMETER_FLAG } from '../../memory/optimizer-layout.js';
import type { Views } from '../../memory/views.js';
import {
  OPTIMIZER_MESSAGES,
  OptimizerConfigMessage,
  type OptimizerMessage,
  type OptimizerName,
} from './config-messages.js';

export type PlannedOptimizer = keyof typeof OPTIMIZER_NUMBER;
/** How ftrl applies l1: as upstream does, or as the literature says. */
export type L1Mode = 'upstream' | 'standard';

export interface OptimizerPlan {
  readonly name: PlannedOptimizer;
  /** What the kernels call it by. */
  readonly number: number;
  readonly dim: number;
  /** Words of 4 bytes; batch_softmax keeps one i64 in two of them, at any multiple of 4. */
  readonly stateFloats: number;
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly flags: number;
  readonly initial: number;
  readonly values: readonly number[];
  /** Weights are rounded to half precision after each step. */
  readonly roundsToHalf: boolean;
}

/** Name of the optimizer that is set, if one is. */
export function optimizerNameOf(config: OptimizerMessage): OptimizerName | undefined {
  return (Object.keys(OPTIMIZER_MESSAGES) as OptimizerName[]).find((name) => config[name] !== undefined);
}

/**
 * ML_OPTIMIZER for what cannot run: none, the bare dc decorator, and dynamic weight decay, which has no published rule.
 */
export function planOptimizer(config: OptimizerMessage, dim: number, l1Mode: L1Mode = 'upstream'): OptimizerPlan {
  const name = optimizerNameOf(config);
  if (name === undefined || name === 'dc' || config.dynamicWdAdagrad?.enableDynamicWd === true) {
    const hint = 'rows take an optimizer of sparse, such as sparse.adam(); those of optim are for variables';
    const options = name === undefined ? { hint } : {};
    throw new MonolithError('ML_OPTIMIZER', { config: printMessage(OptimizerConfigMessage, config) }, options);
  }
  if (name === 'batchSoftmax' && dim !== 1) throw new MonolithError('ML_BATCH_SOFTMAX_DIM', { dim });
  checkFields(name, config);
  const read = reader(name, config);
  const { stateFloats, values } = SHAPES[name](read, dim);
  const flags =
    (read('useNesterov') ? PARAMETER_FLAG.nesterov : 0) |
    (name === 'ftrl' && l1Mode === 'standard' ? PARAMETER_FLAG.standardL1 : 0) |
    (read('decoupleWeightDecay') ? PARAMETER_FLAG.decoupled : 0);
  return {
    name,
    number: OPTIMIZER_NUMBER[name],
    dim,
    stateFloats,
    learningRate: checkConstantRate(read('learningRate')),
    warmupSteps: read('warmupSteps'),
    flags,
    initial: read('initialAccumulatorValue'),
    values,
    roundsToHalf: config.stochasticRoundingFloat16 === true,
  };
}

/** ML_FLAG for an option the optimizer does not have: JavaScript would take `learning_rate` and never look at it. */
function checkFields(name: OptimizerName, config: OptimizerMessage): void {
  const known = Object.keys(OPTIMIZER_MESSAGES[name].fields);
  const unknown = Object.keys(config[name] ?? {}).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const hint = `it has ${known.filter((key) => key !== 'dimSize').join(', ')}`;
  throw new MonolithError(
    'ML_FLAG',
    { flag: `${name}.${unknown}`, reason: 'the optimizer has no such option' },
    { hint },
  );
}

type Read = (key: string) => number;

/** Reads a field of the member that is set, or its default; 0 for a field this optimizer does not have. */
function reader(name: OptimizerName, config: OptimizerMessage): Read {
  const message: Message<Fields> = OPTIMIZER_MESSAGES[name];
  const value: ValueOf<Fields> = config[name] ?? {};
  return (key) => (key in message.fields ? Number(valueOr(message, value, key)) : 0);
}

interface Shape {
  readonly stateFloats: number;
  /** In the order assembly/optim/step.ts reads them. */
  readonly values: readonly number[];
}

const shape = (stateFloats: number, ...values: number[]): Shape => ({ stateFloats, values });
const ftrlValues = (read: Read) =>
  ['beta', 'l1RegularizationStrength', 'l2RegularizationStrength'].map(read) as [number, number, number];
const adamValues = (read: Read) =>
  ['beta1', 'beta2', 'weightDecayFactor', 'epsilon'].map(read) as [number, number, number, number];

const SHAPES: Readonly<Record<PlannedOptimizer, (read: Read, dim: number) => Shape>> = {
  adagrad: (read, dim) => shape(dim, read('weightDecayFactor')),
  sgd: () => shape(0),
  ftrl: (read, dim) => shape(2 * dim, ...ftrlValues(read)),
  dynamicWdAdagrad: (read, dim) => shape(dim, read('weightDecayFactor')),
  adadelta: (read, dim) => shape(2 * dim, read('weightDecayFactor'), read('averagingRatio'), read('epsilon')),
  adam: (read, dim) => shape(2 * dim + 2, ...adamValues(read)),
  amsgrad: (read, dim) => shape(3 * dim + 2, ...adamValues(read)),
  momentum: (read, dim) => shape(dim, read('weightDecayFactor'), read('momentum')),
  movingAverage: (read) => shape(0, read('momentum')),
  rmsprop: (read, dim) => shape(dim, read('weightDecayFactor'), read('momentum'), read('learningRate')),
  rmspropv2: (read, dim) => shape(dim, read('weightDecayFactor'), read('momentum')),
  groupFtrl: (read, dim) => shape(2 * dim, ...ftrlValues(read)),
  batchSoftmax: () => shape(2),
  groupAdagrad: (read) => shape(1, read('beta'), read('l2RegularizationStrength'), read('weightDecayFactor')),
};

/** Writes the block of `plan` at `at`, a multiple of 8, with the configured rate and step 0. */
export function writeParameters(m: Views, at: number, plan: OptimizerPlan): void {
  m.f32[(at + PARAMETER_BLOCK.rate) / 4] = plan.learningRate;
  m.u32[(at + PARAMETER_BLOCK.flags) / 4] = plan.flags;
  m.f32[(at + PARAMETER_BLOCK.initial) / 4] = plan.initial;
  m.f32.set(plan.values, (at + PARAMETER_BLOCK.values) / 4);
  setStep(m, at, plan.learningRate, 0n);
}

/** Sets what changes from step to step. */
export function setStep(m: Views, at: number, rate: number, globalStep: bigint): void {
  m.f32[(at + PARAMETER_BLOCK.rate) / 4] = rate;
  m.i64[(at + PARAMETER_BLOCK.globalStep) / 8] = globalStep;
}

/** The error of a step that `applyOptimizerF32` refused with `result`. */
export function stepError(plan: OptimizerPlan, result: number, globalStep: bigint): MonolithError {
  if (result === -1) return new MonolithError('ML_GLOBAL_STEP', { step: globalStep });
  return new MonolithError('ML_OPTIMIZER', { config: plan.name });
}
