/**
 * @file Where counts and times of a running job go: an interface for the monitoring that people have, and none where
 * nobody asks for it.
 *
 * Names are given without their prefix; a client puts the one of metric-prefix.ts in front.
 */
export type MetricTags = Readonly<Record<string, string>>;

export interface MetricsClient {
  /** A value that replaces the one before. */
  emitStore(name: string, value: number, tags?: MetricTags): void;
  emitCounter(name: string, value: number, tags?: MetricTags): void;
  /** A duration. */
  emitTimer(name: string, value: number, tags?: MetricTags): void;
  flush(): void | Promise<void>;
}

/** Takes everything and keeps nothing. */
export const noMetrics: MetricsClient = {
  emitStore() {},
  emitCounter() {},
  emitTimer() {},
  flush() {},
};
