/** @file Parsers of npm to read beside, from the registry when first asked for, kept in node_modules/.cache. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/monolith-read-peers', import.meta.url));
const PACKAGES = ['papaparse', 'udsv', 'csv-parse', 'protobufjs'] as const;
export type PeerPackage = (typeof PACKAGES)[number];
const INSTALL_LIMIT_MS = 120_000;

/** A function that loads one of them; undefined where they cannot be had, which a line on stderr says. */
export function readPeers(): ((name: PeerPackage | 'csv-parse/sync') => unknown) | undefined {
  const missing = PACKAGES.filter((name) => !existsSync(join(CACHE, 'node_modules', name)));
  if (missing.length > 0) {
    mkdirSync(CACHE, { recursive: true });
    const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', CACHE];
    try {
      execFileSync('npm', ['install', ...flags, ...PACKAGES], { stdio: 'ignore', timeout: INSTALL_LIMIT_MS });
    } catch (error) {
      console.error(`read: the peers are left out, npm could not install them (${(error as Error).message})`);
      return undefined;
    }
  }
  const require = createRequire(join(CACHE, 'package.json'));
  return (name) => require(name);
}
