/** @file What lies in a version beside its model: rows to warm up with, rows to recommend, assets, the schema. */
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files/atomic-file.js';
import type { BesideModel } from '../train/exporter.js';

/** Rows that a version is tried with before it answers: one of JSON on each line. */
export const WARMUP_FILE = 'warmup.jsonl';
/** Rows that `:recommend` scores where a request names none. */
export const CANDIDATES_FILE = 'candidates.jsonl';
const ASSETS = 'assets';
const ASSETS_EXTRA = 'assets.extra';
const WARMUP_REQUESTS = 'tf_serving_warmup_requests';
const SCHEMA_FILE = 'schema.json';

/** Writes it into the folder of the version. */
export async function writeBeside(
  folder: string,
  { warmup, candidates, assets, schema, warmupRequests }: BesideModel,
): Promise<void> {
  if (warmup !== undefined) await writeFileAtomic(join(folder, WARMUP_FILE), jsonLines(warmup));
  if (candidates !== undefined) await writeFileAtomic(join(folder, CANDIDATES_FILE), jsonLines(candidates));
  if (schema !== undefined) await writeFileAtomic(join(folder, SCHEMA_FILE), schema);
  if (warmupRequests !== undefined) {
    await mkdir(join(folder, ASSETS_EXTRA));
    await copyFile(warmupRequests, join(folder, ASSETS_EXTRA, WARMUP_REQUESTS));
  }
  const named = Object.entries(assets ?? {});
  if (named.length > 0) await mkdir(join(folder, ASSETS));
  for (const [name, file] of named) {
    if (/[\\/\0]/.test(name) || name === '.' || name === '..') {
      const reason = `${JSON.stringify(name)} is no name of a file`;
      throw new MonolithError('ML_OPTION', { where: 'Estimator.export', option: 'assets', reason });
    }
    await copyFile(file, join(folder, ASSETS, name));
  }
}

/** A row on a line; ids of 64 bits are texts of digits, as rows may have them. */
const jsonLines = (rows: readonly object[]): string =>
  rows
    .map((row) => `${JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}\n`)
    .join('');
