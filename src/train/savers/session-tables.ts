/** @file The tables and filters of a session as listeners of saves and restores go over them, and their limits. */
import { MonolithError } from '../../base/errors.js';
import { filtersOf, tableConfigs } from '../../checkpoint/session-snapshot.js';
import type { Session } from '../../runtime/session/session.js';
import type { AdmissionFilter } from '../../sparse/admission/filter-memory.js';
import { sharedName } from '../../sparse/config/shared-name.js';
import { HashTable } from '../../sparse/table/hash-table.js';

export interface SessionTable {
  readonly name: string;
  /** Names that older checkpoints may have it under. */
  readonly extraRestoreNames: readonly string[];
  readonly table: HashTable;
}

/** The tables of the session, in the order they were made. */
export function tablesIn(session: Session): SessionTable[] {
  return tableConfigs(session).map((config) => {
    const { extraRestoreNames } = config.instance;
    return { name: config.name, extraRestoreNames, table: HashTable.of(session, config) };
  });
}

/** A table's name in a set of several tables: without what single ones have before it. */
export function bareName(name: string): string {
  const prefix = sharedName('hashTable', '');
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** Base name of the files of several tables of one process. */
export const MULTI_TABLE_BASE = sharedName('multiHashTable', '');

/** The filters of the session by the names of their files. */
export function filtersIn(session: Session): { readonly name: string; readonly filter: AdmissionFilter }[] {
  return filtersOf(session).map((filter, server) => ({ name: `hash_filter_${server}`, filter }));
}

export const TABLES_LIMIT_MS = 60 * 60_000;
export const FILTERS_LIMIT_MS = 30 * 60_000;

/**
 * Runs `action` in the session's turn. ML_DEADLINE when it is not done in time: it goes on until it is, and steps wait.
 */
export async function heldWithin<T>(
  session: Session,
  what: string,
  timeoutMs: number,
  action: () => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new MonolithError('ML_DEADLINE', { what, timeoutMs })), timeoutMs);
  });
  try {
    return await Promise.race([session.hold(action), late]);
  } finally {
    clearTimeout(timer);
  }
}
