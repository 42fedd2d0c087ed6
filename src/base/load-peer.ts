/**
 * @file Packages that few need: they are no dependencies, and are loaded when they are first asked for. They are looked
 * for beside this package, then in the project that runs: a command that was installed for all projects uses theirs.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MonolithError, messageOf } from './errors.js';

/** The package `name`; ML_PEER with the line that installs it where there is none. */
export async function loadPeer<Module>(name: string, what: string): Promise<Module> {
  const path = resolved(import.meta.url, name) ?? resolved(join(process.cwd(), 'package.json'), name);
  const hint = `npm install ${name}`;
  if (path === undefined) throw new MonolithError('ML_PEER', { what, name, reason: 'it is not installed' }, { hint });
  try {
    return (await import(pathToFileURL(path).href)) as Module;
  } catch (cause) {
    throw new MonolithError('ML_PEER', { what, name, reason: messageOf(cause) }, { hint, cause });
  }
}

/** The file that stands for the package, as seen from `from`. */
function resolved(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined; // Without it as usual as with it.
  }
}
