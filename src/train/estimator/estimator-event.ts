/** @file What an estimator tells of as it happens: one object an event, for logs and screens. */
import type { RestoreReport } from '../../checkpoint/restore-report.js';
import type { EvaluationReport } from '../hooks/evaluation.js';
import type { Progress } from '../hooks/progress.js';

/** What a run begins with, by whomever it is told. */
export interface StartFacts {
  readonly model: string;
  readonly backend: string;
  /** Why `auto` took that backend; null when it was named. */
  readonly backendWhy: string | null;
  /** The name of what computes. */
  readonly device: string;
  /** The build of the kernels. */
  readonly kernels: string;
  readonly threads: number;
  readonly batchSize: number;
  readonly startStep: number;
  readonly modelDir: string | null;
}

export type EstimatorEvent =
  | ({
      readonly event: 'start';
      /** Where training stops at the latest; null where the data decides. */
      readonly endStep: number | null;
      /** What training goes on from. */
      readonly restored: RestoreReport | null;
    } & StartFacts)
  | ({ readonly event: 'progress' } & Progress)
  | ({ readonly event: 'eval' } & EvaluationReport)
  | {
      readonly event: 'checkpoint';
      readonly step: number;
      readonly path: string;
      readonly bytes: number;
      readonly ms: number;
    }
  | { readonly event: 'best'; readonly step: number; readonly metric: string; readonly value: number | null }
  | { readonly event: 'note'; readonly message: string }
  | { readonly event: 'warning'; readonly code: string; readonly message: string };
