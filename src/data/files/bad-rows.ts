/** @file What is done with rows that cannot be read: the first is an error, or they are counted and left out. */
import { MonolithError } from '../../base/errors.js';

/** What to do with rows that cannot be read. */
export interface BadRowOptions {
  /** What a row that cannot be read does: `stop` is an error, `skip` leaves it out. Default: `stop`. */
  readonly badRows?: 'stop' | 'skip';
  /** How many may be left out in a pass before it is an error after all. Default: 1000. */
  readonly badRowsMax?: number;
}

/** Rows that were left out, and the last few errors. */
export interface BadRowsFound {
  badRows: number;
  readonly badRowErrors: MonolithError[];
}

const BAD_ROWS_MAX = 1000;
/** Errors that are kept: the last ones. */
const KEPT = 5;

/** Told of a row of one pass that cannot be read: throws, or notes it. `badRows` of all passes are counted. */
export function badRowsOf(
  { badRows = 'stop', badRowsMax = BAD_ROWS_MAX }: BadRowOptions,
  findings: BadRowsFound,
): (error: MonolithError) => void {
  let left = 0;
  return (error) => {
    if (badRows === 'stop') throw error;
    if (left++ >= badRowsMax) {
      const reason = `${badRowsMax} rows could not be read and were left out; the next one: ${error.message}`;
      throw new MonolithError('ML_DATASET', { reason }, { hint: 'badRowsMax allows more', cause: error });
    }
    findings.badRows++;
    findings.badRowErrors.push(error);
    if (findings.badRowErrors.length > KEPT) findings.badRowErrors.shift();
  };
}
