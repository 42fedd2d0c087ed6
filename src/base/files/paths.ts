/**
 * @file Where things are: files of the package, of a model directory, of tests; the address of this host (utils,
 * path_utils).
 */

import { lookup } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkOptions } from '../check-options.js';
import { MonolithError } from '../errors.js';

const PACKAGE = 'monolith-ts';

/**
 * The folder of this package: the nearest one above `from` that has its package.json. Default: above this module.
 * Upstream looks for the folder names of Bazel and of Python packages (`findMainByMarkers`).
 */
export function findMain(from = fileURLToPath(import.meta.url)): string {
  for (let dir = dirname(from); ; dir = dirname(dir)) {
    const file = join(dir, 'package.json');
    if (existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name === PACKAGE) return dir;
    if (dir === dirname(dir)) break;
  }
  throw new MonolithError('ML_FILE_READ', { file: from, reason: `it is not below the folder of ${PACKAGE}` });
}

/** Names before which, or with which, a path ends at the base directory; the first that a path has counts. */
const MARKERS = [
  ['/__main__/', '/__main__'],
  ['/site-packages/', '/site-packages'],
  ['/monolith/', ''],
] as const;

/**
 * The base directory of an installation of the reference, by the path of a file in it: upstream's rule, which knows
 * Bazel and Python packages. Nothing here is found by it; tools that share a machine with the reference may be.
 */
export function findMainByMarkers(file: string, exists: (path: string) => boolean = existsSync): string {
  const marker = MARKERS.find(([name]) => file.includes(name));
  if (marker !== undefined) {
    const base = file.slice(0, file.lastIndexOf(marker[0])) + marker[1];
    if (exists(`${base}/monolith`)) return base;
  }
  const found = `Unable to find the monolith base directory. This file directory is ${file}.`;
  throw new MonolithError('ML_FILE_READ', { file, reason: `${found} Are you running under bazel structure?` });
}

/** A file of the package by its path in it. */
export function getLibopsPath(libName: string): string {
  return join(findMain(), libName);
}

/** Where the debugging info of a model directory is. */
export function getDebuggingInfoFileName(modelDir: string): string {
  return join(modelDir, 'debugging_info.pb');
}

/** Where the graph for debugging of a model directory is. */
export function getMetaGraphFileName(modelDir: string): string {
  return join(modelDir, 'meta_graph_for_debugging.pb');
}

/** Where tests may write: TEST_TMPDIR, or `/tmp`. */
export function getTestTmpDir(): string {
  return process.env.TEST_TMPDIR ?? '/tmp';
}

export interface LocalHostOptions {
  readonly platform?: NodeJS.Platform;
  readonly hostname?: string;
  readonly lookup?: (name: string) => Promise<string>;
}

/** The IPv4 address of this host's name; outside of Linux and Windows hosts know themselves as `<name>.local`. */
export function getLocalHost(options: LocalHostOptions = {}): Promise<string> {
  checkOptions('getLocalHost', options, ['platform', 'hostname', 'lookup']);
  const { platform = process.platform, hostname: name = hostname() } = options;
  const { lookup: resolve = async (host: string) => (await lookup(host, 4)).address } = options;
  return resolve(platform === 'linux' || platform === 'win32' ? name : `${name}.local`);
}
