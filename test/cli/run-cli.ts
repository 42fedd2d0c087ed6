/** @file Runs the built `monolith` command as people do: a process of its own, real threads, real files. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, type RunOptions, runNode } from '../run-node.js';

export const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

export type CliEvent = Readonly<Record<string, unknown>>;

/** Runs `monolith` with `args` to its end. */
export function runCli(args: readonly string[], options: RunOptions): Promise<Ended> {
  return runNode([MAIN, ...args], options);
}

/** For `during`: kills the process some time after it told of so many checkpoints. */
export function killAfterSaves(saves: number, delayMs: number): NonNullable<RunOptions['during']> {
  let armed = false;
  return (child, printed) => {
    if (armed || printed.split('"checkpoint"').length <= saves) return;
    armed = true;
    setTimeout(() => child.kill('SIGKILL'), delayMs);
  };
}

/** The whole JSON lines of `text`; a process that was killed may have left half of one at the end. */
export function eventsOf(text: string): CliEvent[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CliEvent);
}

/**
 * Every file below `dir` with a digest of its bytes, and every folder with a slash: equal trees give equal objects.
 * Event files of TensorBoard tell the time in their name and in what they hold, so they are left out.
 */
export function treeOf(dir: string, below = ''): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const entry of readdirSync(join(dir, below), { withFileTypes: true })) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) Object.assign(tree, { [`${name}/`]: '' }, treeOf(dir, name));
    else if (!entry.name.includes('.tfevents.'))
      tree[name] = createHash('sha256')
        .update(readFileSync(join(dir, name)))
        .digest('hex');
  }
  return tree;
}
