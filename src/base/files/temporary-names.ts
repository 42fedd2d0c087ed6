/**
 * @file Names of files that are being written: a reader passes over them, and a rename in the same directory ends them.
 */
import { randomBytes } from 'node:crypto';

const TEMPORARY = /(?:\.tmp[0-9a-f]{32}|-tmp-[0-9]+)$/;

/** `<name>.tmp<32 hex digits>`, the temporary name of state files and of everything this package writes. */
export function temporaryName(path: string): string {
  return `${path}.tmp${randomBytes(16).toString('hex')}`;
}

/** `<name>-tmp-<random u64>`, the temporary name of shards of tables and filters. */
export function shardTemporaryName(path: string): string {
  return `${path}-tmp-${randomBytes(8).readBigUInt64LE()}`;
}

/** True for temporary names of this package and of table shards of other writers (`-tmp-<decimal>`). */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}
