/** @file How many files and sockets this process may have open: Node.js has raised the limit as far as it goes. */
import { existsSync, readFileSync } from 'node:fs';

const FILE = '/proc/self/limits';

/** The limit; undefined where the system does not tell it, or has none. */
export function openFilesMax(): number | undefined {
  if (!existsSync(FILE)) return undefined;
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(FILE, 'utf8')) ?? [];
  return soft === undefined ? undefined : Number(soft);
}
