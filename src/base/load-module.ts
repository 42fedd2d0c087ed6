/**
 * @file Modules of the user, in TypeScript or JavaScript, on any version of Node.js, in threads too. What is written in
 * TypeScript goes through jiti, which keeps no files; where the module has no copy of this package of its own, the name
 * of the package means the running one.
 */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MonolithError, messageOf } from './errors.js';
import { ownEntries, ownIndex, PACKAGE, packageIn } from './own-copy.js';

/** What a module exports. */
export type ModuleLoaded = Readonly<Record<string, unknown>>;

const TYPESCRIPT = /\.[cm]?tsx?$/;
/** Modules by their path: a second load gives the same objects. */
const loaded = new Map<string, Promise<ModuleLoaded>>();

/** What the module in `file` exports. ML_MODEL, with file and line, where it cannot be loaded. */
export async function loadModule(file: string, folder = process.cwd()): Promise<ModuleLoaded> {
  const path = resolve(folder, file);
  if (!existsSync(path)) throw new MonolithError('ML_FILE_READ', { file, reason: 'there is no such file' });
  const known = loaded.get(path);
  if (known !== undefined) return known;
  const loading = imported(path);
  loaded.set(path, loading);
  try {
    return await loading;
  } catch (cause) {
    loaded.delete(path);
    if (cause instanceof MonolithError) throw cause;
    throw new MonolithError('ML_MODEL', { model: file, reason: reasonOf(cause, path) }, { cause });
  }
}

async function imported(path: string): Promise<ModuleLoaded> {
  const real = realpathSync(path);
  const own = packageIn(dirname(real));
  const isOther = own !== undefined && own !== ownIndex();
  if (isOther) {
    const reason = `it imports another copy of ${PACKAGE}, ${own}, than the one that is running`;
    throw new MonolithError(
      'ML_MODEL',
      { model: path, reason },
      { hint: `run the command of that copy: npx ${PACKAGE}` },
    );
  }
  if (own !== undefined && !TYPESCRIPT.test(real)) return (await import(pathToFileURL(real).href)) as ModuleLoaded;
  const { createJiti } = await import('jiti');
  const jiti = createJiti(real, {
    fsCache: false,
    interopDefault: false,
    nativeModules: [PACKAGE],
    alias: ownEntries(),
  });
  return jiti.import<ModuleLoaded>(real);
}

/** What went wrong, with the place in the module where the error does not say it. */
function reasonOf(cause: unknown, path: string): string {
  const message = messageOf(cause).split('\n')[0]!;
  const stack = cause instanceof Error ? (cause.stack ?? '') : '';
  const place = stack.split('\n').find((line) => /^\s+at /.test(line) && line.includes(dirname(path)));
  const [, at] = /((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(place ?? '') ?? [];
  return at === undefined || message.includes(at) ? message : `${message} (${at.replace('file://', '')})`;
}
