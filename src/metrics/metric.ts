/**
 * @file What a streaming metric is: it takes examples in portions, can be merged with another that saw other examples,
 * and says its value at any time.
 */
import { MonolithError } from '../base/errors.js';

/** What examples are grouped by: ids of users, say. */
export type GroupKeys = ArrayLike<bigint> | ArrayLike<number> | ArrayLike<string>;

export interface Metric {
  readonly name: string;
  /**
   * Takes examples: a label, a prediction and, where it matters, a weight and a group each. Lengths that differ and
   * numbers that are not finite are refused with ML_METRIC, and then nothing of the portion counts.
   */
  update(
    labels: ArrayLike<number>,
    predictions: ArrayLike<number>,
    weights?: ArrayLike<number>,
    groups?: GroupKeys,
  ): void;
  /** Adds what `other`, of the same kind and settings, has seen. */
  merge(other: Metric): void;
  /** The value over all examples so far; null while there is none to be had, as before the first example. */
  result(): number | null;
}

export function refuse(metric: string, reason: string): MonolithError {
  return new MonolithError('ML_METRIC', { metric, reason });
}

/** Checks a portion before any of it counts. */
export function checkPortion(
  metric: string,
  labels: ArrayLike<number>,
  columns: { readonly [what: string]: ArrayLike<unknown> | undefined },
): void {
  const all = { labels, ...columns };
  for (const [what, values] of Object.entries(all)) {
    if (values === undefined) continue;
    if (values.length !== labels.length) throw refuse(metric, `${values.length} ${what} for ${labels.length} labels`);
    if (what === 'groups') continue;
    for (let i = 0; i < values.length; i++) {
      if (!Number.isFinite(values[i])) throw refuse(metric, `${what}[${i}] is ${values[i]}`);
    }
  }
  const { weights } = columns;
  for (let i = 0; i < (weights?.length ?? 0); i++) {
    if ((weights![i] as number) < 0) throw refuse(metric, `weights[${i}] is ${weights![i]}, below zero`);
  }
}

/** Predictions that must be probabilities. */
export function checkProbabilities(metric: string, predictions: ArrayLike<number>): void {
  for (let i = 0; i < predictions.length; i++) {
    const value = predictions[i]!;
    if (value < 0 || value > 1) throw refuse(metric, `predictions[${i}] is ${value}, no probability`);
  }
}

/** `other` as a metric of the class of `self`; whoever merges checks the settings. */
export function sameKind<M extends Metric>(self: M, other: Metric): M {
  if (other.constructor === self.constructor && other.name === self.name && other !== self) return other as M;
  throw refuse(self.name, other === self ? 'it cannot be merged with itself' : `${other.name} is another metric`);
}
