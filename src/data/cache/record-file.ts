/**
 * @file Records with a checksum each, one behind the other in a file that has its name only once it is whole.
 *
 * ```
 * magic | bytes | checksum of kind and payload | kind | - | payload, to a multiple of 8 bytes | … | record of the end
 * ```
 */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { crc32c } from '../../base/crc32c.js';
import { temporaryName } from '../../base/files/temporary-names.js';

/** What is in a record: the key of the file, a block of rows, what was found out at the end. */
export const RECORD = { key: 1, block: 2, end: 3 } as const;

export interface CacheRecord {
  readonly kind: number;
  /** At a multiple of 8 bytes of its buffer. */
  readonly payload: Uint8Array<ArrayBuffer>;
}

const MAGIC = Buffer.from('MLCACHE1');
const HEAD = 16;
/** More than writers make: a damaged length is not taken for one. */
const RECORD_MAX = 2 ** 31 - 64;
/** Bytes that are gathered before they are written. */
const WRITE_BYTES = 1 << 20;

const padded = (bytes: number) => Math.ceil(bytes / 8) * 8;

/** Why a file is none of ours, or no longer what was written. */
export class DamagedCache extends Error {}

export class RecordWriter {
  readonly #path: string;
  readonly #temporary: string;
  readonly #file: FileHandle;
  #pieces: Uint8Array[] = [MAGIC];
  #gathered = MAGIC.length;
  bytes = MAGIC.length;

  private constructor(path: string, temporary: string, file: FileHandle) {
    this.#path = path;
    this.#temporary = temporary;
    this.#file = file;
  }

  static async create(path: string): Promise<RecordWriter> {
    const temporary = temporaryName(path);
    return new RecordWriter(path, temporary, await open(temporary, 'wx'));
  }

  async add(kind: number, payload: Uint8Array): Promise<void> {
    const size = padded(payload.length);
    const record = new Uint8Array(HEAD + size);
    record.set(payload, HEAD);
    const words = new DataView(record.buffer);
    words.setUint32(0, payload.length, true);
    words.setUint32(8, kind, true);
    words.setUint32(4, crc32c(record.subarray(8)), true);
    this.#pieces.push(record);
    this.#gathered += record.length;
    this.bytes += record.length;
    if (this.#gathered >= WRITE_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#gathered = 0;
    let done = 0;
    while (done < bytes.length) done += (await this.#file.write(bytes, done)).bytesWritten;
  }

  /** Gives the file its name. */
  async publish(): Promise<void> {
    await this.#flush();
    // A name without its bytes, after a power cut, is told from a good file by checksums: the disk is not waited for.
    await this.#file.close();
    await rename(this.#temporary, this.#path);
  }

  /** Leaves nothing behind. */
  async giveUp(): Promise<void> {
    await this.#file.close().catch(() => undefined);
    await rm(this.#temporary, { force: true }).catch(() => undefined);
  }
}

/** The records of a file, each held to its checksum; DamagedCache for anything but a whole file. */
export async function* recordsOf(file: FileHandle): AsyncGenerator<CacheRecord> {
  const { size } = await file.stat();
  let at = 0;
  const read = async (length: number): Promise<Uint8Array<ArrayBuffer>> => {
    if (length > size - at) throw new DamagedCache(`it ends early, at byte ${size}`);
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const { bytesRead } = await file.read(bytes, done, length - done, at + done);
      if (bytesRead === 0) throw new DamagedCache(`it ends early, at byte ${at + done}`);
      done += bytesRead;
    }
    at += length;
    return bytes;
  };
  if (MAGIC.compare(await read(MAGIC.length)) !== 0) throw new DamagedCache('it does not begin as such files do');
  for (;;) {
    const begin = at;
    const head = await read(HEAD);
    const words = new DataView(head.buffer);
    const [length, sum, kind] = [0, 4, 8].map((offset) => words.getUint32(offset, true)) as [number, number, number];
    if (length > RECORD_MAX) throw new DamagedCache(`the length of the record at byte ${begin} is none`);
    const payload = await read(padded(length));
    if (crc32c(payload, crc32c(head.subarray(8))) !== sum)
      throw new DamagedCache(`the checksum of the record at byte ${begin} does not hold`);
    yield { kind, payload: payload.subarray(0, length) };
    if (kind !== RECORD.end) continue;
    if (at !== size) throw new DamagedCache('there is something behind its end');
    return;
  }
}
