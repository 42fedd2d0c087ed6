/** @file The package's own format, read: the model and what its tables hold, row by row as far as memory goes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError, messageOf } from '../../base/errors.js';
import { readWhole } from '../../base/files/read-file.js';
import { checkLimit } from '../../base/limits.js';
import { SafetensorsFile } from '../../io/safetensors.js';
import { type ModelJson, readModelJson } from '../../portable/model-json.js';
import { type PortableTable, readTables, rowDim } from '../../portable/portable-tables.js';
import { dtypeOf, packedArray, unpackInto } from '../packed-rows.js';
import { type ModelFolders, modelFolders } from '../parts/open-parts.js';
import { constantArray, MODEL_FILE, tableIds, tableRows, variableArray, WEIGHTS_FILE } from './array-names.js';

/** Rows that are read at a time. */
const PORTION = 1 << 14;

export interface RowPortion {
  readonly ids: BigInt64Array;
  /** Rows of all segments, one after the other. */
  readonly rows: Float32Array;
}

export const isNativeModel = (dir: string): boolean => existsSync(join(dir, MODEL_FILE));

/** Tensor files of a model: one, or one of each part. */
interface Files {
  readonly dense: SafetensorsFile;
  readonly rows: readonly SafetensorsFile[];
}

async function openFiles({ dense, rows }: ModelFolders): Promise<Files> {
  const opened = new Map<string, SafetensorsFile>();
  try {
    for (const folder of new Set([dense, ...rows])) {
      opened.set(folder, await SafetensorsFile.open(join(folder, WEIGHTS_FILE)));
    }
    return { dense: opened.get(dense)!, rows: rows.map((folder) => opened.get(folder)!) };
  } catch (error) {
    for (const file of opened.values()) await file.close();
    throw error;
  }
}

async function closeFiles({ dense, rows }: Files): Promise<void> {
  for (const file of new Set([dense, ...rows])) await file.close();
}

function rowsIn(file: SafetensorsFile, table: string): number {
  const { shape } = file.spec(tableIds(table), ['I64']);
  return shape[0] ?? 0;
}

/** A model folder that is open. */
export class NativeModel {
  readonly dir: string;
  readonly json: ModelJson;
  /** Values of variables and constants, by the name of their op. */
  readonly arrays: ReadonlyMap<string, Float32Array>;
  readonly tables: ReadonlyMap<string, PortableTable>;
  readonly step: number | null;
  readonly #files: Files;

  private constructor(dir: string, json: ModelJson, arrays: ReadonlyMap<string, Float32Array>, files: Files) {
    this.dir = dir;
    this.json = json;
    this.arrays = arrays;
    this.tables = readTables(json.tables.map((table) => ({ ...table }) as never));
    const step = Number(files.dense.metadata.step ?? Number.NaN);
    this.step = Number.isSafeInteger(step) ? step : null;
    this.#files = files;
  }

  /** ML_MODEL or ML_SAFETENSORS for a folder that has no whole model. The caller closes it. */
  static async open(dir: string): Promise<NativeModel> {
    const path = join(dir, MODEL_FILE);
    let text: string;
    try {
      text = readWhole(path, 'modelBytes').toString('utf8');
    } catch (cause) {
      throw new MonolithError('ML_MODEL', { model: dir, reason: messageOf(cause) }, { cause });
    }
    const json = readModelJson(text, path);
    const files = await openFiles(await modelFolders(dir));
    try {
      const { dense: file } = files;
      const arrays = new Map<string, Float32Array>();
      for (const { name } of file.tensors) {
        const own = [variableArray(''), constantArray('')].find((prefix) => name.startsWith(prefix));
        if (own === undefined) continue;
        arrays.set(name.slice(own.length), await file.floats(name));
      }
      return new NativeModel(dir, json, arrays, files);
    } catch (error) {
      await closeFiles(files);
      throw error;
    }
  }

  /** Rows that a table has. */
  count(table: string): number {
    return this.#files.rows.reduce((sum, file) => sum + rowsIn(file, table), 0);
  }

  /** The rows of a table, so many at a time. */
  async *portions(table: PortableTable): AsyncGenerator<RowPortion> {
    for (const file of this.#files.rows) yield* this.#portionsOf(file, table);
  }

  async *#portionsOf(file: SafetensorsFile, table: PortableTable): AsyncGenerator<RowPortion> {
    const { name, segments } = table;
    const [count, stride] = [rowsIn(file, name), rowDim(table)];
    checkLimit('rowFloats', stride, (reason) => this.#refuse(`rows of table ${name} have floats: ${reason}`));
    for (const [index, segment] of segments.entries()) {
      const { shape } = file.spec(tableRows(name, index), [dtypeOf(segment)]);
      if (shape.length !== 2 || shape[0] !== count || shape[1] !== segment.dim) {
        this.#refuse(`segment ${index} of table ${name} has shape [${shape}], not [${count}, ${segment.dim}]`);
      }
    }
    for (let from = 0; from < count; from += PORTION) {
      const length = Math.min(PORTION, count - from);
      const ids = new BigInt64Array(length);
      await file.read(tableIds(name), from * 8, ids);
      const rows = new Float32Array(length * stride);
      let first = 0;
      for (const [index, segment] of segments.entries()) {
        const packed = packedArray(segment, length);
        await file.read(tableRows(name, index), from * segment.dim * packed.BYTES_PER_ELEMENT, packed);
        unpackInto(segment, packed, rows, { first, stride });
        first += segment.dim;
      }
      yield { ids, rows };
    }
  }

  #refuse(reason: string): never {
    throw new MonolithError('ML_MODEL', { model: this.dir, reason });
  }

  close(): Promise<void> {
    return closeFiles(this.#files);
  }
}
