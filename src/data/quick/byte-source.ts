/**
 * @file The bytes of a data file, put where the reader wants them: those of a plain file come straight from the disk,
 * while the thread waits, which is there to read; compressed ones come in pieces.
 */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { MonolithError, messageOf } from '../../base/errors.js';
import { openRegular } from '../../base/files/read-file.js';
import { checkUnchanged, compressionOf, readBytes } from '../files/read-bytes.js';

export interface ByteSource {
  /** Fills as much of `into` as there is; how many bytes, 0 at the end. */
  read(into: Uint8Array): number | Promise<number>;
  close(): unknown;
}

export function byteSource(file: string): ByteSource {
  const plain = new PlainFile(file);
  if (plain.isPlain) return plain;
  plain.close();
  return new Pieces(readBytes(file));
}

/** Fills all of `into` where there is as much; how many bytes. */
export async function fill(source: ByteSource, into: Uint8Array): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const read = source.read(into.subarray(filled));
    const count = typeof read === 'number' ? read : await read;
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

class PlainFile implements ByteSource {
  readonly isPlain: boolean;
  readonly #file: string;
  readonly #fd: number;
  readonly #opened: ReturnType<typeof fstatSync>;

  constructor(file: string) {
    this.#file = file;
    try {
      this.#fd = openRegular(file).fd;
    } catch (cause) {
      throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { cause });
    }
    this.#opened = fstatSync(this.#fd);
    const start = new Uint8Array(4);
    readSync(this.#fd, start, 0, start.length, 0);
    this.isPlain = compressionOf(start, file) === 'none';
  }

  read(into: Uint8Array): number {
    try {
      const count = readSync(this.#fd, into, 0, into.length, null);
      if (count === 0) checkUnchanged(this.#file, this.#opened, fstatSync(this.#fd));
      return count;
    } catch (cause) {
      if (cause instanceof MonolithError) throw cause;
      throw new MonolithError('ML_FILE_READ', { file: this.#file, reason: messageOf(cause) }, { cause });
    }
  }

  close(): void {
    closeSync(this.#fd);
  }
}

class Pieces implements ByteSource {
  readonly #pieces: AsyncGenerator<Uint8Array>;
  #piece: Uint8Array = new Uint8Array(0);

  constructor(pieces: AsyncGenerator<Uint8Array>) {
    this.#pieces = pieces;
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.#piece.length === 0) {
      const next = await this.#pieces.next();
      if (next.done === true) return 0;
      this.#piece = next.value;
    }
    const part = this.#piece.subarray(0, into.length);
    into.set(part);
    this.#piece = this.#piece.subarray(part.length);
    return part.length;
  }

  close(): Promise<unknown> {
    return this.#pieces.return(undefined);
  }
}
