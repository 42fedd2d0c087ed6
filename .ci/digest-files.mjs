/** @file One digest of many files, by which a build knows that it has nothing to do. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** A digest of names and contents, of files below `root`. Names are the same on every system. */
export function digestFiles(root, names, more = '') {
  const hash = createHash('sha256').update(more);
  for (const name of [...names].sort()) {
    const content = readFileSync(join(root, name));
    hash.update(`\0${name.replaceAll(sep, '/')}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Names of the files below `folder` of `root` that `pattern` matches, as paths from `root`. */
export function filesBelow(root, folder, pattern) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(join(root, '/').length));
}
