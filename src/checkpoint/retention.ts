/**
 * @file Which checkpoints a save keeps (the rotation of save_utils).
 */
import { basename } from 'node:path';

export interface Retention {
  /** What the state file lists, oldest first, the added one last. */
  readonly listed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Adds `added` to the list and drops the oldest until at most `keep` are left that are not exempt. Exempt checkpoints
 * are compared by base name, never dropped and never counted. `keep` 0 records nothing and removes nothing.
 */
export function retain(
  known: readonly string[],
  added: string,
  keep: number,
  exempt: readonly string[] = [],
): Retention {
  if (keep === 0) return { listed: [added], removed: [] };
  const spared = new Set(exempt.map((path) => basename(path)));
  const listed = [...known.filter((path) => path !== added), added];
  const droppable = listed.filter((path) => !spared.has(basename(path)));
  const removed = droppable.slice(0, Math.max(0, droppable.length - keep));
  return { listed: listed.filter((path) => !removed.includes(path)), removed };
}
