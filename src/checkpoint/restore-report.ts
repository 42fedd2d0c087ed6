/** @file What a restore did, or refused to do, for each variable, table and filter. */
import type { RestoreMode } from './restore-options.js';

/**
 * - `restored`: it has what the checkpoint holds; `reshaped`: in another shape.
 * - `initialised`: the checkpoint does not have it, and that was allowed: it has its initial values, a table has no
 *   rows.
 * - `extra`: only the checkpoint has it, and that was allowed.
 * - `missing`, `refused`: not in the checkpoint, or one of the two with a difference that was not allowed. In errors
 *   only.
 */
export type RestoreOutcome = 'restored' | 'reshaped' | 'initialised' | 'extra' | 'missing' | 'refused';

export interface RestoredItem {
  /** In the session; of an extra one, in the checkpoint. */
  readonly name: string;
  readonly outcome: RestoreOutcome;
  /** Its name in the checkpoint, where that is another one. */
  readonly from?: string;
  /** Why, where the outcome does not say it all. */
  readonly reason?: string;
}

export interface RestoreReport {
  /** Prefix of the checkpoint. */
  readonly path: string;
  readonly mode: RestoreMode;
  /** Global step of the checkpoint; null when it has none. */
  readonly step: number | null;
  readonly tensors: readonly RestoredItem[];
  readonly tables: readonly RestoredItem[];
  readonly filters: readonly RestoredItem[];
}

/** The report as a line of text: how many of each outcome, and the names of those that are not simply restored. */
export function reportText({ path, tensors, tables, filters }: RestoreReport): string {
  const parts = [`${path}: ${countText(tensors, 'variable')}, ${countText(tables, 'table')} restored`];
  for (const outcome of ['reshaped', 'initialised', 'extra', 'missing', 'refused'] as const) {
    const names = [...tensors, ...tables, ...filters].filter((item) => item.outcome === outcome).map(nameText);
    if (names.length > 0) parts.push(`${outcome}: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}`);
  }
  return parts.join('; ');
}

function countText(items: readonly RestoredItem[], what: string): string {
  const count = items.filter(({ outcome }) => outcome === 'restored' || outcome === 'reshaped').length;
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function nameText({ name, from, reason }: RestoredItem): string {
  return `${name}${from === undefined ? '' : ` from ${from}`}${reason === undefined ? '' : ` (${reason})`}`;
}
