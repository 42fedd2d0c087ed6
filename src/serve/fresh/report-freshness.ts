/** @file Keeps what answers were worth by how often servers looked for what was learnt, and plots it in the report. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError, messageOf } from '../../base/errors.js';

export interface FreshnessResult {
  /** What intervals are counted in. Default: `steps`. */
  readonly unit?: string;
  /** By interval, ascending: the AUC of each run, as many for all. */
  readonly points: readonly { readonly interval: number; readonly aucs: readonly number[] }[];
}

/**
 * Adds the result to the events of the run in `dir`, and makes its `report.html`, with a table and a plot.
 *
 * ```ts
 * const points = [{ interval: 1, aucs: [0.65, 0.64] }, { interval: 8, aucs: [0.52, 0.53] }];
 * await reportFreshness('runs/drift', { points });
 * ```
 *
 * Returns the name of the page. ML_OPTION for intervals that do not ascend, or runs that differ in number.
 */
export async function reportFreshness(dir: string, result: FreshnessResult): Promise<string> {
  const { unit = 'steps', points } = checkOptions('reportFreshness', result, ['unit', 'points']);
  const refuse = (reason: string) =>
    new MonolithError('ML_OPTION', { where: 'reportFreshness', option: 'points', reason });
  if (!Array.isArray(points) || points.length === 0) throw refuse('there are no points');
  const runs = points[0]!.aucs.length;
  for (const [at, { interval, aucs }] of points.entries()) {
    if (!(interval > (points[at - 1]?.interval ?? 0)) || !Number.isFinite(interval)) {
      throw refuse(`interval ${interval} at ${at}: intervals are above zero and ascend`);
    }
    const isAuc = (auc: number) => auc >= 0 && auc <= 1;
    if (aucs.length !== runs || runs === 0 || !aucs.every(isAuc)) {
      throw refuse(`the runs of interval ${interval} are not ${Math.max(1, runs)} numbers from 0 to 1`);
    }
  }
  // Pages are a large part: who serves without a report does not load them.
  const [{ EVENTS_FILE, eventLine }, { writeReport }] = await Promise.all([
    import('../../report/event-lines.js'),
    import('../../report/write-report.js'),
  ]);
  const file = join(dir, EVENTS_FILE);
  try {
    mkdirSync(dir, { recursive: true });
    appendFileSync(file, eventLine({ event: 'freshness', unit, points, atMs: 0 }));
  } catch (cause) {
    throw new MonolithError('ML_OUTPUT', { reason: `${file}: ${messageOf(cause)}` }, { cause });
  }
  return writeReport(dir);
}
