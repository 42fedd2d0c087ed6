/**
 * @file What parameters are pushed to, and what a push is told and tells: the messages of native_training's
 * parameter_sync by their names. Status codes are those of gRPC.
 */
import type { ExportableModel } from '../trained-model.js';
import type { Delta, FreshState } from './delta-files.js';

/** Where to push. */
export interface ClientConfig {
  readonly modelName: string;
  /** Default: `hashtable_assign`. */
  readonly signatureName?: string;
  /** `folder:DIR` or `local:NAME`. */
  readonly targets: readonly string[];
  /** How long a push may take. Default: 1000. */
  readonly timeoutInMs?: number;
}

/** What became of a push to one target. */
export interface PushResponse {
  /** 0: it has what was pushed. */
  readonly statusCode: number;
  readonly errorMessage: string;
  readonly target: string;
  /** Rows that it took, those that are gone too. */
  readonly updateNum: number;
  /** Bytes that were written for it. */
  readonly bytes: number;
}

export interface PushResult {
  readonly responses: readonly PushResponse[];
}

/** Everything that a training has, after a delta of it. */
export interface Whole extends FreshState {
  readonly model: ExportableModel;
}

export interface Pushed {
  readonly rows: number;
  readonly bytes: number;
}

/** Takes what a training learnt. One that failed gets everything with the next push. */
export interface SyncTarget {
  /** Whether it needs everything, for a reason of its own. */
  readonly asks: boolean;
  /** Called while no step runs. */
  whole(all: Whole, signal: AbortSignal): Promise<Pushed>;
  push(delta: Delta, signal: AbortSignal): Promise<Pushed>;
}

export const rowsOf = ({ tables }: Delta): number =>
  tables.reduce((sum, { ids, removed }) => sum + ids.length + removed.length, 0);
