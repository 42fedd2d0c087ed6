/**
 * @file A folder of tables as the reference saves them, `model.ckpt-<step>.assets`, read without a model: which tables
 * there are, and their rows as ids and weights. What comes from elsewhere is not trusted: files that are links, numbers
 * that files do not bear out, and rows beyond the limits are errors.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import { checkLimit, LIMITS } from '../../base/limits.js';
import { FIELD_ID, FIELD_NUM, FIELD_TIME } from '../../io/entry-layout.js';
import { ProtoReader } from '../../io/proto-reader.js';
import { RecordReader } from '../../io/record-reader.js';
import { validateShardedFiles } from '../../io/shard-files.js';
import { SnappyRecordReader } from '../../io/snappy-record-reader.js';
import { META_SUFFIX, readMeta, type TableMeta } from './multi-meta.js';
import { asTableFile, corruptRecord, rowError } from './row-errors.js';

const SINGLE = 'MonolithHashTable_';
const MULTI = 'MonolithMultiHashTable_';
const FILTER = 'hash_filter_';
const SHARD = /^(.+)-\d{5}-of-\d{5}$/;

/** One table of a dump, or what one set of files has of it. */
export interface DumpedTable {
  readonly name: string;
  /** Base name of its files, with the folder. */
  readonly base: string;
  /** Whether the files hold several tables. */
  readonly together: boolean;
}

/** A row of a dump. The weights are valid until the next one. */
export interface DumpedRow {
  readonly id: bigint;
  readonly weights: Float32Array;
  readonly timeSec: number;
}

/** The folder of tables: the given one, or the newest `*.assets` in it. ML_CKPT_NONE where there is none. */
export function dumpFolder(dir: string): string {
  if (namesIn(dir).some((name) => baseOf(name) !== null)) return dir;
  const assets = namesIn(dir).filter((name) => name.endsWith('.assets') && lstatSync(join(dir, name)).isDirectory());
  const stepOf = (name: string) => Number(/-(\d+)\.assets$/.exec(name)?.[1] ?? -1);
  const newest = assets.sort((a, b) => stepOf(a) - stepOf(b)).at(-1);
  if (newest !== undefined) return join(dir, newest);
  const reason = 'it has no files of tables, and no folder with any';
  throw new MonolithError('ML_CKPT_NONE', { path: dir, reason }, { hint: 'give a model.ckpt-<step>.assets' });
}

/** Whether a folder, or an `*.assets` in it, holds tables of the reference. */
export function isDump(dir: string): boolean {
  const names = namesIn(dir);
  return names.some((name) => name.startsWith(SINGLE) || name.startsWith(MULTI) || name.endsWith('.assets'));
}

/** The tables of a folder, by name. ML_CKPT_SHARDS for a set of files that is not whole. */
export function tablesOfDump(folder: string): DumpedTable[] {
  const names = namesIn(folder);
  const bases = new Set(names.map(baseOf).filter((base) => base !== null));
  checkLimit('tables', bases.size, (reason) => {
    throw new MonolithError('ML_CKPT_SHARDS', { reason: `the number of tables in ${folder}, ${reason}` });
  });
  const found = [...bases].flatMap((base): DumpedTable[] => {
    const full = join(folder, base);
    if (!base.startsWith(MULTI)) {
      shardsOf(folder, names, base);
      return [{ name: base.startsWith(SINGLE) ? base.slice(SINGLE.length) : base, base: full, together: false }];
    }
    const tables = new Set(metasOf(full).flatMap(({ metas }) => metas.map(({ name }) => name)));
    return [...tables].map((name) => ({ name, base: full, together: true }));
  });
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The rows of a table, file by file. */
export function* rowsOfDump(table: DumpedTable): Generator<DumpedRow> {
  const folder = join(table.base, '..');
  if (table.together) {
    for (const { file, metas } of metasOf(table.base)) yield* rowsTogether(file, metas, table.name);
    return;
  }
  for (const file of shardsOf(folder, namesIn(folder), basename(table.base))) {
    const reader = asTableFile(() => new RecordReader(file));
    const decode = decoder(table.name);
    try {
      for (;;) {
        const place = { file, record: reader.record };
        const payload = asTableFile(() => reader.next());
        if (payload === null) break;
        yield decode(payload, place);
      }
    } finally {
      reader.close();
    }
  }
}

function* rowsTogether(file: string, metas: readonly TableMeta[], wanted: string): Generator<DumpedRow> {
  const reader = asTableFile(() => new SnappyRecordReader(file));
  const decode = decoder(wanted);
  try {
    for (const { name, entries } of metas) {
      for (let left = entries; left > 0; left--) {
        const place = { file, record: reader.record };
        const payload = asTableFile(() => reader.next());
        if (payload === null) throw corruptRecord(place, 'payload', 'Parse entry failed! the file ends early');
        if (name === wanted) yield decode(payload, place);
      }
    }
  } finally {
    reader.close();
  }
}

/** EntryDump as far as who has no table of its shape needs it. */
function decoder(table: string): (payload: Uint8Array, place: { file: string; record: number }) => DumpedRow {
  const floats = new Float32Array(LIMITS.rowFloats);
  return (payload, place) => {
    try {
      const reader = new ProtoReader(payload);
      let id: bigint | null = null;
      let [count, timeSec] = [0, 0];
      for (let field = reader.next(); field !== 0; field = reader.next()) {
        if (field === FIELD_ID) id = reader.sfixed64();
        else if (field === FIELD_NUM) count = reader.floats(floats, count);
        else if (field === FIELD_TIME) timeSec = Number(reader.int64());
        else reader.skip();
      }
      if (id === null) throw new MonolithError('ML_PROTO', { field: 'EntryDump.id', offset: 0, reason: 'is missing' });
      return { id, weights: floats.subarray(0, count), timeSec };
    } catch (cause) {
      throw rowError(table, place, cause);
    }
  };
}

function metasOf(base: string): { readonly file: string; readonly metas: readonly TableMeta[] }[] {
  const folder = join(base, '..');
  const names = namesIn(folder);
  const files = shardsOf(folder, names, basename(base));
  const metaFiles = shardsOf(folder, names, `${basename(base)}${META_SUFFIX}`);
  if (files.length !== metaFiles.length) {
    const reason = `Filename ${metaFiles[0]} doesn't match nshards. ${files.length}`;
    throw new MonolithError('ML_CKPT_SHARDS', { reason });
  }
  return files.map((file, index) => ({ file, metas: readMeta(metaFiles[index]!) }));
}

/** Files of a base in shard order: plain files of the folder, since a link leads outside of it. */
function shardsOf(folder: string, names: readonly string[], base: string): string[] {
  const isOurs = (name: string) => name.startsWith(base) && /^-\d{5}-of-\d{5}$/.test(name.slice(base.length));
  const files = validateShardedFiles(base, names.filter(isOurs)).map((name) => join(folder, name));
  for (const file of files) {
    if (lstatSync(file).isFile()) continue;
    throw new MonolithError('ML_FILE_READ', { file, reason: 'it is no plain file, and links are not followed' });
  }
  return files;
}

/** Base of a file of rows; null of filters, descriptions of several tables, and what is no shard. */
function baseOf(name: string): string | null {
  const base = SHARD.exec(name)?.[1] ?? null;
  if (base === null || base.startsWith(FILTER) || name.includes('.data-')) return null;
  return base.startsWith(MULTI) && base.endsWith(META_SUFFIX) ? null : base;
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (cause) {
    throw new MonolithError('ML_FILE_READ', { file: dir, reason: messageOf(cause) }, { cause });
  }
}
