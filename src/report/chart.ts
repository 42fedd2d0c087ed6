/** @file A plot of a page as plain data: the report makes it, the script of the page draws it. */

export interface ChartSeries {
  readonly label: string;
  /** As many as the chart has places; null where there is nothing to draw. */
  readonly values: readonly (number | null)[];
  /** Which of the colours of the page. */
  readonly color: 1 | 2 | 3 | 4;
  readonly dots?: boolean;
  readonly dashed?: boolean;
  readonly faint?: boolean;
}

export interface Chart {
  readonly id: string;
  readonly title: string;
  readonly kind: 'lines' | 'bars';
  /** What stands below, such as `step`: charts of one name show the same place under the pointer. */
  readonly xLabel: string;
  /** Ascending. */
  readonly x: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Places that stand out. */
  readonly marks: readonly { readonly x: number; readonly label: string }[];
  /** Least and most of the values; as they come where absent. */
  readonly range?: readonly [number, number];
  /** How values are written: with a unit for sizes and shares. */
  readonly unit?: 'bytes' | 'percent';
}

/** The element of a page in which its charts are, as JSON. */
export const CHARTS_ID = 'charts';
/** The element of a page in which the events of the run are. */
export const EVENTS_ID = 'events';
