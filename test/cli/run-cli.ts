/** @file Runs the built `monolith` command as people do: a process of its own, real threads, real files. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, type RunOptions, runNode } from '../run-node.js';

export const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

export type CliEvent = Readonly<Record<string, unknown>>;

<<<<<<< HEAD
/** Runs `monolith` with `args` to its end. */
export function runCli(args: readonly string[], options: RunOptions): Promise<Ended> {
  return runNode([MAIN, ...args], options);
=======
export interface Ended {
  /** Null when a signal ended the process. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** File descriptor to print to; `out` is empty then. */
  readonly stdout?: number;
  /** Sees the process each time it printed something, and all that it printed so far. */
  readonly during?: (child: ChildProcess, printed: string) => void;
}

/** Runs `monolith` with `args` to its end. */
export function runCli(args: readonly string[], { cwd, stdout, during = () => {} }: RunOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // By way of env, which takes out what tap puts in: its loaders would cost more than all the rest of the process.
    const command = ['-u', 'NODE_OPTIONS', '-u', 'MONOLITH_DEBUG', process.execPath, MAIN, ...args];
    // The limit is for a process that hangs: the test fails then, and nothing is left running.
    const limit = { timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const;
    const child = spawn('env', command, { cwd, stdio: ['ignore', stdout ?? 'pipe', 'pipe'], ...limit });
    let out = '';
    let err = '';
    child.stdout?.on('data', (chunk) => {
      out += chunk;
      during(child, out + err);
    });
    child.stderr?.on('data', (chunk) => {
      err += chunk;
      during(child, out + err);
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
>>>>>>> h-e2e
}

/** The whole JSON lines of `text`; a process that was killed may have left half of one at the end. */
export function eventsOf(text: string): CliEvent[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CliEvent);
}

/** Every file below `dir` with a digest of its bytes, and every folder with a slash: equal trees give equal objects. */
export function treeOf(dir: string, below = ''): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const entry of readdirSync(join(dir, below), { withFileTypes: true })) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) Object.assign(tree, { [`${name}/`]: '' }, treeOf(dir, name));
    else
      tree[name] = createHash('sha256')
        .update(readFileSync(join(dir, name)))
        .digest('hex');
  }
  return tree;
}
