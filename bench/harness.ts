/** @file What the benches share: the machine they ran on, medians, tables, and the run from the command line. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { cpuName } from '../src/runtime/backends/cpu-name.js';

/** Where numbers come from; every report starts with it. */
export interface Machine {
  readonly machine: string;
  readonly cores: number;
  readonly node: string;
}

export function machine(): Machine {
  return { machine: cpuName(), cores: availableParallelism(), node: process.version };
}

export function machineText({ machine, cores, node }: Machine): string {
  return `${machine} x ${cores}, Node ${node}`;
}

/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** CPU nanoseconds per call, from about `budgetMs` of calls after a first one that is not counted. */
export function cpuNsPerCall(call: () => void, budgetMs: number): number {
  call();
  const begin = process.cpuUsage();
  let calls = 0;
  let burst = 1;
  for (;;) {
    for (let i = 0; i < burst; i++) call();
    calls += burst;
    const { user, system } = process.cpuUsage(begin);
    if (user + system >= budgetMs * 1000) return ((user + system) * 1000) / calls;
    burst *= 2;
  }
}

/** Rows of text in columns: the first one to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)));
  return all
    .map((row) => row.map((text, i) => (i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join('  '))
    .join('\n');
}

/** Runs a bench when its module is the program: `--quick` for a small size, `--json` for the report as it is. */
export async function benchMain<R>(
  url: string,
  run: (options: { quick: boolean }) => Promise<R>,
  text: (report: R) => string,
): Promise<void> {
  if (process.argv[1] !== fileURLToPath(url)) return;
  const report = await run({ quick: process.argv.includes('--quick') });
  console.log(process.argv.includes('--json') ? JSON.stringify(report, null, 2) : text(report));
}
