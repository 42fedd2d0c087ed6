/** @file Checkpoints of tables alone, as tools write them that train no variables. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ASSETS_SUFFIX, checkpointsIn } from './names.js';

/** The one folder of tables in a directory without a dense checkpoint; null when there is none or there are several. */
export function sparseOnlyPrefix(dir: string): string | null {
  if (checkpointsIn(dir).length > 0) return null;
  const assets = readdirSync(dir).filter((name) => name.endsWith(ASSETS_SUFFIX) && isDirectory(join(dir, name)));
  return assets.length === 1 ? join(dir, assets[0]!.slice(0, -ASSETS_SUFFIX.length)) : null;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
