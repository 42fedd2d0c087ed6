/**
 * @file What a random model of the determinism tests has: a set of features, drawn by seed. Everything else of the
 * model, its sizes and its data, follows from the seed too, so a seed says it all.
 */
import { stream } from '../kernels/both.js';

export const ROW_OPTIMIZERS = [
  'adagrad',
  'sgd',
  'ftrl',
  'dynamic-wd-adagrad',
  'adadelta',
  'adam',
  'amsgrad',
  'momentum',
  'moving-average',
  'rmsprop',
  'rmsprop-v2',
  'group-ftrl',
  'batch-softmax',
  'group-lasso',
] as const;
export const DENSE_OPTIMIZERS = [
  'gradient-descent',
  'adagrad',
  'adam',
  'ftrl',
  'momentum',
  'adamom',
  'rmsprop',
  'shampoo',
] as const;
export const COMPRESSORS = ['fp16', 'fixed-r8', 'one-bit'] as const;
export const FULL = ['fail', 'evict-expired', 'stop-admitting'] as const;
const SCHEDULES = [
  'polynomial',
  'exponential',
  'inverse-time',
  'piecewise',
  'cosine',
  'cosine-restarts',
  'warm-up',
] as const;

/** Features of which a model has at most one of each list. */
const ONE_OF = {
  row: ROW_OPTIMIZERS,
  dense: DENSE_OPTIMIZERS,
  compressor: COMPRESSORS,
  full: FULL,
  schedule: SCHEDULES,
} as const;
type OneOf = keyof typeof ONE_OF;
/** Features that a model has or has not. */
const FLAGS = [
  'filter',
  'expiry',
  'several-tables',
  'shared-table',
  'several-segments',
  'mean-pooling',
  'sequence',
  'read-only-lookup',
  'dropout',
  'batch-norm',
  'clip',
  'stochastic-rounding',
  'row-warm-up',
  'touched',
  'odd-batches',
] as const;

export type Flag = (typeof FLAGS)[number];
export type Choice<K extends OneOf> = (typeof ONE_OF)[K][number];

/** A feature by its name: a flag, or `row:adam`. */
export type Feature = string;

export const ALL_FEATURES: readonly Feature[] = [
  ...FLAGS,
  ...Object.entries(ONE_OF).flatMap(([list, names]) => names.map((name) => `${list}:${name}`)),
];

export interface Recipe {
  readonly seed: number;
  readonly features: readonly Feature[];
}

export const has = ({ features }: Recipe, flag: Flag): boolean => features.includes(flag);

/** What the model has of a list, if anything. */
export function chosen<K extends OneOf>({ features }: Recipe, list: K): Choice<K> | undefined {
  const found = features.find((name) => name.startsWith(`${list}:`));
  return found?.slice(list.length + 1) as Choice<K> | undefined;
}

/** The model of a seed. Lists turn with the seed, so that neighbouring seeds have all of them soon. */
export function draw(seed: number): Recipe {
  const next = stream(seed + 1);
  const always: readonly OneOf[] = ['row', 'dense'];
  const lists = (Object.keys(ONE_OF) as OneOf[]).flatMap((list) => {
    const names = ONE_OF[list];
    return always.includes(list) || next() < 0.6 ? [`${list}:${names[seed % names.length]}`] : [];
  });
  const flags = FLAGS.filter(() => next() < 0.4);
  return { seed, features: [...flags, ...lists] };
}

/** The same model without one of its features. */
export const without = ({ seed, features }: Recipe, feature: Feature): Recipe => ({
  seed,
  features: features.filter((name) => name !== feature),
});

export const describe = ({ seed, features }: Recipe): string => `seed ${seed}: ${features.join(', ')}`;
