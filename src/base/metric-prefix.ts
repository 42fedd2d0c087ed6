/**
 * @file The prefix of metric names, kept in the environment so that processes started from here have it too (utils).
 */
const VARIABLE = 'MONOLITH_METRIC_PREFIX';

/** Sets what the names of metrics begin with. */
export function setMetricPrefix(prefix: string): void {
  process.env[VARIABLE] = prefix;
}

/** What was set, or `monolith.training`. */
export function getMetricPrefix(): string {
  return process.env[VARIABLE] ?? 'monolith.training';
}
