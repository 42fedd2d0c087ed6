/** @file Files that are larger than the room they take on the disk. */
import { closeSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';

/** A file of so many bytes, of which the first are `head`: the rest takes no room on the disk. */
export function sparse(file: string, bytes: number, head: Uint8Array | string = ''): string {
  writeFileSync(file, head);
  const fd = openSync(file, 'r+');
  ftruncateSync(fd, bytes);
  closeSync(fd);
  return file;
}
