/**
 * @file Names of sharded files and the check that a set of them is complete (runtime/ops/file_utils).
 *
 * Messages keep the wording of the reference, which callers match.
 */
import { MonolithError } from '../base/errors.js';

const ROWS_PER_SHARD = 1_000_000;
const SHARD_COUNT_MAX = 4;

const five = (value: number): string => String(value).padStart(5, '0');

/** `<base>-00000-of-00002` */
export function shardFileName(base: string, shard: number, shardCount: number): string {
  return `${base}-${five(shard)}-of-${five(shardCount)}`;
}

/** Shards of a table: the configured count when there is one, else one per million rows, from one to four. */
export function shardCountOf(rowCount: number, configured = -1): number {
  if (configured >= 0) return configured;
  return Math.min(SHARD_COUNT_MAX, Math.max(1, Math.floor(rowCount / ROWS_PER_SHARD)));
}

/** Ranks of rows, `end` not included. */
export interface RowRange {
  readonly begin: number;
  readonly end: number;
}

/** The rows of shard `shard` of `shardCount`: contiguous, sizes that differ by at most one. */
export function shardRange(rowCount: number, shard: number, shardCount: number): RowRange {
  const each = Math.floor(rowCount / shardCount);
  const rest = rowCount % shardCount;
  const begin = shard * each + Math.min(shard, rest);
  return { begin, end: begin + each + (shard < rest ? 1 : 0) };
}

/** Base name of a table's files: separators would make directories of it. */
export function tableBaseName(tableName: string): string {
  return tableName.replace(/[:/]/g, '-');
}

/**
 * The shards of `base` among `names`, in shard order. Names of `base` that do not end in `-ddddd-of-ddddd`, such as
 * temporary files, are ignored; anything else that does not fit is ML_CKPT_SHARDS.
 */
export function validateShardedFiles(base: string, names: readonly string[]): string[] {
  const found = new Map<number, string>();
  let shardCount = -1;
  for (const name of names) {
    if (!name.startsWith(base)) refuse(`Filename ${name} doesn't belong to ${base}`);
    const match = /^-(\d{5})-of-(\d{5})$/.exec(name.slice(base.length));
    if (match === null) continue;
    const shard = Number(match[1]);
    const count = Number(match[2]);
    if (shardCount >= 0 && count !== shardCount) refuse(`Filename ${name} doesn't match nshards. ${shardCount}`);
    shardCount = count;
    if (shard >= count) refuse(`Shard ${shard}exceeds ${count} for ${name}`);
    found.set(shard, name);
  }
  if (shardCount < 0) refuse(`There is no valid sharded files for ${base}`);
  return Array.from({ length: shardCount }, (_, shard) => {
    return found.get(shard) ?? refuse(`Shard ${shard} doesn't show up for ${base}`);
  });
}

function refuse(reason: string): never {
  throw new MonolithError('ML_CKPT_SHARDS', { reason });
}
