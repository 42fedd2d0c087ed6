/**
 * @file Opens files to read: regular ones only, and no larger than the caller takes.
 *
 * A pipe that nobody writes to would hold its reader for good, and a device has no end. Errors are those of the file
 * system or say what else the path is; callers give them their own code.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { MonolithError, messageOf } from '../errors.js';
import { LIMITS, type LimitName, overLimit } from '../limits.js';

/** Does not wait for the other end, should the path have become a pipe since it was looked at. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Whether the file system takes it for a path at all; what it says of others is no error with a code. */
export function isPath(path: unknown): path is string {
  return typeof path === 'string' && !path.includes('\0');
}

export interface OpenedFile {
  readonly fd: number;
  readonly bytes: number;
}

/** Opens a regular file; the caller closes it. */
export function openRegular(file: string): OpenedFile {
  refuseOthers(statSync(file));
  const fd = openSync(file, READ);
  try {
    const found = fstatSync(fd);
    refuseOthers(found);
    return { fd, bytes: found.size };
  } catch (cause) {
    closeSync(fd);
    throw cause;
  }
}

/** openRegular, whose failure is ML_FILE_READ. */
export function openToRead(file: string): OpenedFile {
  try {
    return openRegular(file);
  } catch (cause) {
    throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { cause });
  }
}

/** openRegular for readers that do not block. */
export async function openRegularHandle(file: string): Promise<FileHandle> {
  refuseOthers(statSync(file));
  const handle = await open(file, READ);
  try {
    refuseOthers(await handle.stat());
    return handle;
  } catch (cause) {
    await handle.close();
    throw cause;
  }
}

/** All bytes of a regular file of at most as many as the limit. */
export function readWhole(file: string, limit: LimitName): Buffer {
  const { fd, bytes } = openRegular(file);
  try {
    const most = LIMITS[limit];
    if (bytes > most) throw new RangeError(`its size ${overLimit(limit, bytes)}`);
    // One byte more than there should be, to notice a file that grows; some, as those of /proc, do not know their size.
    let content = Buffer.allocUnsafe(bytes + 1);
    let length = 0;
    for (;;) {
      const got = readSync(fd, content, length, content.length - length, null);
      if (got === 0) return content.subarray(0, length);
      length += got;
      if (length > most) throw new RangeError(`its size ${overLimit(limit, length)}`);
      if (length === content.length) content = Buffer.concat([content], 2 * length);
    }
  } finally {
    closeSync(fd);
  }
}

function refuseOthers(found: Stats): void {
  if (found.isFile()) return;
  const text = `it is ${kindOf(found)} and not a regular file`;
  throw found.isDirectory() ? Object.assign(new Error(`EISDIR: ${text}`), { code: 'EISDIR' }) : new Error(text);
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a directory';
  if (found.isFIFO()) return 'a pipe';
  if (found.isSocket()) return 'a socket';
  return 'a device';
}
