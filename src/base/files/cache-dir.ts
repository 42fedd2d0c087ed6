/** @file Where this user's machine keeps what can be made again: a folder of our own in it. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const NAME = 'monolith-ts';

export interface UserMachine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** May throw: not every user has a home. */
  readonly home: () => string;
}

/**
 * The folder, which need not exist; or null for a user who has none. XDG_CACHE_HOME goes before the ways of a platform.
 */
export function cacheDir({ env, platform, home }: UserMachine): string | null {
  const parent = [env.XDG_CACHE_HOME, platform === 'win32' ? env.LOCALAPPDATA : undefined].find(
    // Relative ones mean nothing, says the XDG rule: they would be another folder in each directory.
    (dir) => dir !== undefined && isAbsolute(dir),
  );
  if (parent !== undefined) return join(parent, NAME);
  const below = homeOf(home);
  if (below === null) return null;
  switch (platform) {
    case 'darwin':
      return join(below, 'Library', 'Caches', NAME);
    case 'win32':
      return join(below, 'AppData', 'Local', NAME);
    default:
      return join(below, '.cache', NAME);
  }
}

/** That of this process. */
export function thisCacheDir(): string | null {
  return cacheDir({ env: process.env, platform: process.platform, home: homedir });
}

function homeOf(home: () => string): string | null {
  try {
    const dir = home();
    return isAbsolute(dir) ? dir : null;
  } catch {
    return null; // a user whom the machine does not know: no HOME, and no entry among the users
  }
}
