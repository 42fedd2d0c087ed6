/**
 * @file Lists what is at a target without reading rows: dense variables, sets of table files, filters.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { readWhole } from '../base/files/read-file.js';
import type { Manifest, ManifestFile, ManifestTable } from '../checkpoint/manifest.js';
import { parseManifest } from '../checkpoint/manifest-text.js';
import { isMissing } from '../checkpoint/model-dir.js';
import { ASSETS_SUFFIX, INDEX_SUFFIX, MANIFEST_FILE } from '../checkpoint/names.js';
import { wrapped } from '../checkpoint/verify-checkpoint.js';
import { BundleReader } from '../io/bundle-reader.js';
import { decodeMessage } from '../io/message.js';
import { RecordReader } from '../io/record-reader.js';
import { shardFileName, tableBaseName, validateShardedFiles } from '../io/shard-files.js';
import { HashFilterSplitMetaMessage } from '../sparse/admission/filter-files.js';
import { type InspectTarget, list, shardBase } from './inspect-target.js';

export interface DenseInfo {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: number;
}

export interface TableFile {
  readonly path: string;
  readonly bytes: number;
  /** File that says which tables its rows are of; null when all are of one. */
  readonly metaPath: string | null;
  /** What the manifest says of it. */
  readonly expected: ManifestFile | undefined;
}

/** Files whose rows belong together: one table, or several tables one after the other. */
export interface TableFiles {
  readonly name: string;
  readonly files: readonly TableFile[];
  readonly bytes: number;
  /** What the manifest says of the table. */
  readonly manifest: ManifestTable | null;
  /** False when only one of several files was asked for. */
  readonly isWhole: boolean;
}

export interface FilterInfo {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  readonly elements: number;
  /** Of one file. */
  readonly capacity: number;
}

export interface Contents {
  readonly manifest: Manifest | null;
  /** The reader of the dense variables and what it found; null when there are none. */
  readonly bundle: BundleReader | null;
  readonly dense: readonly DenseInfo[];
  readonly tables: readonly TableFiles[];
  readonly filters: readonly FilterInfo[];
}

export function readContents(target: InspectTarget): Contents {
  const manifest = target.dir === null ? null : readManifest(join(target.dir, MANIFEST_FILE));
  const bundle = openBundle(target.prefix);
  const sets = target.dir === null ? [] : shardSets(target, target.dir, manifest);
  return {
    manifest,
    bundle,
    dense: bundle === null ? [] : bundle.names().map((name) => denseInfo(bundle, name)),
    tables: sets.filter((set) => !isFilter(set.name)),
    filters: sets.filter((set) => isFilter(set.name)).map(filterInfo),
  };
}

function isFilter(name: string): boolean {
  return name.startsWith('hash_filter_');
}

function readManifest(file: string): Manifest | null {
  let text: string;
  try {
    text = readWhole(file, 'manifestBytes').toString('utf8');
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw new MonolithError('ML_CKPT_READ', { file, reason: messageOf(cause) }, { cause });
  }
  return parseManifest(text, file);
}

function openBundle(prefix: string | null): BundleReader | null {
  if (prefix === null) return null;
  const index = `${prefix}${INDEX_SUFFIX}`;
  if (statSync(index, { throwIfNoEntry: false }) === undefined) return null;
  return wrapped(index, () => new BundleReader(prefix));
}

function denseInfo(bundle: BundleReader, name: string): DenseInfo {
  const { dtype, shape, size } = bundle.entry(name);
  return { name, dtype, shape, bytes: size };
}

/** Tables of the manifest in its order, then what else is in the directory, by name. */
function shardSets(target: InspectTarget, dir: string, manifest: Manifest | null): TableFiles[] {
  const names = list(dir);
  const described = new Map((manifest?.files ?? []).map((file) => [file.suffix, file]));
  const tables = new Map((manifest?.tables ?? []).map((table) => [tableBaseName(table.name), table]));
  const found = names.map(shardBase).filter((base) => base !== null && !base.endsWith('.meta')) as string[];
  const bases = [...new Set([...tables.keys(), ...found])].filter(
    (base) => target.base === null || base === target.base,
  );
  return bases.map((base) => {
    const table = tables.get(base) ?? null;
    const all = table?.files ?? shardsOf(base, names);
    const metas = names.some((name) => shardBase(name) === `${base}.meta`) ? shardsOf(`${base}.meta`, names) : null;
    const files = all.flatMap((name, shard): TableFile[] => {
      if (target.file !== null && target.file !== name) return [];
      const path = join(dir, name);
      const metaPath =
        metas === null ? null : join(dir, metas[shard] ?? shardFileName(`${base}.meta`, shard, all.length));
      return [{ path, bytes: sizeOf(path), metaPath, expected: described.get(`${ASSETS_SUFFIX}/${name}`) }];
    });
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return { name: table?.name ?? base, files, bytes, manifest: table, isWhole: files.length === all.length };
  });
}

function shardsOf(base: string, names: readonly string[]): string[] {
  return validateShardedFiles(
    base,
    names.filter((name) => shardBase(name) === base),
  );
}

/** A file that is gone counts nothing here; reading it says so. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function filterInfo({ name, files, bytes }: TableFiles): FilterInfo {
  let elements = 0;
  let capacity = 0;
  for (const { path: file } of files) {
    const meta = wrapped(file, () => {
      const reader = new RecordReader(file, { bufferBytes: 4096 });
      try {
        const first = reader.next();
        if (first !== null) return decodeMessage(HashFilterSplitMetaMessage, first);
        throw new MonolithError('ML_RECORD', { file, record: 0, field: 'payload', reason: 'the file has no metadata' });
      } finally {
        reader.close();
      }
    });
    elements += meta.numElements ?? 0;
    capacity = meta.totalSize ?? 0;
  }
  return { name, files: files.length, bytes, elements, capacity };
}
