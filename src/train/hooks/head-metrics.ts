/** @file `<head>_auc` and `<head>_mse` of a training: over the batches whose summaries are written, since the start. */
import type { Tensor } from '../../graph/graph.js';
import type { SummaryValue } from '../../io/event-messages.js';
import { ThresholdAuc } from '../../metrics/bucketed-auc.js';
import { RootMeanSquaredError } from '../../metrics/means.js';
import type { Metric } from '../../metrics/metric.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch } from '../../runtime/session/session.js';
import { scalarValue } from '../../summary/summary-values.js';

/** What a model predicts: a probability of a class, or a number. */
export interface SummaryHead {
  readonly name: string;
  readonly label: Tensor;
  readonly pred: Tensor;
  /** Default: true. */
  readonly classification?: boolean;
}

interface Counted {
  readonly head: SummaryHead;
  readonly metric: Metric;
}

export class HeadMetrics {
  readonly fetches: readonly Fetch[];
  readonly #heads: readonly Counted[];

  constructor(heads: readonly SummaryHead[]) {
    this.fetches = heads.flatMap(({ label, pred }) => [label, pred]);
    this.#heads = heads.map((head) => ({
      head,
      metric: head.classification === false ? new RootMeanSquaredError() : new ThresholdAuc(),
    }));
  }

  /** Counts a batch, in the order of `fetches`; what there is to write of it. */
  points(values: readonly FetchValue[]): SummaryValue[] {
    return this.#heads.flatMap(({ head: { name, classification }, metric }, index) => {
      metric.update(values[2 * index] as Float32Array, values[2 * index + 1] as Float32Array);
      const result = metric.result();
      if (result === null) return [];
      return classification === false
        ? [scalarValue(`${name}_mse`, result ** 2)]
        : [scalarValue(`${name}_auc`, result)];
    });
  }
}
