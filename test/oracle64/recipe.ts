/**
 * @file What a random graph is made of, as data that can be printed, and made smaller when a graph fails.
 *
 * A step names a builder and has a seed of its own, by which the builder picks operands among the tensors at hand: a
 * recipe stays valid when steps are left out.
 */
import { Random } from './random.js';

/** A number, or by step: from it down, or from zero up to it. */
export type RateKind = 'fixed' | 'falls' | 'rises';

export interface SegmentRecipe {
  readonly dim: number;
  readonly optimizer: string;
  readonly options: Readonly<Record<string, number | boolean>>;
  readonly initial: number;
  readonly rate: RateKind;
}

export interface LookupRecipe {
  readonly table: number;
  readonly feed: string;
  readonly pooling: 'sum' | 'mean' | number;
  /** `stopped`: behind stopGradient; `kept`: its gradient is not given to the update. Both are only read. */
  readonly use: 'trained' | 'stopped' | 'kept';
}

export interface StepRecipe {
  readonly kind: string;
  readonly seed: number;
}

export interface DenseRecipe {
  readonly rule: string;
  readonly options: Readonly<Record<string, number | boolean>>;
  readonly weightDecay: number;
  readonly clip: 'none' | 'value' | 'norm' | 'global' | 'global with rows';
  readonly rate: RateKind;
}

export interface Recipe {
  readonly seed: number;
  /** Examples of the batch that is evaluated, then of those that are trained on. */
  readonly rows: readonly number[];
  readonly tables: readonly (readonly SegmentRecipe[])[];
  readonly lookups: readonly LookupRecipe[];
  readonly steps: readonly StepRecipe[];
  readonly losses: readonly StepRecipe[];
  readonly dense: DenseRecipe;
  /** Gradients are fetched while training too, which keeps kernels from leaving them out. */
  readonly fetches: boolean;
}

/** Feeds that every graph may use: floats by width, rows of ids, columns of ids. */
export const FLOAT_FEEDS: Readonly<Record<string, number>> = { a: 1, b: 3, c: 3, d: 5, e: 8, f: 17 };
export const ID_FEEDS: Readonly<Record<string, number>> = { one: 1, three: 3, six: 6 };
export const RAGGED_FEEDS = ['r', 's', 'q'] as const;
export const BATCH_MAX = 33;

const DIMS = [1, 2, 3, 4, 5, 8, 8, 9, 12, 16] as const;
const ROW_OPTIONS: Readonly<Record<string, (random: Random) => Record<string, number | boolean>>> = {
  sgd: () => ({}),
  adagrad: (r) => ({ initialAccumulatorValue: r.of([0.1, 1]), weightDecayFactor: r.of([0, 0.05]) }),
  dynamicWdAdagrad: (r) => ({ decoupleWeightDecay: r.chance(0.5), enableDynamicWd: false, weightDecayFactor: 0.03 }),
  ftrl: (r) => ({
    beta: r.of([0, 1]),
    initialAccumulatorValue: r.of([0.1, 1]),
    l1RegularizationStrength: r.of([0, 0.02]),
    l2RegularizationStrength: r.of([0, 0.1]),
  }),
  groupFtrl: (r) => ({
    initialAccumulatorValue: 0.1,
    l1RegularizationStrength: r.of([0, 0.05]),
    l2RegularizationStrength: 0.1,
  }),
  adadelta: (r) => ({ weightDecayFactor: r.of([0, 0.05]), averagingRatio: 0.9, epsilon: 0.01 }),
  adam: (r) => ({ useNesterov: r.chance(0.5), weightDecayFactor: r.of([0, 0.05]), epsilon: 0.01 }),
  amsgrad: (r) => ({ useNesterov: r.chance(0.5), epsilon: 0.01 }),
  momentum: (r) => ({ useNesterov: r.chance(0.5), weightDecayFactor: r.of([0, 0.05]), momentum: 0.8 }),
  movingAverage: () => ({ momentum: 0.9 }),
  rmsprop: (r) => ({ weightDecayFactor: r.of([0, 0.05]) }),
  rmspropv2: (r) => ({ weightDecayFactor: r.of([0, 0.05]) }),
  batchSoftmax: () => ({}),
  groupAdagrad: (r) => ({
    beta: r.of([0, 0.5]),
    l2RegularizationStrength: r.of([0, 0.05]),
    weightDecayFactor: r.of([0, 0.05]),
  }),
};
export const ROW_OPTIMIZERS = Object.keys(ROW_OPTIONS);

const DENSE_OPTIONS: Readonly<Record<string, (random: Random) => Record<string, number | boolean>>> = {
  GradientDescent: () => ({}),
  Momentum: (r) => ({ momentum: 0.9, useNesterov: r.chance(0.5) }),
  Adagrad: () => ({ initialAccumulatorValue: 0.1 }),
  Adam: (r) => ({ epsilon: r.of([1e-8, 1e-3]), useNesterov: r.chance(0.3) }),
  Ftrl: (r) => ({
    l1RegularizationStrength: r.of([0, 0.02]),
    l2RegularizationStrength: r.of([0, 0.1]),
    beta: r.of([0, 0.5]),
  }),
  Adamom: (r) => ({ adaDecay: 0.99, momDecay: 0.9, epsilon: 1e-3, useV2: r.chance(0.5), weightDecay: r.of([0, 0.1]) }),
  Rmsprop: (r) => ({
    beta1: 0.9,
    beta2: 0.9,
    epsilon: 0.01,
    useV2: r.chance(0.5),
    weightDecay: r.of([0, 0.1]),
    updateSlots: r.chance(0.8),
  }),
  'rows sgd': () => ({}),
  'rows adagrad': (r) => ({ initialAccumulatorValue: 0.1, weightDecayFactor: r.of([0, 0.1]) }),
  'rows ftrl': (r) => ({ beta: 1, l1RegularizationStrength: r.of([0, 0.02]) }),
  'rows adam': (r) => ({ epsilon: 0.01, useNesterov: r.chance(0.5) }),
};
export const DENSE_OPTIMIZERS = Object.keys(DENSE_OPTIONS);

export const RATE = 0.05;
const RATES: readonly RateKind[] = ['fixed', 'fixed', 'fixed', 'falls', 'rises'];

function segment(random: Random, seed: number): SegmentRecipe {
  // Every optimizer comes round, whatever the number of graphs.
  const optimizer = random.chance(0.5) ? ROW_OPTIMIZERS[seed % ROW_OPTIMIZERS.length]! : random.of(ROW_OPTIMIZERS);
  const dim = optimizer === 'batchSoftmax' ? 1 : random.of(DIMS);
  const initial = random.of([0, 1, 0.25, -0.5]);
  return { dim, optimizer, options: ROW_OPTIONS[optimizer]!(random), initial, rate: random.of(RATES) };
}

function lookup(random: Random, tables: number): LookupRecipe {
  const isRagged = random.chance(0.5);
  const feed = isRagged
    ? random.of(RAGGED_FEEDS)
    : random.of(Object.keys(ID_FEEDS).map((name) => `${name} ${random.below(6)}`));
  const pooling = isRagged ? random.of(['sum', 'mean', 1, 3, 5] as const) : 'sum';
  const use = random.chance(0.7) ? 'trained' : random.of(['stopped', 'kept'] as const);
  return { table: random.below(tables), feed, pooling, use };
}

/** The graph of a seed. `kinds` and `losses` are the builders there are. */
export function drawRecipe(seed: number, kinds: readonly string[], losses: readonly string[]): Recipe {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995);
  const rows = Array.from({ length: 4 }, () => random.of([1, 2, 3, 5, 7, 9, 13, BATCH_MAX]));
  const tables = Array.from({ length: random.below(4) }, () =>
    Array.from({ length: random.of([1, 1, 2, 3]) }, () => segment(random, seed)),
  );
  const lookups =
    tables.length === 0 ? [] : Array.from({ length: 1 + random.below(5) }, () => lookup(random, tables.length));
  const count = random.of([1, 2, 4, 6, 9]);
  const step = (kind: string): StepRecipe => ({ kind, seed: random.seed() });
  // Two builders by turns, so that each comes up every few graphs; the others as they fall.
  const turns = [kinds[seed % kinds.length]!, kinds[(seed * 7 + 3) % kinds.length]!];
  const steps = Array.from({ length: count }, () => random.of(kinds));
  for (const turn of turns) steps.splice(random.below(steps.length + 1), 0, turn);
  const rule = DENSE_OPTIMIZERS[seed % DENSE_OPTIMIZERS.length]!;
  return {
    seed,
    rows,
    tables,
    lookups,
    steps: steps.map(step),
    losses: [step(losses[seed % losses.length]!), step(random.of(losses)), step(random.of(losses))],
    dense: {
      rule,
      options: DENSE_OPTIONS[rule]!(random),
      weightDecay: random.of([0, 0, 0.02]),
      clip: random.of(['none', 'none', 'none', 'value', 'norm', 'global', 'global with rows'] as const),
      rate: random.of(RATES),
    },
    fetches: random.chance(0.3),
  };
}

/** Smaller recipes, largest cuts first. */
export function* smaller(recipe: Recipe): Generator<Recipe> {
  const without = <T>(list: readonly T[], from: number, count: number) => [
    ...list.slice(0, from),
    ...list.slice(from + count),
  ];
  for (let size = Math.ceil(recipe.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < recipe.steps.length; from += size)
      yield { ...recipe, steps: without(recipe.steps, from, size) };
  }
  for (let i = 0; i < recipe.lookups.length; i++) yield { ...recipe, lookups: without(recipe.lookups, i, 1) };
  if (recipe.losses.length > 1)
    for (let i = 0; i < recipe.losses.length; i++) yield { ...recipe, losses: without(recipe.losses, i, 1) };
  if (recipe.dense.clip !== 'none') yield { ...recipe, dense: { ...recipe.dense, clip: 'none' } };
  if (recipe.dense.weightDecay !== 0) yield { ...recipe, dense: { ...recipe.dense, weightDecay: 0 } };
  for (let i = 0; i < recipe.rows.length; i++) {
    const rows = [...recipe.rows];
    if (rows[i]! > 1) yield { ...recipe, rows: rows.with(i, rows[i]! > 2 ? 2 : 1) };
  }
}

export function describe({ seed, rows, tables, lookups, steps, losses, dense, fetches }: Recipe): string {
  const lines = [
    `seed ${seed}, rows ${rows.join(' ')}${fetches ? ', gradients fetched while training' : ''}`,
    ...tables.map((segments, i) => `table ${i}: ${segments.map((one) => JSON.stringify(one)).join(' + ')}`),
    ...lookups.map((one) => `lookup ${JSON.stringify(one)}`),
    `steps ${steps.map(({ kind }) => kind).join(', ')}`,
    `losses ${losses.map(({ kind }) => kind).join(', ')}`,
    `dense ${JSON.stringify(dense)}`,
  ];
  return lines.join('\n');
}
