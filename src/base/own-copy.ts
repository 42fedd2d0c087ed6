/** @file Which copy of this package is running, and which one programs of a folder import. */
import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGE = 'monolith-ts';
const ROOT = new URL('../../../', import.meta.url);

/** The index of the package that programs in `folder` import; undefined where they have none. */
export function packageIn(folder: string): string | undefined {
  try {
    return realpathSync(createRequire(join(folder, 'program.js')).resolve(PACKAGE));
  } catch {
    return undefined; // A folder without an install is as usual as one with it.
  }
}

/** The index of the running copy. */
export const ownIndex = (): string => realpathSync(fileURLToPath(new URL('../index.js', import.meta.url)));

/** Files of the running copy by the names they are imported by. */
export function ownEntries(): Record<string, string> {
  const text = readFileSync(new URL('package.json', ROOT), 'utf8');
  const { exports } = JSON.parse(text) as { readonly exports: Readonly<Record<string, { readonly default: string }>> };
  // Longer names first: what is before a slash is a name too.
  const names = Object.keys(exports).sort((a, b) => b.length - a.length);
  return Object.fromEntries(
    names.map((name) => [PACKAGE + name.slice(1), fileURLToPath(new URL(exports[name]!.default, ROOT))]),
  );
}
