/** @file Values of hyper-parameters: copies, comparison, text; and the names that a mistyped one is like. */
import { inspect } from 'node:util';

/** What Params offers to the functions here. Not the class: it imports this file. */
interface ParamsLike {
  copy(): unknown;
  equals(other: unknown): boolean;
  iterParams(): Iterable<readonly [name: string, value: unknown]>;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function isParams(value: unknown): value is ParamsLike {
  return isObject(value) && 'iterParams' in (Object.getPrototypeOf(value) ?? {});
}

function isDict(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A deep copy of lists, dictionaries, Map, Set and params; anything else is the same object in both. */
export function copyValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyValue);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, copyValue(item)]));
  if (value instanceof Set) return new Set(value);
  if (isDict(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyValue(item)]));
  return isParams(value) ? value.copy() : value;
}

/** Lists, dictionaries and params by content, anything else by identity. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  }
  if (isDict(a) && isDict(b)) {
    const names = Object.keys(a);
    return (
      names.length === Object.keys(b).length &&
      names.every((name) => Object.hasOwn(b, name) && sameValue(a[name], b[name]))
    );
  }
  return Object.is(a, b) || (isParams(a) && a.equals(b));
}

/** `{`, a line per parameter, `}`; nested params indented. */
export function paramsText(entries: Iterable<readonly [name: string, value: unknown]>, depth = 0): string {
  const indent = '  '.repeat(depth);
  const lines = sorted(entries).map(([name, value]) => {
    if (isParams(value)) return `${indent}  ${name}: ${paramsText(value.iterParams(), depth + 1)}`;
    return `${indent}  ${name}: ${typeof value === 'string' ? `"${value}"` : valueText(value)}`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return value.name;
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (isDict(value)) return dictText(Object.entries(value));
  if (isParams(value)) return dictText(value.iterParams());
  return inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY });
}

function dictText(entries: Iterable<readonly [string, unknown]>): string {
  return `{${sorted(entries)
    .map(([key, value]) => `'${key}': ${valueText(value)}`)
    .join(', ')}}`;
}

function sorted<V>(entries: Iterable<readonly [string, V]>): (readonly [string, V])[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Names that hold at least half of the runs of three letters of `name`, sorted. */
export function similarNames(name: string, names: readonly string[]): string[] {
  const runs = Array.from({ length: Math.max(0, name.length - 2) }, (_, i) => name.slice(i, i + 3));
  if (runs.length === 0) return [];
  return names.filter((other) => 2 * runs.filter((run) => other.includes(run)).length >= runs.length).sort();
}

/** What kind of value it is, for messages. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return isObject(value) ? (value.constructor?.name ?? 'object') : typeof value;
}
