/**
 * @file Reads a checkpoint completely and refuses it when anything is not as it was written.
 *
 * Tables are read through once here, row by row, and again when their rows are taken: a restore must know that all of
 * it is good before it changes the first value, and a table may be larger than memory.
 */

import { closeSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crc32c, crcHex } from '../base/crc32c.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { isPath, type OpenedFile, openRegular, readWhole } from '../base/files/read-file.js';
import { GLOBAL_STEP } from '../graph/ops/state.js';
import type { EntryDumpCodec } from '../io/entry-dump.js';
import type { RecordReader } from '../io/record-reader.js';
import { tableBaseName, validateShardedFiles } from '../io/shard-files.js';
import { type BundleTensor, readTensorBundle } from '../io/tensor-bundle.js';
import { checkShard } from '../sparse/files/check-shard.js';
import type { LoadedShard } from '../sparse/files/shard-loader.js';
import { checkModel } from './check-model.js';
import type { Manifest, ManifestFile, ManifestFilter, ManifestTable } from './manifest.js';
import { parseManifest } from './manifest-text.js';
import { isMissing } from './model-dir.js';
import { ASSETS_SUFFIX, assetDir, DATA_SUFFIX, INDEX_SUFFIX, MANIFEST_SUFFIX } from './names.js';
import type { DenseValue, ModelLayout } from './snapshot.js';

export interface VerifiedCheckpoint {
  readonly manifest: Manifest;
  /** Without global_step, which is `manifest.step`. */
  readonly dense: readonly DenseValue[];
}

/**
 * ML_CKPT_CORRUPT with file, record and field for damage; ML_CKPT_MODEL when it is not of the model `expect`. `onBytes`
 * is told the bytes read so far, file by file.
 */
export async function verifyCheckpoint(
  prefix: string,
  expect?: ModelLayout,
  onBytes: (bytes: number) => void = () => {},
): Promise<VerifiedCheckpoint> {
  const manifest = readManifest(prefix);
  if (expect !== undefined) checkModel(expect, { ...manifest, modelName: manifest.model }, join(prefix, '..'));
  const files = new Map(manifest.files.map((file) => [file.suffix, file]));
  let bytes = 0;
  const expected = (suffix: string): ManifestFile => {
    const file = files.get(suffix);
    // Asked for when a file is read, or about to be.
    bytes += file?.bytes ?? 0;
    onBytes(bytes);
    return file ?? corrupt(`${prefix}${MANIFEST_SUFFIX}`, `does not describe ${suffix}`, 'files');
  };
  const dense = verifyDense(prefix, manifest, expected);
  for (const table of manifest.tables) await verifyTable(prefix, table, expected);
  for (const filter of manifest.filters ?? []) verifyFilter(prefix, filter, expected);
  return { manifest, dense };
}

function verifyFilter(
  prefix: string,
  { name, files }: ManifestFilter,
  expected: (suffix: string) => ManifestFile,
): void {
  for (const file of wrapped(`${prefix}${MANIFEST_SUFFIX}`, () => validateShardedFiles(name, files))) {
    verifyBytes(join(assetDir(prefix), file), expected(`${ASSETS_SUFFIX}/${file}`));
  }
}

/** What the manifest of a checkpoint says; ML_CKPT_CORRUPT when it is missing or damaged. */
export function readManifest(prefix: string): Manifest {
  const file = `${prefix}${MANIFEST_SUFFIX}`;
  let text: string;
  try {
    text = readWhole(file, 'manifestBytes').toString('utf8');
  } catch (cause) {
    throw readError(file, cause);
  }
  return parseManifest(text, file);
}

function verifyDense(prefix: string, manifest: Manifest, expected: (suffix: string) => ManifestFile): DenseValue[] {
  const tensors = wrapped(`${prefix}${INDEX_SUFFIX}`, () => readTensorBundle(prefix));
  for (const suffix of [INDEX_SUFFIX, DATA_SUFFIX]) verifyBytes(`${prefix}${suffix}`, expected(suffix));
  const file = `${prefix}${INDEX_SUFFIX}`;
  const step = tensors.find(({ name }) => name === GLOBAL_STEP);
  if (step === undefined || !(step.data instanceof BigInt64Array) || step.data[0] !== BigInt(manifest.step)) {
    return corrupt(file, `is not the step ${manifest.step} of the manifest`, GLOBAL_STEP);
  }
  const dense = tensors.filter((tensor) => tensor !== step);
  const describe = ({ name, dtype, shape }: Omit<BundleTensor, 'data'>) => `${name} ${dtype} [${shape.join(', ')}]`;
  if (dense.map(describe).join() !== manifest.dense.map(describe).join()) {
    corrupt(file, 'does not hold the dense values of the manifest', 'names');
  }
  return dense as DenseValue[];
}

/** Size and checksum of a whole file. */
function verifyBytes(file: string, expected: ManifestFile): void {
  const buffer = new Uint8Array(1 << 20);
  let opened: OpenedFile;
  try {
    opened = openRegular(file);
  } catch (cause) {
    throw readError(file, cause);
  }
  const { fd, bytes: found } = opened;
  try {
    if (found !== expected.bytes) corrupt(file, `has ${found} bytes, ${expected.bytes} were written`, 'size');
    let crc = 0;
    for (let got = readSync(fd, buffer); got > 0; got = readSync(fd, buffer))
      crc = crc32c(buffer.subarray(0, got), crc);
    if (crcHex(crc) !== expected.crc32c) {
      corrupt(file, `has checksum ${crcHex(crc)}, ${expected.crc32c} was written`, 'checksum');
    }
  } catch (cause) {
    throw cause instanceof MonolithError ? cause : readError(file, cause);
  } finally {
    closeSync(fd);
  }
}

async function verifyTable(
  prefix: string,
  table: ManifestTable,
  expected: (suffix: string) => ManifestFile,
): Promise<void> {
  const assets = assetDir(prefix);
  const base = tableBaseName(table.name);
  const names = wrapped(`${prefix}${MANIFEST_SUFFIX}`, () => validateShardedFiles(base, table.files));
  let rowCount = 0;
  for (const name of names) {
    const file = join(assets, name);
    const { bytes, crc32c: crc } = expected(`${ASSETS_SUFFIX}/${name}`);
    const found = await checkRows(table, file);
    rowCount += found.rows;
    if (found.bytes !== bytes) corrupt(file, `ends after ${found.bytes} of ${bytes} bytes`, 'size', found.rows);
    if (crcHex(found.crc) !== crc) corrupt(file, `has checksum ${crcHex(found.crc)}, ${crc} was written`, 'checksum');
  }
  if (rowCount !== table.rowCount) {
    corrupt(join(assets, base), `table has ${rowCount} rows, ${table.rowCount} were written`, 'rows', rowCount);
  }
}

/** A row of another shape is damage here: the manifest says what they are. */
async function checkRows({ name, segments }: ManifestTable, file: string): Promise<LoadedShard> {
  try {
    return await checkShard({ name, segments }, file);
  } catch (cause) {
    if (cause instanceof MonolithError && cause.code === 'ML_CKPT_READ' && isMissing(cause.cause)) {
      throw readError(file, cause.cause);
    }
    return wrapped(file, () => {
      throw cause;
    });
  }
}

/** Reads one row into `row`; false at the end of the file. Errors of the row name the record they are in. */
export function decodeNext(
  reader: RecordReader,
  codec: EntryDumpCodec,
  row: ReturnType<EntryDumpCodec['makeRow']>,
): boolean {
  const { record } = reader;
  const payload = reader.next();
  if (payload === null) return false;
  try {
    codec.decode(payload, row);
  } catch (cause) {
    const { field, reason } =
      cause instanceof MonolithError ? cause.fields : { field: 'payload', reason: messageOf(cause) };
    throw new MonolithError('ML_RECORD', { file: reader.file, record, field, reason }, { cause });
  }
  return true;
}

/** Runs `action`; damage found by the formats below becomes ML_CKPT_CORRUPT naming the file they found it in. */
export function wrapped<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (!(cause instanceof MonolithError) || cause.code.startsWith('ML_CKPT_CORRUPT')) throw cause;
    const { fields } = cause;
    const named = typeof fields.file === 'string' && fields.file !== '' ? fields.file : file;
    if (cause.code === 'ML_FILE_READ') throw readError(named, cause.cause ?? cause);
    const record = typeof fields.record === 'number' ? fields.record : undefined;
    const field = fields.field ?? fields.tensor;
    throw corruptError(named, String(fields.reason ?? cause.message), field, record, cause);
  }
}

/** A file that is gone is damage; one that is there and cannot be read is not. */
function readError(file: string, cause: unknown): MonolithError {
  if (isMissing(cause)) return corruptError(file, 'it is missing', 'file', undefined, cause);
  return new MonolithError('ML_CKPT_READ', { file, reason: messageOf(cause) }, { cause });
}

function corruptError(file: string, reason: string, field: unknown, record?: number, cause?: unknown): MonolithError {
  const place = record === undefined ? '' : `record ${record}, `;
  const fields = { file, record, field, reason: `${place}${field === undefined ? '' : `${field}: `}${reason}` };
  return new MonolithError('ML_CKPT_CORRUPT', fields, { cause });
}

function corrupt(file: string, reason: string, field: string, record?: number): never {
  throw corruptError(file, reason, field, record);
}

/** Whether anything of a checkpoint is under `prefix`. */
export function hasAnyFile(prefix: string): boolean {
  if (!isPath(prefix)) return false;
  const suffixes = [INDEX_SUFFIX, DATA_SUFFIX, ASSETS_SUFFIX];
  return (
    basename(prefix) !== '' && suffixes.some((s) => statSync(`${prefix}${s}`, { throwIfNoEntry: false }) !== undefined)
  );
}
