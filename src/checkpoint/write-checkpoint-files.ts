/**
 * @file Writes all files of one checkpoint under temporary names and describes them in a manifest.
 */

import { basename, join } from 'node:path';
import { crcHex } from '../base/crc32c.js';
import { type FileSink, writeWhole, writingTo } from '../base/files/atomic-file.js';
import type { FileSystem } from '../base/files/file-system.js';
import type { PendingFiles } from '../base/files/pending-files.js';
import { GLOBAL_STEP } from '../graph/ops/state.js';
import { tableBaseName } from '../io/shard-files.js';
import { sortedByName, writeBundleData } from '../io/tensor-bundle.js';
import { spaceOf } from '../sparse/files/saved-space.js';
import { TableImage } from '../sparse/files/stored-table.js';
import type { SpaceRecord } from '../sparse/files/table-space.js';
import { writeTable } from '../sparse/files/write-table.js';
import type { ManifestFile, ManifestFilter, ManifestTable } from './manifest.js';
import { provenManifest } from './manifest-text.js';
import { ASSETS_SUFFIX, DATA_SUFFIX, INDEX_SUFFIX, MANIFEST_FILE, MANIFEST_SUFFIX } from './names.js';
import type { Snapshot, TableSnapshot } from './snapshot.js';

export interface WrittenFiles {
  readonly manifestText: string;
  /** Bytes of all files of the checkpoint. */
  readonly bytes: number;
}

/** Writes the snapshot as the checkpoint `prefix`, all of it still under the temporary names of `pending`. */
export async function writeCheckpointFiles(
  prefix: string,
  snapshot: Snapshot,
  pending: PendingFiles,
  fs: FileSystem,
): Promise<WrittenFiles> {
  // The assets take their name first and the index last: a checkpoint exists once its index does.
  const assets = pending.add(`${prefix}${ASSETS_SUFFIX}`);
  const dataFile = pending.add(`${prefix}${DATA_SUFFIX}`);
  const indexFile = pending.add(`${prefix}${INDEX_SUFFIX}`);

  const files: ManifestFile[] = [];
  const tables: ManifestTable[] = [];
  await writingTo(`${prefix}${ASSETS_SUFFIX}`, () => fs.makeDirectory(assets));
  for (const table of snapshot.tables) {
    const { name, segments, stored } = table;
    const base = join(`${prefix}${ASSETS_SUFFIX}`, tableBaseName(name));
    const shards = await writeTable(
      stored ? new TableImage(stored) : table,
      base,
      (file) => join(assets, basename(file)),
      {
        checksum: true,
        fileSystem: fs,
      },
    );
    const rowCount = shards.reduce((sum, shard) => sum + shard.rows, 0);
    tables.push({ name, segments, rowCount, files: shards.map(({ file }) => basename(file)) });
    for (const shard of shards) files.push(described(`${ASSETS_SUFFIX}/${basename(shard.file)}`, shard));
  }
  const filters: ManifestFilter[] = [];
  for (const { name, write } of snapshot.filters ?? []) {
    const written = await writingTo(join(`${prefix}${ASSETS_SUFFIX}`, name), () => write(join(assets, name), fs));
    filters.push({ name, files: written.map(({ file }) => basename(file)) });
    for (const file of written) files.push(described(`${ASSETS_SUFFIX}/${basename(file.file)}`, file));
  }
  const step = { name: GLOBAL_STEP, dtype: 'int64', shape: [], data: BigInt64Array.of(BigInt(snapshot.step)) } as const;
  const data = await writingTo(`${prefix}${DATA_SUFFIX}`, () =>
    writeBundleData(dataFile, [...snapshot.dense, step], fs),
  );
  const index = await writingTo(`${prefix}${INDEX_SUFFIX}`, () => writeWhole(indexFile, data.index, fs));
  files.push(described(DATA_SUFFIX, ofSink(data.sink)), described(INDEX_SUFFIX, ofSink(index)));

  const { modelName: model, settings, input } = snapshot;
  const space = snapshot.space ?? spaceOfStored(snapshot.tables, tables);
  const dense = sortedByName(snapshot.dense);
  const content = { model, step: snapshot.step, settings, input, dense, tables, space, filters, files };
  const manifestText = provenManifest(content, `${prefix}${MANIFEST_SUFFIX}`);
  const manifestFile = join(assets, MANIFEST_FILE);
  const manifest = await writingTo(`${prefix}${MANIFEST_SUFFIX}`, () => writeWhole(manifestFile, manifestText, fs));
  await writingTo(`${prefix}${ASSETS_SUFFIX}`, () => fs.syncDirectory(assets));
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
