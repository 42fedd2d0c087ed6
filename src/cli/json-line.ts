/** @file JSON lines with snake_case names: what `--json` prints. */
import { snakeName } from '../base/snake-case.js';
import { visible } from '../base/visible.js';

/**
 * One object as one line. Top-level names become snake_case; 64-bit ids become text; NaN and infinities become null.
 */
export function jsonLine(object: Readonly<Record<string, unknown>>): string {
  const renamed = Object.fromEntries(Object.entries(object).map(([name, value]) => [snakeName(name), value]));
  const text = JSON.stringify(renamed, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  // JSON lets some control characters through, such as those of one byte that begin escape sequences.
  return `${visible(text)}\n`;
}

/** A row of data as one line: names of columns stay as they are. */
export function jsonRow(row: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  return `${visible(text)}\n`;
}

/** Renames the fields of `value` and of all objects in it. */
export function snakeCaseDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCaseDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [snakeName(name), snakeCaseDeep(field)]));
}
