/**
 * @file Takes the lines that name source maps out of what is packed, and puts them back: maps and the sources that
 * they speak of are in a checkout, and not in the package.
 *
 *   node .ci/map-lines.mjs out     before packing
 *   node .ci/map-lines.mjs back    after it
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesBelow } from './digest-files.mjs';

const FOLDERS = ['build/chunks', 'build/src', 'build/workers'];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [way] = process.argv.slice(2);
if (way !== 'out' && way !== 'back') throw new Error('say out or back');

for (const map of FOLDERS.flatMap((folder) => filesBelow(root, folder, /\.js\.map$/))) {
  const file = join(root, map.replace(/\.map$/, ''));
  const text = readFileSync(file, 'utf8');
  const line = `//# sourceMappingURL=${basename(map)}\n`;
  const code = text.endsWith(line) ? text.slice(0, -line.length) : text;
  const wanted = way === 'out' ? code : code + line;
  if (wanted === text) continue;
  // Programs may be loading it.
  writeFileSync(`${file}.part`, wanted);
  renameSync(`${file}.part`, file);
}
