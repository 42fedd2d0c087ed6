/** @file Runs a program of its own process to its end, for tests of examples and documentation. */
import { spawn } from 'node:child_process';

/** A hang guard; a program takes about a second. */
const LIMIT_MS = 60_000;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** By way of env, which takes out what tap puts in: its loaders would cost more than the program. */
export function runNode(args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const command = ['-u', 'NODE_OPTIONS', process.execPath, ...args];
    const child = spawn('env', command, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}
