/** @file Runs a program in a process of its own, to its end. */
import { type ChildProcess, spawn } from 'node:child_process';

const LIMIT_MS = 100_000;

export interface Ended {
  /** Null when a signal ended the process. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** Default: 100 s, a little less than a test has. */
  readonly limitMs?: number;
  /** File descriptor to print to; `out` is empty then. */
  readonly stdout?: number;
  /** Sees the process each time it printed something, and all that it printed so far. */
  readonly during?: (child: ChildProcess, printed: string) => void;
}

export function runNode(
  args: readonly string[],
  { cwd, stdout, limitMs = LIMIT_MS, during = () => {} }: RunOptions,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // By way of env, which takes out what tap puts in: its loaders would cost more than all the rest of the process.
    const command = ['-u', 'NODE_OPTIONS', '-u', 'MONOLITH_DEBUG', process.execPath, ...args];
    // The limit is for a process that hangs: the test fails then, and nothing is left running.
    const limit = { timeout: limitMs, killSignal: 'SIGKILL' } as const;
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
}
