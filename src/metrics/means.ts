/** @file Metrics that are made of weighted sums over examples: log loss, errors, accuracy, calibration. */
import { checkOptions } from '../base/check-options.js';
import { checkPortion, checkProbabilities, type GroupKeys, type Metric, sameKind } from './metric.js';

/** Two sums over examples, each term times the weight of its example. */
abstract class Sums implements Metric {
  abstract readonly name: string;
  protected readonly probabilities: boolean = false;
  #above = 0;
  #below = 0;

  /** What an example adds to the sum that is divided. */
  protected abstract term(label: number, prediction: number): number;

  /** What an example adds to the sum that is divided by: 1, so that the quotient is a mean. */
  protected divisor(_label: number): number {
    return 1;
  }

  protected finish(quotient: number): number {
    return quotient;
  }

  update(
    labels: ArrayLike<number>,
    predictions: ArrayLike<number>,
    weights?: ArrayLike<number>,
    _groups?: GroupKeys,
  ): void {
    checkPortion(this.name, labels, { predictions, weights });
    if (this.probabilities) checkProbabilities(this.name, predictions);
    for (let i = 0; i < labels.length; i++) {
      const weight = weights?.[i] ?? 1;
      this.#above += weight * this.term(labels[i]!, predictions[i]!);
      this.#below += weight * this.divisor(labels[i]!);
    }
  }

  merge(other: Metric): void {
    const from = sameKind<Sums>(this, other);
    this.#above += from.#above;
    this.#below += from.#below;
  }

  result(): number | null {
    return this.#below === 0 ? null : this.finish(this.#above / this.#below);
  }
}

/** Cross entropy of probabilities, which are kept this far from 0 and 1. */
const PROBABILITY_MARGIN = 1e-7;

/** Mean cross entropy of labels and probabilities. */
export class LogLoss extends Sums {
  readonly name = 'logLoss';
  protected override readonly probabilities = true;

  protected term(label: number, prediction: number): number {
    const p = Math.min(1 - PROBABILITY_MARGIN, Math.max(PROBABILITY_MARGIN, prediction));
    return -label * Math.log(p) - (1 - label) * Math.log1p(-p);
  }
}

/** Square root of the mean of the squared differences. */
export class RootMeanSquaredError extends Sums {
  readonly name = 'rmse';

  protected term(label: number, prediction: number): number {
    return (prediction - label) ** 2;
  }

  protected override finish(mean: number): number {
    return Math.sqrt(mean);
  }
}

/** Mean of the absolute differences. */
export class MeanAbsoluteError extends Sums {
  readonly name = 'mae';

  protected term(label: number, prediction: number): number {
    return Math.abs(prediction - label);
  }
}

/** Share of examples whose prediction is on the side of the threshold that their label (above 0 or not) says. */
export class Accuracy extends Sums {
  readonly name: string;
  readonly #threshold: number;

  constructor(options: { readonly threshold?: number } = {}) {
    super();
    checkOptions('Accuracy', options, ['threshold']);
    this.#threshold = options.threshold ?? 0.5;
    this.name = options.threshold === undefined ? 'accuracy' : `accuracy@${options.threshold}`;
  }

  protected term(label: number, prediction: number): number {
    return Number(prediction > this.#threshold === label > 0);
  }
}

/** Mean prediction over mean label: 1 is right, above 1 too high. Null where all labels are 0. */
export class Calibration extends Sums {
  readonly name = 'calibration';

  protected term(_label: number, prediction: number): number {
    return prediction;
  }

  protected override divisor(label: number): number {
    return label;
  }
}
