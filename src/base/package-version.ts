/** @file The version of this package. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The version in package.json. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
