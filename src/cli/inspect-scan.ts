/**
 * @file Reads the rows of table files one by one: what they look like, how many there are, when they were updated.
 *
 * Memory does not grow with the rows. Every record's checksum is verified on the way, and what a manifest says of a
 * file.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crcHex } from '../base/crc32c.js';
import { MonolithError } from '../base/errors.js';
import { wrapped } from '../checkpoint/verify-checkpoint.js';
import { EntryDumpCodec, type EntryRow } from '../io/entry-dump.js';
import type { DumpSegment } from '../io/optimizer-dump.js';
import { RecordReader } from '../io/record-reader.js';
import { RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../io/record-writer.js';
import { tableBaseName } from '../io/shard-files.js';
import { SnappyRecordReader } from '../io/snappy-record-reader.js';
import { readMeta } from '../sparse/files/multi-meta.js';
import type { TableFile, TableFiles } from './inspect-contents.js';
import { inferShape, knownShape, type RowShape, type ShownSegment } from './inspect-segments.js';
import { type SlotBudget, type SlotCount, SlotCounts } from './slot-counts.js';

/** Rows between two looks at signals and at the clock. */
const ROWS_PER_TURN = 16384;

export interface TableReport {
  readonly name: string;
  readonly segments: readonly ShownSegment[];
  readonly rows: number;
  /** Of its records; for a table that shares compressed files, before they are compressed. */
  readonly bytes: number;
  readonly files: number;
  readonly oldestSec: number | null;
  readonly newestSec: number | null;
  /** Of the v2 slots of the ids, most rows first. */
  readonly slots: readonly SlotCount[];
}

export interface FoundRow {
  readonly table: string;
  readonly file: string;
  readonly record: number;
  readonly shape: RowShape;
  readonly row: EntryRow;
}

export interface ScanOptions {
  /** Only this table. */
  readonly table?: string | undefined;
  /** Looked for in place of everything else: a table is left as soon as it is found. */
  readonly id?: bigint | undefined;
  /** Told how many bytes of files are behind, now and then. */
  readonly onBytes?: (bytes: number) => void;
}

interface Records {
  readonly file: string;
  readonly record: number;
  readonly offset: number;
  next(): Uint8Array | null;
  close(): void;
}

/** One table while its rows go by. */
class TableScan {
  readonly name: string;
  rows = 0;
  bytes = 0;
  found: FoundRow | null = null;
  readonly #idBytes: Uint8Array | null;
  #shape: RowShape | null;
  #codec: EntryDumpCodec | null = null;
  #row: EntryRow | null = null;
  #oldestSec = Number.POSITIVE_INFINITY;
  #newestSec = Number.NEGATIVE_INFINITY;
  readonly #slots: SlotCounts;
  readonly #id = new BigInt64Array(1);
  readonly #idWords = new Uint32Array(this.#id.buffer);

  constructor(name: string, segments: readonly DumpSegment[] | null, id: bigint | undefined, budget: SlotBudget) {
    this.name = name;
    this.#slots = new SlotCounts(budget);
    this.#shape = segments === null ? null : knownShape(segments);
    this.#idBytes = id === undefined ? null : new Uint8Array(BigInt64Array.of(id).buffer);
  }

  /** Takes the record that `reader` has just given. */
  add(payload: Uint8Array, reader: Records): void {
    this.rows++;
    this.bytes += RECORD_HEADER_BYTES + payload.length + RECORD_FOOTER_BYTES;
    if (this.#idBytes !== null && isOtherId(payload, this.#idBytes)) return;
    const row = this.#decode(payload, reader);
    this.#id[0] = row.id;
    if (this.#idBytes !== null) {
      if (this.#id[0] !== new BigInt64Array(this.#idBytes.buffer)[0]) return;
      this.found = { table: this.name, file: reader.file, record: reader.record - 1, shape: this.#shape!, row };
      // The next row must not be decoded over this one.
      this.#row = this.#codec!.makeRow();
      return;
    }
    this.#slots.add((this.#idWords[1]! >>> 16) & 0x7fff);
    if (row.lastUpdateSec < this.#oldestSec) this.#oldestSec = row.lastUpdateSec;
    if (row.lastUpdateSec > this.#newestSec) this.#newestSec = row.lastUpdateSec;
  }

  #decode(payload: Uint8Array, reader: Records): EntryRow {
    try {
      if (this.#codec === null || this.#row === null) {
        this.#shape ??= inferShape(payload);
        this.#codec = new EntryDumpCodec(this.#shape.segments);
        this.#row = this.#codec.makeRow();
      }
      this.#codec.decode(payload, this.#row);
      return this.#row;
    } catch (cause) {
      if (!(cause instanceof MonolithError) || cause.code !== 'ML_PROTO') throw cause;
      const { field, reason } = cause.fields;
      throw new MonolithError('ML_RECORD', { file: reader.file, record: reader.record - 1, field, reason }, { cause });
    }
  }

  report(files: number): TableReport {
    const { name, rows, bytes } = this;
    return {
      name,
      segments: this.#shape?.shown ?? [],
      rows,
      bytes,
      files,
      oldestSec: rows === 0 ? null : this.#oldestSec,
      newestSec: rows === 0 ? null : this.#newestSec,
      slots: this.#slots.largestFirst(),
    };
  }
}

/** True when the row surely has another id; a writer with an order of its own needs a whole decode to tell. */
function isOtherId(payload: Uint8Array, id: Uint8Array): boolean {
  if (payload[0] !== 0x09 || payload.length < 9) return false;
  for (let i = 0; i < 8; i++) if (payload[1 + i] !== id[i]) return true;
  return false;
}

export interface ScanResult {
  readonly tables: readonly TableReport[];
  readonly found: readonly FoundRow[];
}

/** Reads the files of `set` to their end, or until the row that is looked for was found. */
export async function scanFiles(set: TableFiles, options: ScanOptions): Promise<ScanResult> {
  const scans = new Map<string, TableScan>();
  const budget: SlotBudget = { counts: 0, file: set.files[0]?.path ?? set.name };
  const scanOf = (name: string): TableScan => {
    let scan = scans.get(name);
    if (scan === undefined) {
      scan = new TableScan(name, set.manifest?.segments ?? null, options.id, budget);
      scans.set(name, scan);
    }
    return scan;
  };
  let doneBytes = 0;
  for (const file of set.files) {
    const before = doneBytes;
    const onOffset = (offset: number) => options.onBytes?.(before + offset);
    if (file.metaPath !== null) await scanShared(file.path, file.metaPath, scanOf, onOffset);
    else await scanSingle(file, scanOf(set.name), onOffset);
    doneBytes += file.bytes;
    if (scans.get(set.name)?.found) break;
  }
  options.onBytes?.(set.bytes);
  const all = [...scans.values()].filter((scan) => isNamed(scan.name, options.table));
  if (options.id === undefined && set.manifest !== null && set.isWhole) checkRows(set, all[0]?.rows ?? 0);
  return {
    tables: all.map((scan) => scan.report(set.files.length)),
    found: all.flatMap((scan) => scan.found ?? []),
  };
}

/** Whether `asked` names the table: by its name, or by that of its files. */
export function isNamed(table: string, asked: string | undefined): boolean {
  return asked === undefined || table === asked || tableBaseName(table) === asked;
}

async function scanSingle(file: TableFile, scan: TableScan, onOffset: (offset: number) => void): Promise<void> {
  const { path, expected } = file;
  const reader = wrapped(path, () => new RecordReader(path));
  try {
    while (wrapped(path, () => addNext(reader, scan))) {
      if (scan.found !== null) return;
      if (reader.record % ROWS_PER_TURN === 0) await pause(reader, onOffset);
    }
  } finally {
    reader.close();
  }
  if (expected === undefined) return;
  const { offset, fileCrc } = reader;
  if (offset !== expected.bytes) corrupt(path, 'size', `has ${offset} bytes, ${expected.bytes} were written`);
  if (crcHex(fileCrc) !== expected.crc32c) {
    corrupt(path, 'checksum', `has checksum ${crcHex(fileCrc)}, ${expected.crc32c} was written`);
  }
}

/** A file of several tables: the metadata says how many rows each has, in their order. */
async function scanShared(
  path: string,
  metaPath: string,
  scanOf: (name: string) => TableScan,
  onOffset: (offset: number) => void,
): Promise<void> {
  const tables = wrapped(metaPath, () => readMeta(metaPath));
  const reader = wrapped(path, () => new SnappyRecordReader(path));
  try {
    for (const { name, entries: rows } of tables) {
      const scan = scanOf(name);
      for (let row = 0; row < rows; row++) {
        if (!wrapped(path, () => addNext(reader, scan))) {
          corrupt(path, 'rows', `record ${reader.record}: ends after ${row} of ${rows} rows of table ${name}`);
        }
        if (reader.record % ROWS_PER_TURN === 0) await pause(reader, onOffset);
      }
    }
    if (wrapped(path, () => reader.next()) !== null) {
      corrupt(path, 'rows', `record ${reader.record - 1}: there are more rows than ${metaPath} counts`);
    }
  } finally {
    reader.close();
  }
}

/** False at the end of the file. */
function addNext(reader: Records, scan: TableScan): boolean {
  const payload = reader.next();
  if (payload === null) return false;
  scan.add(payload, reader);
  return true;
}

/** Lets signals in. */
async function pause(reader: Records, onOffset: (offset: number) => void): Promise<void> {
  onOffset(reader.offset);
  await nextTurn();
}

function checkRows(set: TableFiles, rows: number): void {
  const written = set.manifest!.rowCount;
  if (rows !== written)
    corrupt(set.files[0]?.path ?? set.name, 'rows', `table has ${rows} rows, ${written} were written`);
}

function corrupt(file: string, field: string, reason: string): never {
  throw new MonolithError('ML_CKPT_CORRUPT', { file, field, reason: `${field}: ${reason}` });
}
