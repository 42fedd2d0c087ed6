/**
 * @file What an embedding table is made of: segments, each with its dimension, initializer, optimizer and rate.
 *
 * Names and defaults are those of native_training's entry configs; §2.1 and §3.2 of the sparse core have more kinds than
 * are listed here, and a config of an unknown kind does not compile.
 */

import { MonolithError } from '../base/errors.js';

const DIM_MAX = 16384;

export type InitializerConfig =
  | { readonly kind: 'zeros' }
  | { readonly kind: 'uniform'; readonly minval: number; readonly maxval: number }
  | { readonly kind: 'constant'; readonly value: number };

export type OptimizerConfig =
  | { readonly kind: 'sgd'; readonly learningRate: number }
  | {
      readonly kind: 'adagrad';
      readonly learningRate: number;
      readonly initialAccumulatorValue: number;
      readonly weightDecayFactor: number;
    }
  | {
      readonly kind: 'ftrl';
      readonly learningRate: number;
      readonly initialAccumulatorValue: number;
      readonly beta: number;
      readonly l1: number;
      readonly l2: number;
    };

/** A rate per global step. Two of them are equal when they are the same function, or when each has a text of its own and the texts are equal. */
export interface LearningRateFunction {
  (globalStep: number): number;
  toString(): string;
}

export interface SegmentConfig {
  readonly dim: number;
  readonly initializer: InitializerConfig;
  readonly optimizer: OptimizerConfig;
  /** Replaces the optimizer's own rate. */
  readonly learningRateFn?: LearningRateFunction;
}

export interface TableConfig {
  readonly name: string;
  readonly segments: readonly SegmentConfig[];
}

export const zerosInitializer = (): InitializerConfig => ({ kind: 'zeros' });
export const uniformInitializer = (minval = -0.05, maxval = 0.05): InitializerConfig => ({
  kind: 'uniform',
  minval,
  maxval,
});
export const constantInitializer = (value: number): InitializerConfig => ({ kind: 'constant', value });

export const sgdOptimizer = (learningRate = 0.01): OptimizerConfig => ({ kind: 'sgd', learningRate });

export function adagradOptimizer(
  options: { learningRate?: number; initialAccumulatorValue?: number; weightDecayFactor?: number } = {},
): OptimizerConfig {
  const { learningRate = 0.001, initialAccumulatorValue = 0.1, weightDecayFactor = 0 } = options;
  return { kind: 'adagrad', learningRate, initialAccumulatorValue, weightDecayFactor };
}

export function ftrlOptimizer(
  options: { learningRate?: number; initialAccumulatorValue?: number; beta?: number; l1?: number; l2?: number } = {},
): OptimizerConfig {
  const { learningRate = 0.01, initialAccumulatorValue = 0.1, beta = 0, l1 = 0, l2 = 0 } = options;
  return { kind: 'ftrl', learningRate, initialAccumulatorValue, beta, l1, l2 };
}

/** Floats of state an optimizer keeps for `dim` weights. */
export function stateFloats(optimizer: OptimizerConfig, dim: number): number {
  switch (optimizer.kind) {
    case 'sgd':
      return 0;
    case 'adagrad':
      return dim;
    case 'ftrl':
      return 2 * dim;
    default:
      return optimizer satisfies never;
  }
}

/** Weights in a row. A row with its state is far below the largest block the heap hands out. */
export function tableDim(config: TableConfig): number {
  const dim = config.segments.reduce((sum, segment) => sum + segment.dim, 0);
  const whole = config.segments.every((segment) => Number.isInteger(segment.dim) && segment.dim > 0);
  if (!whole || dim < 1 || dim > DIM_MAX) {
    const reason = `its segments must have 1 to ${DIM_MAX} dimensions in all`;
    throw new MonolithError('ML_GRAPH', { op: config.name, reason });
  }
  return dim;
}

const functionNumbers = new WeakMap<LearningRateFunction, number>();
let functionCount = 0;

/** The source text of a function says nothing about the values it closes over, so a function without a text of its own gets a number. */
function rateKey(rate: LearningRateFunction | undefined): string | number | null {
  if (rate === undefined) return null;
  if (rate.toString !== Function.prototype.toString) return rate.toString();
  let number = functionNumbers.get(rate);
  if (number === undefined) {
    number = functionCount++;
    functionNumbers.set(rate, number);
  }
  return number;
}

/** Text of everything that makes two tables the same but the name and the dimension of segments. */
export function segmentKey(segment: SegmentConfig): string {
  return JSON.stringify([segment.initializer, segment.optimizer, rateKey(segment.learningRateFn)]);
}
