/** @file Packages that some tests meet and the product does not need: from the npm registry, when first asked for. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npmCommand } from './npm.js';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
const LIMIT_MS = 300_000;

/** The folder that has `name`, and what is besides, in its node_modules, kept for later; or why it cannot be had. */
export async function npmPackage(
  name: string,
  version: string,
  besides: readonly string[] = [],
): Promise<{ readonly folder: string } | { readonly reason: string }> {
  const folder = join(CACHE, `monolith-${name.replace(/^.*\//, '')}`);
  const spec = `${name}@${version}`;
  if (versionIn(folder, name) === version) return { folder };
  mkdirSync(folder, { recursive: true });
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  const [command, ...args] = npmCommand();
  try {
    const all = [...args, 'install', ...flags, '--prefix', folder, spec, ...besides];
    await promisify(execFile)(command, all, { cwd: folder, timeout: LIMIT_MS });
    return { folder };
  } catch (cause) {
    return { reason: `npm install ${spec}: ${cause instanceof Error ? cause.message.slice(0, 300) : cause}` };
  }
}

function versionIn(folder: string, name: string): string | undefined {
  const file = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
