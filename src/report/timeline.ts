/** @file A trace as its page has it: the report packs it, the script of the page unpacks and draws it. */

/** Spans of one thread that lie inside as many others: none of them overlap. */
export interface TimelineLane {
  /** Where its spans begin among all. */
  readonly first: number;
  readonly count: number;
}

export interface TimelineRow {
  readonly name: string;
  readonly lost: number;
  readonly lanes: readonly TimelineLane[];
}

export interface TimelineCounter {
  readonly name: string;
  readonly first: number;
  readonly count: number;
  readonly least: number;
  readonly most: number;
}

export interface TimelineHeader {
  readonly wallUs: number;
  /** Names of spans, by their number. */
  readonly names: readonly { readonly name: string; readonly category: string }[];
  readonly rows: readonly TimelineRow[];
  readonly counters: readonly TimelineCounter[];
  readonly spans: number;
  readonly samples: number;
}

/** Elements of the page. The second has columns in base64: starts, durations and names of spans; times and values. */
export const TIMELINE_ID = 'timeline';
export const COLUMNS_ID = 'columns';
