/**
 * @file Files that appear whole or not at all.
 *
 * Content goes to a temporary name in the same directory, is forced to disk, and takes its final name by a rename that
 * is forced to disk too. On any failure the temporary file is removed and ML_CKPT_WRITE says why. A killed process
 * leaves a temporary name behind, which readers ignore (`isTemporaryName`).
 */
import { dirname } from 'node:path';
import { crc32c } from '../crc32c.js';
import { MonolithError, messageOf } from '../errors.js';
import { type FileSystem, nodeFileSystem, type WritableFile } from './file-system.js';
import { fileSystemOf } from './file-systems.js';
import { temporaryName } from './temporary-names.js';

/** ML_CKPT_WRITE for whatever went wrong while `file` was written; an error that already is one stays as it is. */
export function writeError(file: string, cause: unknown): MonolithError {
  if (cause instanceof MonolithError && cause.code === 'ML_CKPT_WRITE') return cause;
  return new MonolithError('ML_CKPT_WRITE', { file, reason: messageOf(cause) }, { hint: writeHint(cause), cause });
}

/** Runs `action`; whatever goes wrong becomes ML_CKPT_WRITE naming `file`. */
export async function writingTo<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw writeError(file, cause);
  }
}

function writeHint(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'free some disk space or use another model directory; the previous checkpoint is untouched';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'make the directory writable for this user; the previous checkpoint is untouched';
    default:
      return 'the previous checkpoint is untouched; check the disk and save again';
  }
}

export interface SinkOptions {
  /** False leaves `crc` at 0: it is not free for files of gigabytes. */
  readonly checksum?: boolean;
}

/** A new file being written: counts its bytes and their checksum as they pass. */
export class FileSink {
  readonly path: string;
  readonly #file: WritableFile;
  readonly #sums: boolean;
  #open = true;
  #sizeBytes = 0;
  #crc = 0;

  private constructor(path: string, file: WritableFile, sums: boolean) {
    this.path = path;
    this.#file = file;
    this.#sums = sums;
  }

  static async create(path: string, fs: FileSystem = nodeFileSystem, options: SinkOptions = {}): Promise<FileSink> {
    return new FileSink(path, await fs.create(path), options.checksum ?? true);
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Unmasked CRC-32C of everything written so far. */
  get crc(): number {
    return this.#crc;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#file.write(bytes);
    this.#sizeBytes += bytes.length;
    if (this.#sums) this.#crc = crc32c(bytes, this.#crc);
  }

  /** Forces what was written so far to disk; more may be written meanwhile. */
  sync(): Promise<void> {
    return this.#file.sync();
  }

  /** Forces the content to disk and closes the file. */
  async finish(): Promise<void> {
    await this.sync();
    await this.close();
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#file.close();
  }
}

export interface ReplaceOptions {
  readonly fileSystem?: FileSystem;
  /** The error for what went wrong. Default: `writeError`. */
  readonly errorOf?: (path: string, cause: unknown) => MonolithError;
}

/** Has `write` fill a new file, which then takes the name `path`. A failure leaves what was there before. */
export async function replaceFile(
  path: string,
  write: (sink: FileSink) => Promise<void>,
  { fileSystem: fs = fileSystemOf(path), errorOf = writeError }: ReplaceOptions = {},
): Promise<void> {
  const temporary = temporaryName(path);
  try {
    const sink = await FileSink.create(temporary, fs, { checksum: false });
    try {
      await write(sink);
      await sink.finish();
    } finally {
      await sink.close();
    }
    await fs.rename(temporary, path);
    await fs.syncDirectory(dirname(path));
  } catch (cause) {
    throw await cleanUp(errorOf(path, cause), () => fs.remove(temporary));
  }
}

/** Writes a small file whole. Text is UTF-8. */
export function writeFileAtomic(path: string, content: Uint8Array | string, fs?: FileSystem): Promise<void> {
  return replaceFile(path, (sink) => sink.write(bytesOf(content)), fs ? { fileSystem: fs } : {});
}

function bytesOf(content: Uint8Array | string): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content;
}

/** Writes, forces to disk and closes a new file of known content. */
export async function writeWhole(path: string, content: Uint8Array | string, fs: FileSystem): Promise<FileSink> {
  const sink = await FileSink.create(path, fs);
  try {
    await sink.write(bytesOf(content));
    await sink.finish();
  } finally {
    await sink.close();
  }
  return sink;
}

/** Runs `action` after a failure and returns the first error; when the clean-up fails too, both are in the cause. */
export async function cleanUp(error: MonolithError, action: () => Promise<void>): Promise<MonolithError> {
  try {
    await action();
    return error;
  } catch (second) {
    const cause = new AggregateError([error.cause ?? error, second], 'the write and its clean-up both failed');
    const hint = `${error.hint ?? ''}; temporary files could not be removed: ${messageOf(second)}`;
    return new MonolithError(error.code, error.fields, { hint, cause });
  }
}
