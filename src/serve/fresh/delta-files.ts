/**
 * @file Deltas of a training: files in an order, each with the rows that changed since the one before, the ids that are
 * gone, and all variables. They are tensor files; who reads them runs nothing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import { replaceFile } from '../../base/files/atomic-file.js';
import { nodeFileSystem } from '../../base/files/file-system.js';
import { type SafeTensorSpec, SafetensorsFile, SafetensorsWriter } from '../../io/safetensors.js';
import type { PortableTable } from '../../portable/portable-tables.js';
import { rowDim } from '../../portable/portable-tables.js';
import { tableIds, tableRows, variableArray } from '../native/array-names.js';
import { dtypeOf, packedArray, packRow, unpackInto } from '../packed-rows.js';

/** In a version: which deltas its rows have already. */
export const FRESH_FILE = 'fresh.json';
/** In a run's folder: the versions that it keeps fresh. */
export const FRESH_DIR = 'fresh';
/** In the folder of versions: the deltas. */
export const DELTA_DIR = 'deltas';
/** Beside them: asks the training for a whole version, since a delta is missing. */
export const RESEND_FILE = 'resend';

/** Where a model stands: after this delta of this training. */
export interface FreshState {
  readonly run: string;
  readonly sequence: number;
}

/** What one table has in a delta. */
export interface TableDelta {
  readonly table: PortableTable;
  readonly ids: BigInt64Array;
  /** Rows of all segments, one after the other. */
  readonly rows: Float32Array;
  readonly removed: BigInt64Array;
}

export interface Delta extends FreshState {
  readonly step: number;
  readonly tables: readonly TableDelta[];
  readonly variables: ReadonlyMap<string, Float32Array>;
}

const removedIds = (table: string): string => `tables/${table}/removed`;
const fileOf = (sequence: number): string => `${String(sequence).padStart(12, '0')}.safetensors`;

/** Deltas in the folder of versions, oldest first. */
export function deltasIn(dir: string): { readonly sequence: number; readonly file: string }[] {
  const folder = join(dir, DELTA_DIR);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\d{12}\.safetensors$/.test(name))
    .sort()
    .map((name) => ({ sequence: Number(name.slice(0, 12)), file: join(folder, name) }));
}

/** Which deltas a version has; null of one that no training keeps fresh. */
export function freshState(version: string): FreshState | null {
  const file = join(version, FRESH_FILE);
  if (!existsSync(file)) return null;
  try {
    const { run, sequence } = JSON.parse(readFileSync(file, 'utf8')) as FreshState;
    if (typeof run === 'string' && Number.isSafeInteger(sequence) && sequence >= 0) return { run, sequence };
  } catch (cause) {
    throw new MonolithError('ML_MODEL', { model: file, reason: messageOf(cause) }, { cause });
  }
  throw new MonolithError('ML_MODEL', { model: file, reason: 'it names no run and no delta' });
}

/** Writes a delta; it is there as a whole or not at all. Returns its bytes. */
export async function writeDelta(dir: string, delta: Delta): Promise<number> {
  const { run, sequence, step, tables, variables } = delta;
  const specs: SafeTensorSpec[] = [
    ...tables.flatMap(({ table, ids, removed }) => [
      { name: tableIds(table.name), dtype: 'I64' as const, shape: [ids.length] },
      { name: removedIds(table.name), dtype: 'I64' as const, shape: [removed.length] },
      ...table.segments.map((segment, index) => ({
        name: tableRows(table.name, index),
        dtype: dtypeOf(segment),
        shape: [ids.length, segment.dim],
      })),
    ]),
    ...[...variables].map(([name, values]) => ({
      name: variableArray(name),
      dtype: 'F32' as const,
      shape: [values.length],
    })),
  ];
  const metadata = { format: 'monolith-delta', run, sequence: `${sequence}`, step: `${step}` };
  await nodeFileSystem.makeDirectory(join(dir, DELTA_DIR));
  let bytes = 0;
  await replaceFile(join(dir, DELTA_DIR, fileOf(sequence)), async (sink) => {
    const writer = await SafetensorsWriter.begin(sink, specs, metadata);
    const write = async (values: ArrayBufferView) => {
      bytes += values.byteLength;
      await writer.write(values);
    };
    for (const { table, ids, rows, removed } of tables) {
      await write(ids);
      await write(removed);
      for (const packed of packedSegments(table, rows, ids.length)) await write(packed);
    }
    for (const values of variables.values()) await write(values);
  });
  return bytes;
}

function packedSegments({ segments }: PortableTable, rows: Float32Array, count: number) {
  const stride = segments.reduce((sum, { dim }) => sum + dim, 0);
  let first = 0;
  return segments.map((segment) => {
    const packed = packedArray(segment, count);
    for (let row = 0; row < count; row++) {
      const from = row * stride + first;
      packRow(segment, rows.subarray(from, from + segment.dim), packed, row);
    }
    first += segment.dim;
    return packed;
  });
}

/** Reads a delta for these tables; ML_SAFETENSORS or ML_MODEL for one that is not whole, or of another model. */
export async function readDelta(file: string, tables: Iterable<PortableTable>): Promise<Delta> {
  const opened = await SafetensorsFile.open(file);
  try {
    const { format, run = '', sequence, step } = opened.metadata;
    if (format !== 'monolith-delta') throw new MonolithError('ML_MODEL', { model: file, reason: 'it is no delta' });
    const read: TableDelta[] = [];
    for (const table of tables) read.push(await readTable(opened, table));
    const variables = new Map<string, Float32Array>();
    for (const { name } of opened.tensors) {
      if (name.startsWith(variableArray('')))
        variables.set(name.slice(variableArray('').length), await opened.floats(name));
    }
    return { run, sequence: Number(sequence), step: Number(step), tables: read, variables };
  } finally {
    await opened.close();
  }
}

async function readTable(file: SafetensorsFile, table: PortableTable): Promise<TableDelta> {
  const ids = await readIds(file, tableIds(table.name));
  const removed = await readIds(file, removedIds(table.name));
  const stride = rowDim(table);
  const rows = new Float32Array(ids.length * stride);
  let first = 0;
  for (const [index, segment] of table.segments.entries()) {
    const name = tableRows(table.name, index);
    const { shape } = file.spec(name, [dtypeOf(segment)]);
    if (shape.length !== 2 || shape[0] !== ids.length || shape[1] !== segment.dim) {
      const reason = `${name} has shape [${shape}], not [${ids.length}, ${segment.dim}]`;
      throw new MonolithError('ML_MODEL', { model: 'a delta', reason });
    }
    const packed = packedArray(segment, ids.length);
    await file.read(name, 0, packed);
    unpackInto(segment, packed, rows, { first, stride });
    first += segment.dim;
  }
  return { table, ids, rows, removed };
}

async function readIds(file: SafetensorsFile, name: string): Promise<BigInt64Array> {
  const { shape } = file.spec(name, ['I64']);
  const ids = new BigInt64Array(shape[0] ?? 0);
  await file.read(name, 0, ids);
  return ids;
}
