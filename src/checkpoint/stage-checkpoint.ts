/**
 * @file Writes all files of one checkpoint under temporary names and describes them in a manifest.
 */

import { basename, join } from 'node:path';
import { crcHex } from '../base/crc32c.js';
import { MonolithError } from '../base/errors.js';
import { FileSink, writeError, writeWhole } from '../base/files/atomic-file.js';
import { type FileSystem, nodeFileSystem } from '../base/files/file-system.js';
import type { StagedFiles } from '../base/files/staged-files.js';
import { GLOBAL_STEP } from '../graph/ops/state.js';
import { EntryDumpCodec } from '../io/entry-dump.js';
import { RecordWriter } from '../io/record-writer.js';
import { shardCountOf, shardFileName, shardRowCount, tableBaseName } from '../io/shard-files.js';
import { sortedByName, writeBundleData } from '../io/tensor-bundle.js';
import { spaceOf } from '../sparse/files/saved-space.js';
import { shardRange } from '../sparse/files/shard-encoder.js';
import { ShardThreads } from '../sparse/files/shard-threads.js';
import { type WrittenShard, writeShard } from '../sparse/files/shard-writer.js';
import { TableImage } from '../sparse/files/stored-table.js';
import type { SpaceRecord } from '../sparse/files/table-space.js';
import type { ManifestFile, ManifestFilter, ManifestTable } from './manifest.js';
import { provenManifest } from './manifest-text.js';
import { ASSETS_SUFFIX, DATA_SUFFIX, INDEX_SUFFIX, MANIFEST_FILE, MANIFEST_SUFFIX } from './names.js';
import type { Snapshot, TableRow, TableSnapshot } from './snapshot.js';

export interface StagedCheckpoint {
  readonly manifestText: string;
  /** Bytes of all files of the checkpoint. */
  readonly bytes: number;
}

/** Writes the snapshot as the checkpoint `prefix`, all of it still under the temporary names of `staged`. */
export async function stageCheckpoint(
  prefix: string,
  snapshot: Snapshot,
  staged: StagedFiles,
  fs: FileSystem,
): Promise<StagedCheckpoint> {
  // The assets take their name first and the index last: a checkpoint exists once its index does.
  const assets = staged.stage(`${prefix}${ASSETS_SUFFIX}`);
  const dataFile = staged.stage(`${prefix}${DATA_SUFFIX}`);
  const indexFile = staged.stage(`${prefix}${INDEX_SUFFIX}`);

  const files: ManifestFile[] = [];
  const tables: ManifestTable[] = [];
  await within(`${prefix}${ASSETS_SUFFIX}`, () => fs.makeDirectory(assets));
  for (const table of snapshot.tables) {
    const write = table.stored === undefined ? writeTable : writeStored;
    const shards = await write(assets, `${prefix}${ASSETS_SUFFIX}`, table, fs);
    const { name, segments } = table;
    const rowCount = shards.reduce((sum, shard) => sum + shard.rows, 0);
    tables.push({ name, segments, rowCount, files: shards.map((shard) => shard.name) });
    for (const shard of shards) files.push(described(`${ASSETS_SUFFIX}/${shard.name}`, shard));
  }
  const filters: ManifestFilter[] = [];
  for (const { name, write } of snapshot.filters ?? []) {
    const written = await within(join(`${prefix}${ASSETS_SUFFIX}`, name), () => write(join(assets, name), fs));
    filters.push({ name, files: written.map(({ file }) => basename(file)) });
    for (const file of written) files.push(described(`${ASSETS_SUFFIX}/${basename(file.file)}`, file));
  }
  const step = { name: GLOBAL_STEP, dtype: 'int64', shape: [], data: BigInt64Array.of(BigInt(snapshot.step)) } as const;
  const data = await within(`${prefix}${DATA_SUFFIX}`, () => writeBundleData(dataFile, [...snapshot.dense, step], fs));
  const index = await within(`${prefix}${INDEX_SUFFIX}`, () => writeWhole(indexFile, data.index, fs));
  files.push(described(DATA_SUFFIX, ofSink(data.sink)), described(INDEX_SUFFIX, ofSink(index)));

  const { modelName: model, settings } = snapshot;
  const space = snapshot.space ?? spaceOfStored(snapshot.tables, tables);
  const dense = sortedByName(snapshot.dense);
  const content = { model, step: snapshot.step, settings, dense, tables, space, filters, files };
  const manifestText = provenManifest(content, `${prefix}${MANIFEST_SUFFIX}`);
  const manifestFile = join(assets, MANIFEST_FILE);
  const manifest = await within(`${prefix}${MANIFEST_SUFFIX}`, () => writeWhole(manifestFile, manifestText, fs));
  await within(`${prefix}${ASSETS_SUFFIX}`, () => fs.syncDirectory(assets));
  return { manifestText, bytes: files.reduce((sum, file) => sum + file.bytes, manifest.sizeBytes) };
}

/** What the tables take of their memory; not of such as have expired rows, which are in no file. */
function spaceOfStored(tables: readonly TableSnapshot[], written: readonly ManifestTable[]): SpaceRecord | undefined {
  const images = tables.flatMap(({ stored }) => (stored ? [new TableImage(stored)] : []));
  const areWhole = images.length === written.length && images.every(({ size }, i) => size === written[i]!.rowCount);
  return areWhole ? spaceOf(images) : undefined;
}

function described(suffix: string, { bytes, crc }: { readonly bytes: number; readonly crc: number }): ManifestFile {
  return { suffix, bytes, crc32c: crcHex(crc) };
}

function ofSink({ sizeBytes, crc }: FileSink): { bytes: number; crc: number } {
  return { bytes: sizeBytes, crc };
}

interface NamedShard extends WrittenShard {
  readonly name: string;
}

/** Writes a table in place, shards at the same time when it is large. */
async function writeStored(
  dir: string,
  finalDir: string,
  { name, stored }: TableSnapshot,
  fs: FileSystem,
): Promise<NamedShard[]> {
  const image = new TableImage(stored!);
  const { size } = image;
  const base = tableBaseName(name);
  const shardCount = shardCountOf(size);
  const shards = Array.from({ length: shardCount }, (_, shard) => {
    return { name: shardFileName(base, shard, shardCount), range: shardRange(size, shard, shardCount) };
  });
  // A file system of the caller's cannot follow into threads.
  const threads = ShardThreads.start(image, shardCount, size, fs === nodeFileSystem ? undefined : 1);
  try {
    return await threads.each(shards, ({ name: file, range }, thread) =>
      within(join(finalDir, file), async () => {
        const path = join(dir, file);
        const options = { checksum: true };
        const written = thread?.writeShard(range, path, options) ?? writeShard(image, range, path, fs, options);
        return { name: file, ...(await written) };
      }),
    );
  } finally {
    await threads.close();
  }
}

/** Splits the rows into shards of neighbouring rows, in the order the table gives them. Errors name `finalDir`. */
async function writeTable(dir: string, finalDir: string, table: TableSnapshot, fs: FileSystem): Promise<NamedShard[]> {
  const base = tableBaseName(table.name);
  const shardCount = shardCountOf(table.rowCount);
  const codec = new EntryDumpCodec(table.segments);
  const rows = table.rows()[Symbol.iterator]();
  const written: NamedShard[] = [];
  let finished = false;
  try {
    for (let shard = 0; shard < shardCount; shard++) {
      const name = shardFileName(base, shard, shardCount);
      const path = join(dir, name);
      const rowCount = shardRowCount(table.rowCount, shard, shardCount);
      const sink = await within(join(finalDir, name), () => writeRows(path, codec, rows, rowCount, fs));
      written.push({ name, rows: rowCount, ...ofSink(sink) });
    }
    finished = rows.next().done === true;
    if (!finished) {
      const reason = `table ${table.name} gave more than the ${table.rowCount} rows it announced`;
      throw new MonolithError('ML_CKPT_WRITE', { file: join(finalDir, base), reason });
    }
  } finally {
    // A generator may hold a lock on the table until it is told that nobody wants more.
    if (!finished) rows.return?.();
  }
  return written;
}

async function writeRows(
  path: string,
  codec: EntryDumpCodec,
  rows: Iterator<TableRow>,
  rowCount: number,
  fs: FileSystem,
): Promise<FileSink> {
  const sink = await FileSink.create(path, fs);
  try {
    const writer = new RecordWriter(sink);
    for (let i = 0; i < rowCount; i++) {
      const next = rows.next();
      if (next.done) throw new RangeError(`the table ended after ${i} of the ${rowCount} rows of this file`);
      const at = writer.begin(codec.maxBytes);
      writer.end(codec.encode(next.value, writer.bytes, writer.view, at));
      if (writer.full) await writer.flush();
    }
    await writer.flush();
    await sink.finish();
    return sink;
  } finally {
    await sink.close();
  }
}

/** Runs `action`; whatever goes wrong becomes ML_CKPT_WRITE naming `file`. */
export async function within<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw writeError(file, cause);
  }
}
