/**
 * @file Runs the `monolith` command in the process of the test: real threads and files, without the second it takes
 * to start a process. What is about processes, such as signals and their exit, is tested with `run-cli.ts`.
 */
import { runProgram } from '../../src/cli/program.js';
import type { Ended } from '../run-node.js';
import { FakeIo } from './fake-io.js';

class HereIo extends FakeIo {
  override nowMs(): number {
    return performance.now();
  }
}

/** What the command `monolith` with `args` prints and ends with when it runs in the folder `cwd`. */
export async function runHere(args: readonly string[], { cwd }: { readonly cwd: string }): Promise<Ended> {
  const before = process.cwd();
  const io = new HereIo({ env: { ...process.env } as Record<string, string> });
  process.chdir(cwd);
  try {
    const code = await runProgram(args, io);
    return { code, out: io.out.text, err: io.err.text };
  } finally {
    process.chdir(before);
  }
}
