/** @file Data that is made up where a file would be named: `--data demo:clicks`. */
import { MonolithError } from '../base/errors.js';
import { suggest } from '../base/suggest.js';
import { ClickLog } from './click-log.js';

const PREFIX = 'demo:';
const NAMES = ['clicks'];
/** Some hundred thousand ids, and half a minute on two cores. */
const ROWS = 200_000;
const ROWS_MIN = 1000;
const ROWS_MAX = 10_000_000;
/** Who clicks on what: the same for every run, whatever its own seed is. */
const SEED = 2026;

export interface DemoData {
  readonly rows: ClickLog;
  readonly label: string;
}

export const isDemo = (data: string): boolean => data.startsWith(PREFIX);

/**
 * The rows of `demo:clicks`, or of `demo:clicks:50000` so many. A run that is gone on with gets those that came after:
 * `part` counts what it was trained on before. ML_FLAG for what there is not.
 */
export function demoData(data: string, part = 0): DemoData {
  const [name = '', count, ...more] = data.slice(PREFIX.length).split(':');
  if (!NAMES.includes(name) || more.length > 0) {
    const near = suggest(name, NAMES);
    const hint = near === undefined ? 'there is demo:clicks' : `did you mean ${PREFIX}${near}?`;
    throw new MonolithError('ML_FLAG', { flag: `--data ${data}`, reason: 'there is no such demo' }, { hint });
  }
  const rows = count === undefined ? ROWS : Number(count);
  if (!Number.isInteger(rows) || rows < ROWS_MIN || rows > ROWS_MAX) {
    const hint = `demo:clicks:50000 has so many rows, from ${ROWS_MIN} to ${ROWS_MAX}`;
    throw new MonolithError('ML_FLAG', { flag: `--data ${data}`, reason: `${count} is no number of rows` }, { hint });
  }
  return { rows: new ClickLog({ rows, seed: SEED, first: part * rows }), label: 'click' };
}
