/** @file Whether and how the steps of a session are cut. */
import { MonolithError } from '../../base/errors.js';
import { OWNERS_MAX, PREFETCH_MAX } from '../../memory/limits.js';
import type { Cut } from '../compile/compile-environment.js';
import { LocalRows, type RowStore } from './row-store.js';

export interface CutOptions {
  /** Steps before its use that the rows of a batch are read. */
  readonly prefetch: number;
  readonly postpush: boolean;
  /** Default: the tables of the session, on its threads. */
  readonly rows?: RowStore | undefined;
}

/** How a session with these options cuts its steps; undefined when nothing asks for it. */
export function cutOf({ prefetch = 0, postpush = false, rows }: Partial<CutOptions>): CutOptions | undefined {
  if (!Number.isInteger(prefetch) || prefetch < 0 || prefetch > PREFETCH_MAX) {
    throw new MonolithError('ML_FLAG', {
      flag: 'prefetch',
      reason: `${String(prefetch)} is no whole number from 0 to ${PREFETCH_MAX}`,
    });
  }
  if (rows !== undefined) checkStore(rows);
  const { owners = 1 } = rows ?? {};
  if (!Number.isInteger(owners) || owners < 1 || owners > OWNERS_MAX) {
    throw new MonolithError('ML_FLAG', {
      flag: 'rows.owners',
      reason: `${String(owners)} is no whole number from 1 to ${OWNERS_MAX}`,
    });
  }
  if (prefetch === 0 && !postpush && rows === undefined) return undefined;
  return { prefetch, postpush, ...(!(rows instanceof LocalRows) && { rows }) };
}

/** ML_OPTION for what is no store: it would fail in the midst of a step. */
function checkStore(rows: RowStore): void {
  const lacks = (['pull', 'push'] as const).find((method) => typeof (rows as RowStore | null)?.[method] !== 'function');
  if (lacks === undefined) return;
  const hint = 'a store is an object with pull(lease, deadline) and push(lease, deadline), such as new LocalRows()';
  throw new MonolithError(
    'ML_OPTION',
    { where: 'Session.create', option: 'rows', reason: `it has no method ${lacks}` },
    { hint },
  );
}

/** What programs are compiled for. */
export function planOf({ prefetch, postpush, rows }: CutOptions): Cut {
  return { leases: prefetch + (postpush ? 2 : 1), isServed: rows !== undefined, owners: rows?.owners ?? 1 };
}
