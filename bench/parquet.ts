/**
 * @file Reading Parquet: values per second of CPU time, ours into batches in shared memory, hyparquet into columns, and
 * the rows as objects that ours was before. All in one run, in turns; the best turn of each counts.
 *
 * The table has 14 floats and 26 ids of 64 bits. `npm run bench -- parquet [--file FILE] [--quick] [--json]`
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parquetMetadata, parquetRead } from 'hyparquet';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { MersenneTwister } from '../src/base/random.js';
import { Dataset } from '../src/data/dataset.js';
import { encodeRows } from '../src/data/encode-rows.js';
import { f } from '../src/data/fields.js';
import { openDataset } from '../src/data/quick/quick-dataset.js';
import { quickPlan } from '../src/data/quick/quick-plan.js';
import type { RowStep } from '../src/data/row-step.js';
import { type Feature, type Features, Schema } from '../src/data/schema.js';
import { Arena } from '../src/memory/arena.js';
import { BATCH } from '../src/memory/batch.js';
import { createSharedMemory } from '../src/memory/shared-memory.js';
import { Views } from '../src/memory/views.js';
import { compileKernels } from '../src/runtime/backends/wasm/load-kernels.js';
import { benchMain, table } from './harness.js';

const [FLOATS, IDS] = [14, 26];
const BATCH_SIZE = 4096;
const REGION_BYTES = 64 << 20;
const AHEAD = 8;
const MISSING_SHARE = 0.1;

export interface ParquetResult {
  readonly file: string;
  readonly reader: string;
  readonly valuesPerS: number;
}

type Reader = () => number | Promise<number>;

export async function runParquetBench({ quick }: { quick: boolean }, given: readonly string[] = []) {
  const rows = quick ? 500 : 200_000;
  const turns = quick ? 1 : 5;
  const dir = mkdtempSync(join(tmpdir(), 'parquet-'));
  try {
    const files = [...Object.entries(made(dir, rows)), ...given.map((file) => [file, file] as const)];
    const results: ParquetResult[] = [];
    for (const [name, file] of files) results.push(...(await measured(name, file, turns, quick)));
    return { node: process.version, rows, columns: FLOATS + IDS, turns, results };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function measured(name: string, file: string, turns: number, quick: boolean): Promise<ParquetResult[]> {
  const readers: [string, Reader, number][] = [
    ['ours, in order', await ours(file, []), turns],
    ['ours, shuffled over 65,536 rows', await ours(file, [{ kind: 'shuffle', buffer: 1 << 16, seed: 1 }]), turns],
    ['hyparquet, into columns', () => columnsOf(file), quick ? 1 : 3],
    ['hyparquet, rows as objects, encoded', () => objects(file), 1],
  ];
  const best = readers.map(() => 0);
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, [, read, most]] of readers.entries()) {
      if (turn >= most) continue;
      const before = process.cpuUsage();
      const rows = await read();
      const { user, system } = process.cpuUsage(before);
      best[index] = Math.max(best[index]!, (rows * (FLOATS + IDS) * 1e6) / Math.max(1, user + system));
    }
  }
  return readers.map(([reader], index) => ({ file: name, reader, valuesPerS: Math.round(best[index]!) }));
}

function schema(): Schema<Features> {
  const features: Record<string, Feature> = {};
  for (let n = 0; n < FLOATS; n++) features[`f${n}`] = f.number();
  for (let n = 0; n < IDS; n++) features[`i${n}`] = f.id();
  return new Schema(features);
}

/** Batches as the reader thread makes them, in this thread. */
async function ours(file: string, steps: readonly RowStep[]): Promise<Reader> {
  const plan = quickPlan({ files: [file], options: {}, schema: schema(), steps })!;
  const module = await compileKernels();
  const views = new Views(createSharedMemory(REGION_BYTES + 65536).buffer);
  const options = { plan, module, batchSize: BATCH_SIZE, epochs: 1, bytes: REGION_BYTES, ahead: AHEAD };
  return async () => {
    const stream = openDataset(views, new Arena('bench', 64, REGION_BYTES + 4096), options);
    let [taken, rows] = [0, 0];
    for await (const at of stream.stream(0, () => taken, new AbortController().signal)) {
      taken++;
      rows += views.u32[at / 4 + BATCH.rows]!;
    }
    return rows;
  };
}

async function columnsOf(file: string): Promise<number> {
  const bytes = readFileSync(file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  let values = 0;
  await parquetRead({
    file: buffer,
    metadata: parquetMetadata(buffer),
    onChunk: ({ columnData }) => {
      values += columnData.length;
    },
  });
  return values / (FLOATS + IDS);
}

async function objects(file: string): Promise<number> {
  let rows = 0;
  for await (const some of Dataset.from(file).batches(BATCH_SIZE)) rows += encodeRows(schema(), some as never).rows;
  return rows;
}

/** Files of each kind of pages, by what they are called. */
function made(dir: string, rows: number): Record<string, string> {
  const random = new MersenneTwister(1);
  const share = () => random.nextU32() / 2 ** 32;
  const columns = (float: () => number, id: () => bigint, missing: number) => {
    const column = (value: () => number | bigint) =>
      Array.from({ length: rows }, () => (missing > 0 && share() < missing ? null : value()));
    return [
      ...Array.from({ length: FLOATS }, (_, n) => ({ name: `f${n}`, data: column(float), type: 'FLOAT' as const })),
      ...Array.from({ length: IDS }, (_, n) => ({ name: `i${n}`, data: column(id), type: 'INT64' as const })),
    ];
  };
  const wide = (missing: number) => columns(share, () => (BigInt(random.nextU32()) << 31n) | 1n, missing);
  const few = (missing: number) =>
    columns(
      () => Math.floor(share() * 1000) / 8,
      () => BigInt(Math.floor(share() * 10_000)),
      missing,
    );
  const write = (name: string, given: readonly ColumnSource[], nullable: boolean, plain: boolean) => {
    const file = join(dir, `${name}.parquet`);
    const columnData = given.map((column) => ({ ...column, nullable, ...(plain && { encoding: 'PLAIN' as const }) }));
    writeFileSync(file, new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 100_000 })));
    return file;
  };
  return {
    'nullable, plain, none missing': write('a', wide(0), true, true),
    'nullable, plain, a tenth missing': write('b', wide(MISSING_SHARE), true, true),
    'nullable, dictionary, none missing': write('c', few(0), true, false),
    'nullable, dictionary, a tenth missing': write('d', few(MISSING_SHARE), true, false),
    'required, plain, snappy': write('e', wide(0), false, true),
  };
}

const { values } = parseArgs({
  options: { file: { type: 'string', multiple: true } },
  strict: false,
  allowPositionals: true,
});
const given = (values.file ?? []).filter((file) => typeof file === 'string');

await benchMain(
  import.meta.url,
  (options: { quick: boolean }) => runParquetBench(options, given),
  ({ rows, columns, results }) => {
    const lines = results.map(({ file, reader, valuesPerS }) => [`${file}  ${reader}`, (valuesPerS / 1e6).toFixed(1)]);
    return `${rows} rows of ${columns} columns, pages in snappy\n${table(['', 'M values/s of CPU'], lines)}`;
  },
);
