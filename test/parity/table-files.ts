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

/** Saves a table, and its filter if it has one; answers the files of the table. */
export async function saveBoth(
  table: HashTable,
  filter: HashFilter | undefined,
  base: string,
  _nshards?: number,
): Promise<readonly string[]> {
  if (filter !== undefined) await saveFilter(filter, `${base}_filter`);
  throw new UnknownForm(`files of ${table.name}`);
}

export async function restoreBoth(table: HashTable, filter: HashFilter | undefined, base: string): Promise<void> {
  if (filter !== undefined) await restoreFilter(filter, `${base}_filter`);
  throw new UnknownForm(`files of ${table.name}`);
}

export async function saveMulti(_table: MultiHashTable, base: string): Promise<void> {
  throw new UnknownForm(`files ${base}`);
}

export async function restoreMulti(_table: MultiHashTable, base: string): Promise<void> {
  throw new UnknownForm(`files ${base}`);
}

export function dumpAll(table: HashTable): Uint8Array[] {
  throw new UnknownForm(`files of ${table.name}`);
}

export function dumpPages(
  table: HashTable,
  _shard: { shard: number; shardCount: number; limit: number },
): { next(): bigint[] } {
  throw new UnknownForm(`files of ${table.name}`);
}

export async function restoreInto(source: HashTable, _target: HashTable): Promise<number> {
  throw new UnknownForm(`files of ${source.name}`);
}
