/** @file Tables and optimizers of a recipe, and the train op that uses them. */

import * as optimizers from '../../src/compat/optimizers.js';
import type { Graph, Op, Tensor } from '../../src/graph/graph.js';
import * as ml from '../../src/index.js';
import { optimizerOf } from '../../src/optim/apply-gradients.js';
import type { Optimizer } from '../../src/optim/optimizer.js';
import { KNOWN_IDS } from './batches.js';
import type { Random } from './random.js';
import { type DenseRecipe, RATE, type RateKind, type SegmentRecipe } from './recipe.js';

/** Sizes that gradients are clipped to: small, so that they are. */
export const CLIP = { value: 0.05, norm: 0.1, global: 0.2 } as const;

export interface TableModel {
  readonly config: ml.TableConfig;
  readonly segments: readonly SegmentRecipe[];
  /** Rows that are there before the first step. */
  readonly assigned: ReadonlyMap<bigint, Float32Array>;
}

/** A rate as the product has it. The one that rises begins at zero, where several rules would divide by it. */
function makeRate(kind: RateKind): ml.schedules.Rate {
  if (kind === 'fixed') return RATE;
  if (kind === 'rises') return ml.schedules.warmup({ warmupSteps: 4, after: RATE });
  return ml.schedules.polynomialDecay({ initialLearningRate: RATE, decaySteps: 10, endLearningRate: 0.01 });
}

/** What it is at a step. */
export function rateAt(kind: RateKind, step: number): number {
  if (kind === 'fixed') return RATE;
  return kind === 'rises' ? (RATE * Math.min(step, 4)) / 4 : (RATE - 0.01) * (1 - step / 10) + 0.01;
}

export function makeTable(name: string, segments: readonly SegmentRecipe[], random: Random): TableModel {
  const config = ml.defineTable(
    name,
    segments.map(({ dim, optimizer, options, initial, rate }) => ({
      dim,
      initializer: ml.sparse.constant(initial),
      // The first rmsprop steps by the rate of its config.
      optimizer: { [optimizer]: { ...options, ...(optimizer !== 'movingAverage' && { learningRate: RATE }) } },
      learningRate: makeRate(rate),
    })),
  );
  const dim = segments.reduce((sum, one) => sum + one.dim, 0);
  const assigned = new Map(KNOWN_IDS.filter(() => random.chance(0.8)).map((id) => [id, random.floats(dim, 1)]));
  return { config, segments, assigned };
}

const OPTIMIZERS: Readonly<Record<string, new (options: never) => Optimizer>> = {
  GradientDescent: optimizers.GradientDescentOptimizer,
  Momentum: optimizers.MomentumOptimizer,
  Adagrad: optimizers.AdagradOptimizer,
  Adam: optimizers.AdamOptimizer,
  Ftrl: optimizers.FtrlOptimizer,
  Adamom: optimizers.AdamomOptimizer,
  Rmsprop: optimizers.RmspropOptimizer,
};

export function makeOptimizer({ rule, options, rate }: DenseRecipe): Optimizer {
  const Known = OPTIMIZERS[rule];
  if (Known !== undefined) return new Known({ ...options, learningRate: makeRate(rate) } as never);
  return optimizerOf({ [rule.replace('rows ', '')]: { ...options, learningRate: RATE } });
}

function clipped(grads: readonly Tensor[], clip: DenseRecipe['clip']): readonly Tensor[] {
  if (clip === 'value') return grads.map((grad) => ml.ops.clipByValue(grad, -CLIP.value, CLIP.value));
  if (clip === 'norm') return grads.map((grad) => ml.ops.clipByNorm(grad, CLIP.norm));
  if (clip === 'none' || grads.length === 0) return grads;
  return ml.ops.clipByGlobalNorm(grads, CLIP.global).clipped;
}

type Pair = readonly [gradient: Tensor, target: Tensor];

export interface TrainParts {
  readonly optimizer: Optimizer;
  readonly dense: readonly Pair[];
  readonly lookups: readonly Pair[];
  /** Moving averages of batch norm. */
  readonly updates: readonly Op[];
}

/** Steps all variables and tables, and counts the step. */
export function makeTrain(graph: Graph, { clip, weightDecay }: DenseRecipe, parts: TrainParts): Op {
  const { optimizer, dense, lookups, updates } = parts;
  const all = [...dense, ...lookups].map(([gradient]) => gradient);
  const joint = clip === 'global with rows';
  const grads = joint ? clipped(all, clip) : [...clipped(all.slice(0, dense.length), clip), ...all.slice(dense.length)];
  const pairs = dense.map(([, target], i) => [grads[i]!, target] as const);
  const rows = lookups.map(([, target], i) => [grads[dense.length + i]!, target] as const);
  const steps = [
    ...(pairs.length > 0 ? optimizer.applyAll(pairs, { weightDecay }) : []),
    ...(rows.length > 0 ? ml.ops.applyEmbeddingGradients(rows) : []),
    ...updates,
  ];
  return ml.ops.group(graph, [...steps, ml.ops.increment(ml.ops.globalStep(graph)) as Op], { name: 'train' }) as Op;
}
