/**
 * @file What happens in a run, one object an event: what `--json` prints and `events.jsonl` keeps. Screens, reports and
 * comparisons are made of these and nothing else.
 */
import type { EstimatorEvent } from '../train/estimator/estimator-event.js';
import type { ColumnPlan } from './recipe.js';

export interface ColumnFound extends ColumnPlan {
  /** Of the rows that were looked at. */
  readonly distinct: number;
  /** Whether there are more than were counted. */
  readonly more: boolean;
  /** Share of cells with nothing in them. */
  readonly missing: number;
  readonly least: number | null;
  readonly most: number | null;
  readonly mean: number | null;
  readonly top: readonly { readonly value: string; readonly share: number }[];
}

export interface DataEvent {
  readonly event: 'data';
  readonly source: string;
  readonly files: readonly {
    readonly file: string;
    readonly bytes: number | null;
    /** When it was last written, as an ISO date. */
    readonly modified: string | null;
    readonly notes: readonly string[];
  }[];
  readonly rows: number;
  readonly looked: number;
  readonly sides: readonly { readonly file: string; readonly key: string }[];
  readonly columns: readonly ColumnFound[];
  readonly label: string;
  readonly labelColumn: string;
  /** Share of rows whose label is 1. */
  readonly positive: number;
  readonly badRows: number;
  readonly badRowExamples: readonly string[];
}

export interface SplitEvent {
  readonly event: 'split';
  /** `time`, `row`, `files`, or a column. */
  readonly by: string;
  readonly train: number;
  readonly validation: number;
  readonly test: number;
  /** By column of ids: the share of test rows whose id training never sees. */
  readonly unseen: Readonly<Record<string, number>>;
  /** By column of ids: the share of those that training has which it meets a single time. */
  readonly once?: Readonly<Record<string, number>>;
  /** Seconds since 1970 of the first row that reports. */
  readonly cut: number | null;
  /** By column of one id or one number, where it was counted. */
  readonly drift?: Readonly<Record<string, Drift>>;
}

/** How far a column moves, as population stability index; null where there are too few rows to say. */
export interface Drift {
  /** What is held out against what is trained on. */
  readonly held: number | null;
  /** The last tenth of the rows that are trained on against the first. */
  readonly last: number | null;
}

/** How a run came to be: enough to get it again. */
export interface RunInfo {
  readonly command: readonly string[];
  /** Every setting with where it came from. */
  readonly settings: Readonly<Record<string, { readonly value: unknown; readonly origin: string }>>;
  readonly version: string;
  /** Module of the model, of a run of one's own; null of a table. */
  readonly module: string | null;
}

/** How a run was made, with machine and time: the first event of a run. */
export interface RunRecord extends RunInfo {
  readonly started: string;
  readonly node: string;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memory: number; readonly system: string };
  readonly commit: string | null;
  readonly folder: string;
}

/** Where the time of the last steps went, after an evaluation; shares of 1. */
export interface TimeEvent {
  readonly event: 'time';
  readonly step: number;
  readonly kernels: number;
  readonly waits: number;
  readonly javascript: number;
  readonly threads: readonly { readonly name: string; readonly busy: number; readonly waiting: number }[];
}

/** Where the tables stand after an evaluation. */
export interface TablesEvent {
  readonly event: 'tables';
  readonly step: number;
  readonly rows: number;
  readonly bytes: number;
  /** Memory of the process. */
  readonly rss: number;
  readonly each: readonly {
    readonly name: string;
    readonly rows: number;
    readonly bytes: number;
    /** Floats of a row that the model sees. */
    readonly dim: number;
  }[];
}

/** How training ended. */
export interface TrainedEvent {
  readonly event: 'trained';
  readonly step: number;
  readonly epochs: number;
  readonly bestStep: number | null;
  readonly stoppedBy: string;
  readonly seconds: number;
  readonly examplesPerS: number;
}

/** What the rows that report come to. */
export interface TestEvent {
  readonly event: 'test';
  readonly step: number;
  readonly auc: number | null;
  readonly loss: number;
  readonly examples: number;
  /** Others, by name, of a model that predicts no probability. */
  readonly metrics?: Readonly<Record<string, number | null>>;
  /** The mean prediction over the mean label. */
  readonly calibration: number;
  /** AUC among the rows of one value, such as a user, over the values: what ranks for each of them. */
  readonly gauc?: { readonly column: string; readonly value: number | null } | null;
  readonly baseline: { readonly auc: number | null; readonly loss: number; readonly columns: readonly string[] } | null;
  /** The AUC of who knows how the labels were drawn: of generated data alone. */
  readonly ceiling: number | null;
  /** Predictions by label in 20 equal parts from 0 to 1. */
  readonly histogram: { readonly zeros: readonly number[]; readonly ones: readonly number[] };
  /** Rows in ten parts of equal size by prediction. */
  readonly deciles: readonly { readonly predicted: number; readonly found: number; readonly rows: number }[];
  /** Points of the ROC curve. */
  readonly roc: readonly (readonly [falseShare: number, trueShare: number])[];
}

export interface DoneEvent {
  readonly event: 'done';
  readonly step: number;
  readonly loss: number | null;
  readonly auc: number | null;
  readonly evalLoss: number | null;
  readonly baselineAuc: number | null;
  readonly epochs: number;
  readonly bestStep: number | null;
  readonly seconds: number;
  readonly examplesPerS: number;
  readonly stepsPerS: number;
  readonly threads: number;
  readonly backend: string;
  readonly checkpoint: string | null;
  readonly modelDir: string | null;
  readonly report: string | null;
  readonly trace: string | null;
  readonly stoppedBy: string;
  readonly interrupted: boolean;
}

/** What answers were worth by how often servers looked for what was learnt. */
export interface FreshnessEvent {
  readonly event: 'freshness';
  /** What intervals are counted in. */
  readonly unit: string;
  /** Ascending by interval, with the AUC of each run. */
  readonly points: readonly { readonly interval: number; readonly aucs: readonly number[] }[];
}

export type RunEvent =
  | EstimatorEvent
  | DataEvent
  | SplitEvent
  | TrainedEvent
  | TestEvent
  | DoneEvent
  | { readonly event: 'model'; readonly name: string; readonly text: string; readonly ids: number }
  | ({ readonly event: 'run' } & RunRecord)
  | TablesEvent
  | TimeEvent
  | FreshnessEvent
  | { readonly event: 'asked'; readonly step: number; readonly what: string }
  | { readonly event: 'error'; readonly code: string; readonly message: string; readonly hint: string | null };

/** An event as it is kept: with the milliseconds since the run began. */
export type KeptEvent = RunEvent & { readonly atMs: number };
