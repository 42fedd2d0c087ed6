/** @file Files of tables for the cases that save and restore. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RecordReader } from '../../src/io/record-reader.js';
import { RecordWriter } from '../../src/io/record-writer.js';
import type { HashFilter } from '../../src/sparse/admission-filter.js';
import { restoreFilter, saveFilter } from '../../src/sparse/filter-files.js';
import type { HashTable } from '../../src/sparse/hash-table.js';
import type { MultiHashTable } from '../../src/sparse/multi-hash-table.js';
import { restoreTable } from '../../src/sparse/table-files/restore-table.js';
import { saveTable } from '../../src/sparse/table-files/save-table.js';
import type { StoredTable } from '../../src/sparse/table-files/stored-table.js';
import { expireDays } from '../../src/sparse/table-removal.js';
import { UnknownForm } from './case.js';

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

/** What the files of a table are made from. */
function storedOf(table: HashTable): StoredTable {
  const { name, memory, addresses, plan, config } = table;
  const { tableConfig } = config.instance;
  return {
    name,
    memory,
    addresses,
    dumpSegments: plan.dump,
    skipZero: tableConfig.skipZeroEmbedding === true,
    expireDays: tableConfig.slotExpireTimeConfig === undefined ? null : expireDays(tableConfig),
  };
}

/** Saves a table, and its filter if it has one; answers the files of the table. */
export async function saveBoth(
  table: HashTable,
  filter: HashFilter | undefined,
  base: string,
  nshards?: number,
): Promise<readonly string[]> {
  if (filter !== undefined) await saveFilter(filter, `${base}_filter`);
  const { files } = await saveTable(storedOf(table), base, nshards === undefined ? {} : { nshards });
  return files;
}

export async function restoreBoth(table: HashTable, filter: HashFilter | undefined, base: string): Promise<void> {
  if (filter !== undefined) await restoreFilter(filter, `${base}_filter`);
  await restoreTable(storedOf(table), base);
}

export async function saveMulti(_table: MultiHashTable, base: string): Promise<void> {
  throw new UnknownForm(`files ${base}`);
}

export async function restoreMulti(_table: MultiHashTable, base: string): Promise<void> {
  throw new UnknownForm(`files ${base}`);
}

/** Every entry, as it would be saved. */
export function dumpAll(table: HashTable): Uint8Array[] {
  throw new UnknownForm(`files of ${table.name}`);
}

/** Ids of the entries of a shard, `limit` per call, each call going on where the one before stopped. */
export function dumpPages(
  table: HashTable,
  _shard: { shard: number; shardCount: number; limit: number },
): { next(): bigint[] } {
  throw new UnknownForm(`files of ${table.name}`);
}

/** Saves one table and restores the other from that; answers how many entries there were. */
export async function restoreInto(source: HashTable, target: HashTable): Promise<number> {
  return inDirectory(async (dir) => {
    const files = await saveBoth(source, undefined, `${dir}/table`);
    await restoreBoth(target, undefined, `${dir}/table`);
    return entryRecords(files).length;
  });
}
