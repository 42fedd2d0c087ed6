/**
 * @file The runtimes that `npm run test:nodes` runs on, from the npm registry.
 *
 * Packages hold a binary each and are installed without running a script of theirs. They are kept in
 * node_modules/.cache, so a second run asks nobody.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { npmCommand } from '../support/npm.js';

export interface Runtime {
  readonly name: string;
  readonly kind: 'node' | 'deno' | 'bun';
  readonly binary: string;
  /** What stands between the binary and a script. */
  readonly args: readonly string[];
}

export interface Source {
  readonly name: string;
  readonly kind: Runtime['kind'];
  /** As npm takes it. */
  readonly spec: string;
  /** Below node_modules. */
  readonly file: string;
}

const INSTALL_LIMIT_MS = 180_000;
const { platform, arch } = process;
const exe = platform === 'win32' ? '.exe' : '';
const os = platform === 'win32' ? 'win' : platform;
const cpu = arch === 'arm64' ? 'aarch64' : arch;
const libc = platform === 'linux' ? '-glibc' : '';

const nodeSource = (major: number): Source => ({
  name: `node ${major}`,
  kind: 'node',
  // The package `node` fetches this one by a script; its versions are those of Node.js.
  spec: `node-${os}-${arch}@${major}`,
  file: `node-${os}-${arch}/bin/node${exe}`,
});

/** Versions that must work: the README promises 20 and later. */
export const NODES: readonly Source[] = [20, 22, 24, 26].map(nodeSource);
/** What is told of, where it installs. */
export const OTHERS: readonly Source[] = [
  { name: 'deno', kind: 'deno', spec: 'deno', file: `@deno/${platform}-${arch}${libc}/deno${exe}` },
  { name: 'bun', kind: 'bun', spec: 'bun', file: `@oven/bun-${os}-${cpu}/bin/bun${exe}` },
];

/** The runtime, or why it cannot be had. */
export async function getRuntime({ name, kind, spec, file }: Source, cache: string): Promise<Runtime | string> {
  const dir = join(cache, name.replace(' ', '-'));
  const binary = join(dir, 'node_modules', file);
  if (!existsSync(binary)) {
    mkdirSync(dir, { recursive: true });
    const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
    const [command, ...args] = npmCommand();
    try {
      await promisify(execFile)(command, [...args, 'install', ...flags, '--prefix', dir, spec], {
        cwd: dir,
        timeout: INSTALL_LIMIT_MS,
      });
    } catch (cause) {
      const said = cause instanceof Error ? cause.message : String(cause);
      return `npm install ${spec}: ${
        said
          .match(/^npm error .*/gm)
          ?.slice(0, 3)
          .join(' ') ?? said
      }`;
    }
    if (!existsSync(binary)) return `${spec} has no ${file}`;
  }
  try {
    const { stdout } = await promisify(execFile)(binary, ['--version'], { timeout: INSTALL_LIMIT_MS });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? 'unknown';
    return { name: `${kind} ${version}`, kind, binary, args: kind === 'deno' ? ['run', '-A', '--quiet'] : [] };
  } catch (cause) {
    return `${binary} does not run: ${cause instanceof Error ? cause.message : cause}`;
  }
}
