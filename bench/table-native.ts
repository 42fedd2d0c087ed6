/** @file The C++ twin of the table bench: compiled on the spot, then a process per table that runs a case per line. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../../bench/native/table.cpp', import.meta.url));

export interface NativeMeasured {
  readonly ns: number;
  readonly checksum: number;
}
export interface NativeTable {
  run(kind: 'pool' | 'update', batches: number): Promise<NativeMeasured>;
  close(): Promise<void>;
}

/** Path of the program, and what made it or why there is none. */
export function compileTable(dir: string, quick: boolean): { program?: string; text: string } {
  const program = join(dir, 'table');
  const flags = [quick ? '-O1' : '-O3', '-march=native', '-std=c++17', '-o', program, SOURCE];
  const done = spawnSync('g++', flags, { encoding: 'utf8' });
  if (done.error) return { text: `none (${done.error.message})` };
  if (done.status !== 0) return { text: `none (g++ failed: ${done.stderr.slice(0, 400)})` };
  return { program, text: `g++ ${flags.slice(0, 2).join(' ')}` };
}

/** Starts the twin; done when its table is built. `args` are those the source names. */
export async function startTable(program: string, args: readonly (string | number)[]): Promise<NativeTable> {
  const child = spawn(program, args.map(String), { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the native twin ended early, code ${child.exitCode}`);
    return String(value);
  };
  const ready = await line();
  if (!ready.startsWith('ready')) throw new Error(`the native twin said ${ready}`);
  return {
    async run(kind, batches) {
      child.stdin.write(`${kind} ${batches}\n`);
      const [ns = 0, checksum = 0] = (await line()).split(' ').map(Number);
      return { ns, checksum };
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
