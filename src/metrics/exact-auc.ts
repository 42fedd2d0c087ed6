/** @file Area under the ROC curve over a stream of examples, exact: it keeps every score. */
import { auc, weightedAuc } from './auc.js';
import { Column } from './column.js';
import { checkPortion, type GroupKeys, type Metric, sameKind } from './metric.js';

/** Takes 16 bytes per example, 24 with weights; BucketedAuc takes a fixed amount. */
export class ExactAuc implements Metric {
  readonly name = 'auc';
  readonly #labels = new Column();
  readonly #scores = new Column();
  /** Filled from the first weight on: until then all are 1. */
  #weights: Column | undefined;

  update(
    labels: ArrayLike<number>,
    predictions: ArrayLike<number>,
    weights?: ArrayLike<number>,
    _groups?: GroupKeys,
  ): void {
    checkPortion(this.name, labels, { predictions, weights });
    this.#append(labels, predictions, weights);
  }

  merge(other: Metric): void {
    const from = sameKind<ExactAuc>(this, other).#columns();
    this.#append(from.labels, from.scores, from.weights);
  }

  result(): number | null {
    const { labels, scores, weights } = this.#columns();
    return weights === undefined ? auc(labels, scores) : weightedAuc(labels, scores, weights);
  }

  #columns() {
    return { labels: this.#labels.values, scores: this.#scores.values, weights: this.#weights?.values };
  }

  #append(labels: ArrayLike<number>, scores: ArrayLike<number>, weights: ArrayLike<number> | undefined): void {
    if (weights !== undefined && this.#weights === undefined) {
      this.#weights = new Column();
      this.#weights.append(new Float64Array(this.#labels.count).fill(1));
    }
    this.#labels.append(labels);
    this.#scores.append(scores);
    this.#weights?.append(weights ?? new Float64Array(labels.length).fill(1));
  }
}
