/**
 * @file Writes all files of one checkpoint under temporary names and describes them in a manifest.
 */

import { join } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { GLOBAL_STEP } from '../graph/ops/state.js';
import { FileSink, writeError, writeWhole } from '../io/atomic-file.js';
import { crcHex } from '../io/crc32c.js';
import { EntryDumpCodec } from '../io/entry-dump.js';
import type { FileSystem } from '../io/file-system.js';
import { RecordWriter } from '../io/record-writer.js';
import { shardCountOf, shardFileName, shardRowCount, tableBaseName } from '../io/shard-files.js';
import type { StagedFiles } from '../io/staged-files.js';
import { sortedByName, writeBundleData } from '../io/tensor-bundle.js';
import { formatManifest, type ManifestFile, type ManifestTable } from './manifest.js';
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
    const sinks = await writeTable(assets, `${prefix}${ASSETS_SUFFIX}`, table, fs);
    tables.push({ ...table, files: sinks.map(({ name }) => name) });
    for (const { name, sink } of sinks) files.push(described(`${ASSETS_SUFFIX}/${name}`, sink));
  }
  const step = { name: GLOBAL_STEP, dtype: 'int64', shape: [], data: BigInt64Array.of(BigInt(snapshot.step)) } as const;
  const data = await within(`${prefix}${DATA_SUFFIX}`, () => writeBundleData(dataFile, [...snapshot.dense, step], fs));
  const index = await within(`${prefix}${INDEX_SUFFIX}`, () => writeWhole(indexFile, data.index, fs));
  files.push(described(DATA_SUFFIX, data.sink), described(INDEX_SUFFIX, index));

  const { modelName: model, settings } = snapshot;
  const dense = sortedByName(snapshot.dense);
  const manifestText = formatManifest({ model, step: snapshot.step, settings, dense, tables, files });
  const manifestFile = join(assets, MANIFEST_FILE);
  const manifest = await within(`${prefix}${MANIFEST_SUFFIX}`, () => writeWhole(manifestFile, manifestText, fs));
  await within(`${prefix}${ASSETS_SUFFIX}`, () => fs.syncDirectory(assets));
  return { manifestText, bytes: files.reduce((sum, file) => sum + file.bytes, manifest.sizeBytes) };
}

function described(suffix: string, sink: FileSink): ManifestFile {
  return { suffix, bytes: sink.sizeBytes, crc32c: crcHex(sink.crc) };
}

interface WrittenShard {
  readonly name: string;
  readonly sink: FileSink;
}

/** Splits the rows into shards of neighbouring rows, in the order the table gives them. Errors name `finalDir`. */
async function writeTable(
  dir: string,
  finalDir: string,
  table: TableSnapshot,
  fs: FileSystem,
): Promise<WrittenShard[]> {
  const base = tableBaseName(table.name);
  const shardCount = shardCountOf(table.rowCount);
  const codec = new EntryDumpCodec(table.segments);
  const rows = table.rows()[Symbol.iterator]();
  const written: WrittenShard[] = [];
  let finished = false;
  try {
    for (let shard = 0; shard < shardCount; shard++) {
      const name = shardFileName(base, shard, shardCount);
      const path = join(dir, name);
      const rowCount = shardRowCount(table.rowCount, shard, shardCount);
      written.push({
        name,
        sink: await within(join(finalDir, name), () => writeShard(path, codec, rows, rowCount, fs)),
      });
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

async function writeShard(
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
