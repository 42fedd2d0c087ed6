/**
 * @file The project's own copy of the package goes before the one the command came from: two copies in one process have
 * two classes of each name, and the project was made with its own.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownIndex, packageIn } from '../base/own-copy.js';

const MAIN = 'cli/main.js';

/** The command of the copy that `folder` has, where that is another one. */
export function commandOfProject(folder: string): string | undefined {
  const index = packageIn(folder);
  if (index === undefined || index === ownIndex()) return undefined;
  const main = join(dirname(index), MAIN);
  return existsSync(main) ? main : undefined;
}
