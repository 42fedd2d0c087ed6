/**
 * @file Keeps what a slow program answered, by a digest of all that its answer depends on.
 *
 * Compiling and assembling every kernel takes most of a minute of CPU time, and gives the same as long as sources,
 * flags and compilers are the same. Answers are in node_modules/.cache, which a build leaves alone; delete it to ask
 * again.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HOME = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.cache', 'monolith-ts');

/** What `ask` answered for the same `inputs` before, or answers now. A failure is not kept. */
export async function remember(inputs, ask) {
  const file = join(HOME, `${createHash('sha256').update(inputs.join('\0')).digest('hex')}.json`);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Never asked, or the file cannot be read.
  }
  const answer = await ask();
  mkdirSync(HOME, { recursive: true });
  // Under its name only when it is whole: another process may look.
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(answer));
  renameSync(`${file}.${process.pid}`, file);
  return answer;
}
