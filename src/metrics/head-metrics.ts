/** @file The metrics of what a model predicts, by the kind of each head. */
import type { Tensor } from '../graph/graph.js';
import type { HeadKind } from '../model/heads.js';
import { ExactAuc } from './exact-auc.js';
import { MeanAbsoluteError, RootMeanSquaredError } from './means.js';
import { refuse } from './metric.js';

/** A head as far as evaluations know it. */
export interface EvaluatedHead {
  readonly name: string;
  readonly kind: HeadKind;
  readonly label: Tensor;
  readonly pred: Tensor;
}

/** Values by the name of a metric; null where one is undefined. */
export type MetricValues = Readonly<Record<string, number | null>>;

interface Accumulated {
  update(labels: Float32Array, predictions: Float32Array): void;
  results(): MetricValues;
}

/** Sums of one head: `auc` of probabilities, `mse`, `rmse` and `mae` of numbers, `accuracy` of classes. */
function accumulatorOf(kind: HeadKind): Accumulated {
  switch (kind) {
    case 'binary':
    case 'own': {
      const area = new ExactAuc();
      return { update: (labels, found) => area.update(labels, found), results: () => ({ auc: area.result() }) };
    }
    case 'regression':
      return errors();
    case 'multiclass':
      return accuracy();
    default:
      return kind satisfies never;
  }
}

function errors(): Accumulated {
  const [root, mean] = [new RootMeanSquaredError(), new MeanAbsoluteError()];
  return {
    update: (labels, found) => {
      root.update(labels, found);
      mean.update(labels, found);
    },
    results: () => {
      const rmse = root.result();
      return { mse: rmse === null ? null : rmse * rmse, rmse, mae: mean.result() };
    },
  };
}

/** The share of examples whose class has the largest value. */
function accuracy(): Accumulated {
  let [right, examples] = [0, 0];
  return {
    update: (labels, found) => {
      const classes = found.length / labels.length;
      if (!Number.isInteger(classes)) throw refuse('accuracy', `${found.length} values for ${labels.length} labels`);
      for (let example = 0; example < labels.length; example++) {
        const values = found.subarray(example * classes, (example + 1) * classes);
        if (values.indexOf(Math.max(...values)) === labels[example]) right++;
      }
      examples += labels.length;
    },
    results: () => ({ accuracy: examples === 0 ? null : right / examples }),
  };
}

/**
 * Metrics of all heads over a stream of batches. Those of a model with one head have their plain names, those of
 * several the name of the head before it: `click_auc`, `rating_mse`.
 */
export class HeadMetrics {
  readonly #heads: readonly { readonly head: EvaluatedHead; readonly sums: Accumulated }[];

  constructor(heads: readonly EvaluatedHead[]) {
    this.#heads = heads.map((head) => ({ head, sums: accumulatorOf(head.kind) }));
  }

  /** What `update` takes: prediction and label of each head. */
  get fetches(): readonly Tensor[] {
    return this.#heads.flatMap(({ head }) => [head.pred, head.label]);
  }

  update(values: readonly Float32Array[]): void {
    for (const [index, { sums }] of this.#heads.entries()) sums.update(values[2 * index + 1]!, values[2 * index]!);
  }

  results(): MetricValues {
    const isOne = this.#heads.length === 1;
    const named = this.#heads.flatMap(({ head, sums }) =>
      Object.entries(sums.results()).map(([name, value]) => [isOne ? name : `${head.name}_${name}`, value] as const),
    );
    return Object.fromEntries(named);
  }
}
