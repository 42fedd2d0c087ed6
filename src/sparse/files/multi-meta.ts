/** @file `<base>.meta-i-of-n`: which tables a shard of a multi table holds, in order, and how many rows of each. */
import { MonolithError } from '../../base/errors.js';
import { type FileSystem, nodeFileSystem } from '../../base/files/file-system.js';
import { checkLimit } from '../../base/limits.js';
import { ProtoReader } from '../../io/proto-reader.js';
import { ProtoWriter, WIRE_VARINT } from '../../io/proto-writer.js';
import { RecordReader } from '../../io/record-reader.js';
import { shardFilesOf } from './restore-table.js';
import { corruptRecord, readError } from './row-errors.js';

/** MultiHashTableMetadata. */
export interface TableMeta {
  readonly name: string;
  /** Rows of the table in this shard. */
  readonly entries: number;
}

export const META_SUFFIX = '.meta';

export function encodeMeta({ name, entries }: TableMeta): Uint8Array {
  return new ProtoWriter().bytesField(1, new TextEncoder().encode(name)).tag(2, WIRE_VARINT).varint(entries).finish();
}

/** All records of one meta file. */
export function readMeta(file: string): TableMeta[] {
  const found: TableMeta[] = [];
  try {
    for (const payload of new RecordReader(file)) {
      found.push(decodeMeta(payload));
      checkLimit('tables', found.length, (reason) => refuseMeta('table_name', `the number of tables ${reason}`));
    }
  } catch (cause) {
    if (!(cause instanceof MonolithError)) throw cause;
    const { code, fields } = cause;
    if (code === 'ML_FILE_READ') throw readError(file, cause.cause);
    const place = { file, record: found.length };
    const text = code === 'ML_RECORD' ? 'Read table metadata failed!' : 'Parse table metadata failed!';
    throw corruptRecord(place, String(fields.field), `${text} ${fields.reason}`, cause);
  }
  return found;
}

function decodeMeta(payload: Uint8Array): TableMeta {
  const reader = new ProtoReader(payload);
  let name: string | null = null;
  let entries = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) name = reader.string();
    else if (field === 2) entries = reader.uint();
    else reader.skip();
  }
  if (name === null) return refuseMeta('table_name', 'is missing');
  checkLimit('nameBytes', name.length, (reason) => refuseMeta('table_name', `its size ${reason}`));
  return { name, entries };
}

function refuseMeta(field: string, reason: string): never {
  throw new MonolithError('ML_PROTO', { field, offset: 0, reason });
}

/**
 * Rows per table over all shards of a multi table, by name.
 *
 * ```ts
 * const rows = (await featureStat('model.ckpt-10.assets/MonolithMultiHashTable_')).get('fc_slot_1');
 * ```
 */
export async function featureStat(base: string, fs: FileSystem = nodeFileSystem): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const file of await shardFilesOf(`${base}${META_SUFFIX}`, fs)) {
    for (const { name, entries } of readMeta(file)) counts.set(name, (counts.get(name) ?? 0) + entries);
  }
  return counts;
}
