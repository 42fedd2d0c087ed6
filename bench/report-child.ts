/**
 * @file The command in a process of its own, for `report.ts`: notes the time and the CPU time of the process, all
 * threads of it, at each event that `--json` prints, and prints them in place of the events when it ends.
 */
import { writeSync } from 'node:fs';

/** When an event came: milliseconds since the process began, and of CPU. */
export interface Mark {
  readonly event: string;
  readonly wallMs: number;
  readonly cpuMs: number;
}

const marks: Mark[] = [];
function mark(event: string): void {
  const { user, system } = process.cpuUsage();
  marks.push({ event, wallMs: performance.now(), cpuMs: (user + system) / 1000 });
}

process.stdout.write = ((text: string | Uint8Array): boolean => {
  for (const line of String(text).split('\n')) {
    const event = /^\{"event":"(\w+)"/.exec(line)?.[1];
    if (event !== undefined && event !== 'progress') mark(event);
  }
  return true;
}) as typeof process.stdout.write;
process.on('exit', () => {
  mark('exit');
  writeSync(1, `${JSON.stringify(marks)}\n`);
});
await import('../src/cli/main.js');
