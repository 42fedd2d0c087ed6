/** @file Metrics by name. */
import { BucketedAuc, ThresholdAuc } from './bucketed-auc.js';
import { ExactAuc } from './exact-auc.js';
import { GroupedAuc, NdcgAtK, RecallAtK } from './grouped.js';
import { Accuracy, Calibration, LogLoss, MeanAbsoluteError, RootMeanSquaredError } from './means.js';
import { type Metric, refuse } from './metric.js';

const METRICS = {
  auc: () => new ExactAuc(),
  bucketedAuc: () => new BucketedAuc(),
  thresholdAuc: () => new ThresholdAuc(),
  logLoss: () => new LogLoss(),
  rmse: () => new RootMeanSquaredError(),
  mae: () => new MeanAbsoluteError(),
  accuracy: () => new Accuracy(),
  calibration: () => new Calibration(),
  gauc: () => new GroupedAuc(),
} as const;

const AT = { ndcg: (k: number) => new NdcgAtK(k), recall: (k: number) => new RecallAtK(k) } as const;

export type MetricName = keyof typeof METRICS | `${keyof typeof AT}@${number}`;

/** A new metric of this name: `createMetric('ndcg@10')`. */
export function createMetric(name: MetricName): Metric {
  const [kind, places] = name.split('@') as [string, string?];
  if (places === undefined && Object.hasOwn(METRICS, kind)) return METRICS[kind as keyof typeof METRICS]();
  if (places !== undefined && Object.hasOwn(AT, kind)) return AT[kind as keyof typeof AT](Number(places));
  const known = [...Object.keys(METRICS), ...Object.keys(AT).map((at) => `${at}@k`)].join(', ');
  throw refuse(name, `there is none of this name; there are ${known}`);
}
