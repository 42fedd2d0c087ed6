/**
 * @file Tensor bundle (TF checkpoint V2): the files `<prefix>.index` and `<prefix>.data-00000-of-00001`.
 *
 * The pieces are in bundle-format, bundle-writer and bundle-reader; this is what most callers need of them.
 */

import { cleanUp, FileSink, writeError, writeFileAtomic } from '../base/files/atomic-file.js';
import { type FileSystem, nodeFileSystem } from '../base/files/file-system.js';
import { temporaryName } from '../base/files/temporary-names.js';
import type { BundleTensor } from './bundle-format.js';
import { BundleReader } from './bundle-reader.js';
import { BundleWriter } from './bundle-writer.js';
import { shardFileName } from './shard-files.js';
import { compareBytes } from './sstable.js';

export type { BundleData, BundleDtype, BundleTensor } from './bundle-format.js';
export { BundleReader, BundleWriter };

/** `tensors` in the order of their encoded names, in which savers lay them out. */
export function sortedByName<T extends { readonly name: string }>(tensors: readonly T[]): T[] {
  return [...tensors].sort((a, b) => compareBytes(Buffer.from(a.name), Buffer.from(b.name)));
}

/** Writes a bundle; the index appears last, so that a bundle that can be opened is complete. */
export async function writeTensorBundle(
  prefix: string,
  tensors: readonly BundleTensor[],
  fs: FileSystem = nodeFileSystem,
): Promise<void> {
  await writeShardedBundle(prefix, [tensors], fs);
}

/** The same with a data file for each list of tensors. */
export async function writeShardedBundle(
  prefix: string,
  shards: readonly (readonly BundleTensor[])[],
  fs: FileSystem = nodeFileSystem,
): Promise<void> {
  const files = shards.map((_, shard) => shardFileName(`${prefix}.data`, shard, shards.length));
  const temporaries = files.map(temporaryName);
  let writer: BundleWriter | undefined;
  try {
    for (const [shard, tensors] of shards.entries()) {
      const sink = await FileSink.create(temporaries[shard]!, fs);
      try {
        if (writer === undefined) writer = new BundleWriter(sink);
        else writer.nextShard(sink);
        for (const tensor of sortedByName(tensors)) await writer.add(tensor);
        await sink.finish();
      } finally {
        await sink.close();
      }
    }
    for (const [shard, file] of files.entries()) await fs.rename(temporaries[shard]!, file);
    await writeFileAtomic(`${prefix}.index`, writer!.finish(), fs);
  } catch (cause) {
    throw await cleanUp(writeError(files[0]!, cause), async () => {
      for (const temporary of temporaries) await fs.remove(temporary);
    });
  }
}

/** Writes the data file of a bundle under a name of the caller's and returns it with the index that belongs to it. */
export async function writeBundleData(
  path: string,
  tensors: readonly BundleTensor[],
  fs: FileSystem,
): Promise<{ sink: FileSink; index: Uint8Array<ArrayBuffer> }> {
  const sink = await FileSink.create(path, fs);
  try {
    const writer = new BundleWriter(sink);
    for (const tensor of sortedByName(tensors)) await writer.add(tensor);
    await sink.finish();
    return { sink, index: writer.finish() };
  } finally {
    await sink.close();
  }
}

/** All tensors of a bundle, every checksum verified. */
export function readTensorBundle(prefix: string): BundleTensor[] {
  const reader = new BundleReader(prefix);
  return reader.names().map((name) => reader.read(name));
}
