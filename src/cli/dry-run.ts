/** @file `--dry-run`: what a command would do, each setting with where it came from. */
import { visible } from '../base/visible.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';

interface Shown {
  readonly value: unknown;
  readonly origin: string;
}

/** Prints settings as a table, or as one event of JSON. */
export function printSettings(settings: Readonly<Record<string, Shown>>, io: CliIo, json: boolean): void {
  if (json) {
    io.out.write(jsonLine({ event: 'config', settings }));
    return;
  }
  const rows = Object.entries(settings).map(([name, { value, origin }]) => [name, textOf(value), origin] as const);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column as 0 | 1].length)));
  for (const [name, value, origin] of rows) {
    io.out.write(`${name.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${origin}\n`);
  }
}

const textOf = (value: unknown) =>
  visible(value === null ? '-' : typeof value === 'object' ? JSON.stringify(value) : String(value));
