/** @file Metrics over predictions: at once, or in portions. `metrics` of the package. */
export { auc } from '../metrics/auc.js';
export { type BucketCounts, BucketedAuc, ThresholdAuc } from '../metrics/bucketed-auc.js';
export { createMetric, type MetricName } from '../metrics/create-metric.js';
export { ExactAuc } from '../metrics/exact-auc.js';
export { GroupedAuc, NdcgAtK, RecallAtK } from '../metrics/grouped.js';
export { Accuracy, Calibration, LogLoss, MeanAbsoluteError, RootMeanSquaredError } from '../metrics/means.js';
export type { GroupKeys, Metric } from '../metrics/metric.js';
