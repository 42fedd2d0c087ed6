/**
 * @file Patterns that name many files: `{INT(0,99)}` and `{DATE(20201120,20201210)}` stand for each number and each day
 * or hour, `*`, `?`, `[ab]` and `**` for what is there. Mirrors dataset_input_patterns of native_training.
 */

import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';

const PLACEHOLDER = /\{(INT|DATE)\((\d+),(\d+)\)\}/;
/** A slip in a pattern would otherwise take all memory. */
const EXPANDED_MAX = 1_000_000;
const HOUR_MS = 3_600_000;

/** What the placeholders of a pattern stand for, the leftmost changing last; spaces are removed. */
export function expandPattern(pattern: string): string[] {
  let done: string[] = [''];
  let rest = pattern.replaceAll(' ', '');
  for (let match = PLACEHOLDER.exec(rest); match !== null; match = PLACEHOLDER.exec(rest)) {
    const before = rest.slice(0, match.index);
    const values = match[1] === 'INT' ? integers(match[2]!, match[3]!) : dates(pattern, match[2]!, match[3]!);
    if (done.length * values.length > EXPANDED_MAX) throw refuse(pattern, `it stands for over ${EXPANDED_MAX} names`);
    done = done.flatMap((head) => values.map((value) => head + before + value));
    rest = rest.slice(match.index + match[0].length);
  }
  return done.map((head) => head + rest);
}

function integers(from: string, to: string): string[] {
  const [first, last] = [Number(from), Number(to)];
  return Array.from({ length: Math.max(0, Math.min(last - first + 1, EXPANDED_MAX + 1)) }, (_, i) => String(first + i));
}

function dates(pattern: string, from: string, to: string): string[] {
  if (from.length !== to.length || ![8, 10].includes(from.length)) {
    throw refuse(pattern, 'both ends of DATE are yyyymmdd or both are yyyymmddhh');
  }
  const stepMs = from.length === 8 ? 24 * HOUR_MS : HOUR_MS;
  const [first, last] = [timeOf(pattern, from), timeOf(pattern, to)];
  const found: string[] = [];
  for (let ms = first; ms <= last && found.length <= EXPANDED_MAX; ms += stepMs) {
    found.push(new Date(ms).toISOString().replace(/[-T:]/g, '').slice(0, from.length));
  }
  return found;
}

function timeOf(pattern: string, text: string): number {
  const [, year, month, day, hour = '00'] = /^(\d{4})(\d\d)(\d\d)(\d\d)?$/.exec(text)!;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:00:00Z`);
  if (Number.isNaN(ms)) throw refuse(pattern, `${text} is no date`);
  return ms;
}

function refuse(pattern: string, reason: string): MonolithError {
  return new MonolithError('ML_DATASET', { reason: `pattern ${pattern}: ${reason}` });
}

export interface MatchedFiles {
  /** Sorted, each once. */
  readonly files: readonly string[];
  /** `pattern not match any files: <p>` of those that match none. */
  readonly warnings: readonly string[];
}

/** The files that patterns match; ML_DATASET `no match files` where there are none. */
export function matchFiles(patterns: string | readonly string[]): MatchedFiles {
  const warnings: string[] = [];
  const files = [patterns].flat().flatMap((pattern) => {
    // A name that is there is meant as it is, whatever characters and spaces it has.
    if (isFile(pattern)) return [pattern];
    return expandPattern(pattern).flatMap((expanded) => {
      const found = glob(expanded);
      if (found.length === 0) warnings.push(`pattern not match any files: ${expanded}`);
      return found;
    });
  });
  if (files.length > 0) return { files: [...new Set(files)].sort(), warnings };
  const hint = warnings.length === 1 ? warnings[0]! : `${warnings.length} patterns match nothing`;
  throw new MonolithError('ML_DATASET', { reason: 'no match files' }, { hint });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Files below the fixed beginning of a pattern that match it. */
function glob(pattern: string): string[] {
  if (!/[*?[]/.test(pattern)) return isFile(pattern) ? [pattern] : [];
  const parts = pattern.split('/');
  const fixed = parts.findIndex((part) => /[*?[]/.test(part));
  return walk(parts.slice(0, fixed).join('/') || (pattern.startsWith('/') ? '/' : '.'), parts.slice(fixed)).map(
    (path) => (pattern.startsWith('.') || pattern.startsWith('/') ? path : path.replace(/^\.\//, '')),
  );
}

function walk(folder: string, [part, ...rest]: readonly string[]): string[] {
  const entries = entriesOf(folder);
  if (part === '**') {
    const below = entries
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => walk(`${folder}/${name}`, ['**', ...rest]));
    return rest.length === 0 ? below : [...walk(folder, rest), ...below];
  }
  const matches = matcher(part!);
  return entries.flatMap((entry) => {
    if (!matches.test(entry.name)) return [];
    const path = folder === '/' ? `/${entry.name}` : `${folder}/${entry.name}`;
    if (rest.length > 0) return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? walk(path, rest) : [];
    return isFile(path) ? [path] : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // A folder that is not there, or is none, matches nothing.
  }
}

/** One part of a path as an expression: names that begin with a dot are matched only by a dot. */
function matcher(part: string): RegExp {
  const body = part.replace(/\[!?[^\]]+\]|[*?]|[\\^$.|+(){}[\]]/g, (found) => {
    if (found === '*') return '[^/]*';
    if (found === '?') return '[^/]';
    if (found.length > 1) return found.startsWith('[!') ? `[^${found.slice(2)}` : found;
    return `\\${found}`;
  });
  return new RegExp(`^${part.startsWith('.') ? '' : '(?!\\.)'}${body}$`);
}

/** The files of days or hours from `start` up to `end`, without it: `<path>/<yyyymmdd>/<hh><wildcard>` with hours. */
export function datedPatterns(path: string, start: string, end: string, options: DatedOptions = {}): string[] {
  const { hourly = false, wildcard = '*' } = checkOptions('datedPatterns', options, ['hourly', 'wildcard']);
  const stepMs = hourly ? HOUR_MS : 24 * HOUR_MS;
  const found: string[] = [];
  for (let ms = timeOf(path, start); ms < timeOf(path, end); ms += stepMs) {
    const text = new Date(ms).toISOString().replace(/[-T:]/g, '');
    found.push(join(path, text.slice(0, 8), hourly ? `${text.slice(8, 10)}${wildcard}` : wildcard));
  }
  return found;
}

export interface DatedOptions {
  /** Default: false, a folder a day. */
  readonly hourly?: boolean;
  /** Default: `*`. */
  readonly wildcard?: string;
}
