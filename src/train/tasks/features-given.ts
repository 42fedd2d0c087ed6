/** @file The forms in which features are given to a lookup of slices: lists, groups, pairs with a width, a record. */
import { MonolithError } from '../../base/errors.js';
import { FeatureColumn } from '../../feature/model/feature-column.js';

/** Features by name, by slot, or by their column. */
export type FeatureGiven = string | number | FeatureColumn;
export type FeaturesGiven =
  | readonly FeatureGiven[]
  | readonly (readonly FeatureGiven[])[]
  | readonly (readonly [FeatureGiven, number])[]
  | Readonly<Record<string, number>>;

export const isFeature = (item: unknown): item is FeatureGiven =>
  typeof item === 'string' || typeof item === 'number' || item instanceof FeatureColumn;

export function pairsOf(features: FeaturesGiven): readonly (readonly [FeatureGiven, number])[] {
  const pairs: readonly unknown[] = Array.isArray(features) ? features : Object.entries(features);
  const isPair = (item: unknown) =>
    Array.isArray(item) && item.length === 2 && isFeature(item[0]) && Number.isInteger(item[1]);
  if (!pairs.every(isPair)) throw valueError();
  return pairs as readonly (readonly [FeatureGiven, number])[];
}

export function valueError(): MonolithError {
  const hint = 'with sliceDim give features or groups of them; without it pairs of a feature and its dim, or a record';
  return new MonolithError('ML_TASK', { reason: 'ValueError for features' }, { hint });
}

/** Features as one text, which does not depend on their order. */
export function layoutText(features: FeaturesGiven): string {
  const text = (item: unknown): string => {
    if (item instanceof FeatureColumn) return item.featureName;
    return Array.isArray(item) ? `(${item.map(text).join(', ')})` : String(item);
  };
  const items: readonly unknown[] = Array.isArray(features) ? features : Object.entries(features);
  return items.map(text).sort().join(',');
}
