/** @file Files of tables for the cases that save and restore. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProtoReader } from '../../src/io/proto-reader.js';
import { RecordReader } from '../../src/io/record-reader.js';
import { RecordWriter } from '../../src/io/record-writer.js';
import { restoreFilter, saveFilter } from '../../src/sparse/admission/filter-files.js';
import type { HashFilter } from '../../src/sparse/admission/hash-filter.js';
import { iterateTable, saveAsTensor } from '../../src/sparse/files/iterate-table.js';
import { restoreTable } from '../../src/sparse/files/restore-table.js';
import { saveTable } from '../../src/sparse/files/save-table.js';
import type { HashTable } from '../../src/sparse/table/hash-table.js';

/** Runs `body` with a directory of its own. */
export async function inDirectory<T>(body: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-parity-'));
  try {
    return await body(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The record of a payload. */
export async function recordOf(payload: Uint8Array): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const writer = new RecordWriter({ write: async (bytes) => void parts.push(bytes.slice()) });
  writer.add(payload);
  await writer.flush();
  return Uint8Array.from(Buffer.concat(parts));
}

/** Payloads of all records of the files. */
export function entryRecords(files: readonly string[]): Uint8Array[] {
  return files.flatMap((file) => {
    const reader = new RecordReader(file);
    const records = [...reader].map((record) => record.slice());
    reader.close();
    return records;
  });
}

/** Saves a table, and its filter if it has one; answers the files of the table. */
export async function saveBoth(
  table: HashTable,
  filter: HashFilter | undefined,
  base: string,
  nshards?: number,
): Promise<readonly string[]> {
  if (filter !== undefined) await saveFilter(filter, `${base}_filter`);
  const { files } = await saveTable(table, base, nshards === undefined ? {} : { nshards });
  return files;
}

export async function restoreBoth(table: HashTable, filter: HashFilter | undefined, base: string): Promise<void> {
  if (filter !== undefined) await restoreFilter(filter, `${base}_filter`);
  await restoreTable(table, base);
}

/** Every entry, as it would be saved. */
export function* dumpAll(table: HashTable): Generator<Uint8Array> {
  for (const dumps of iterateTable(table, { limit: 1 })) yield* dumps;
}

/** Ids of the entries of a shard, `limit` per call, each call going on where the one before stopped. */
export function dumpPages(
  table: HashTable,
  { shard, shardCount, limit }: { shard: number; shardCount: number; limit: number },
): { next(): bigint[] } {
  let offset = 0;
  return {
    next() {
      const { newOffset, dumps } = saveAsTensor(table, shard, shardCount, limit, offset);
      offset = newOffset;
      return dumps.map(idOf);
    },
  };
}

/** The id of an entry. */
function idOf(entry: Uint8Array): bigint {
  const reader = new ProtoReader(entry);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) return reader.sfixed64();
    reader.skip();
  }
  throw new Error('an entry has no id');
}

/** Saves one table and restores the other from that; answers how many entries there were. */
export async function restoreInto(source: HashTable, target: HashTable): Promise<number> {
  return inDirectory(async (dir) => {
    const files = await saveBoth(source, undefined, `${dir}/table`);
    await restoreBoth(target, undefined, `${dir}/table`);
    return entryRecords(files).length;
  });
}
