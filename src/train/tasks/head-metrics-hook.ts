/**
 * @file `<head>_auc` and `<head>_mse` over the batches that were trained on, as MonolithBaseModel reports them.
 *
 * Predictions are looked at after every step, so that steps run one by one: it is for who asks for it.
 */
import { log } from '../../base/log.js';
import type { Tensor } from '../../graph/graph.js';
import { ThresholdAuc } from '../../metrics/bucketed-auc.js';
import { RootMeanSquaredError } from '../../metrics/means.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch } from '../../runtime/session/session.js';
import type { RunContext, TrainHook } from '../hooks/hook.js';
import type { TaskHead } from './task-heads.js';

/** Values by name, null where undefined. */
export type HeadValues = Readonly<Record<string, number | null>>;

class HeadMetricsHook implements TrainHook {
  readonly #heads: readonly (TaskHead & { readonly label: Tensor })[];
  readonly #metrics;
  readonly #fetches: readonly Fetch[];

  constructor(heads: readonly TaskHead[]) {
    this.#heads = heads.flatMap((head) => (head.label === null ? [] : [{ ...head, label: head.label }]));
    this.#metrics = this.#heads.map(({ classification }) =>
      classification ? new ThresholdAuc() : new RootMeanSquaredError(),
    );
    this.#fetches = this.#heads.flatMap(({ pred, label }) => [pred, label]);
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  afterRun(_context: RunContext, values: readonly FetchValue[]): void {
    for (const [index, metric] of this.#metrics.entries()) {
      metric.update(values[2 * index + 1] as Float32Array, values[2 * index] as Float32Array);
    }
  }

  end(): void {
    log.info('metrics of training', this.values);
  }

  /** So far. */
  get values(): HeadValues {
    const named = this.#metrics.map((metric, index) => {
      const { name, classification } = this.#heads[index]!;
      const found = metric.result();
      return classification ? [`${name}_auc`, found] : [`${name}_mse`, found === null ? null : found * found];
    });
    return Object.fromEntries(named);
  }
}

export function headMetricsHook(heads: readonly TaskHead[]): TrainHook & { readonly values: HeadValues } {
  return new HeadMetricsHook(heads);
}
