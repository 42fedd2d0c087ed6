/** @file What a handler of requests is told, and what it is. */
import type { ServeMetrics } from './serve-metrics.js';

/** What a server takes at the most, and what it asks for. */
export interface HandlerOptions {
  /** Bytes of a body; more is 413. Default: 1 MiB. */
  readonly bodyBytesMax?: number;
  /** Rows of a request; more is 400. Default: 1024. */
  readonly rowsMax?: number;
  /** Requests that are not answered yet; more is 429. Default: 1000. */
  readonly openMax?: number;
  /** Milliseconds after which a request that is not answered is 504. Default: 5000. */
  readonly deadlineMs?: number;
  /** Refuse rows that lack a feature; without it each has its default. */
  readonly strict?: boolean;
  /** What requests have to bring: `Authorization: Bearer TOKEN`. Health and readiness are told to everybody. */
  readonly token?: string;
  readonly metrics?: ServeMetrics;
  /** What `/readyz` says. Default: that it is. */
  readonly ready?: () => boolean;
}

export type PredictHandler = (request: Request) => Promise<Response>;
