/**
 * @file Writes the digests of the built kernels to a file, and compares them with those in other files.
 *
 *   node .ci/digest-kernels.mjs kernels.txt other.txt …
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const build = join(dirname(dirname(fileURLToPath(import.meta.url))), 'build');
const [out, ...others] = process.argv.slice(2);
const files = readdirSync(build)
  .filter((name) => name.endsWith('.wasm'))
  .sort();
const digestOf = (name) =>
  createHash('sha256')
    .update(readFileSync(join(build, name)))
    .digest('hex');
const text = files.map((name) => `${digestOf(name)}  ${name}\n`).join('');

writeFileSync(out, text);
process.stdout.write(text);
for (const other of others) {
  if (readFileSync(other, 'utf8') === text) continue;
  console.error(`${other} has other digests:\n${readFileSync(other, 'utf8')}`);
  process.exitCode = 1;
}
