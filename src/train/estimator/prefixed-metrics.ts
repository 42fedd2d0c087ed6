/** @file Metrics of one model under the prefix that the reference gives them. */
import type { MetricsClient } from '../../base/metrics-client.js';
import { metricPrefixOf } from './estimator-model.js';

/** A client whose names begin with the prefix of the model. */
export function prefixedMetrics(name: string, client: MetricsClient): MetricsClient {
  const prefix = metricPrefixOf(name);
  return {
    emitStore: (metric, value, tags) => client.emitStore(`${prefix}.${metric}`, value, tags),
    emitCounter: (metric, value, tags) => client.emitCounter(`${prefix}.${metric}`, value, tags),
    emitTimer: (metric, value, tags) => client.emitTimer(`${prefix}.${metric}`, value, tags),
    flush: () => client.flush(),
  };
}
