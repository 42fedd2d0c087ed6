/**
 * @file Flags that are made from the doc blocks of records, and records that take the values of flags (gflags_utils).
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { snakeName } from '../../base/snake-case.js';
import { type ConfigRecord, fieldsOf, propertiesOf, type RecordClass, setField } from './config-record.js';
import { type Field, type FieldTable, fieldName, sameFieldValue } from './field.js';
import type { FlagDefinition, Flags } from './flags.js';

/** A class with a doc block: `:param name: text` lines, and lines that go on with the text before them. */
export interface Documented {
  readonly name: string;
  readonly doc?: string;
}

const PARAM = /^:param ([a-zA-Z0-9._-]+):(.*)$/;

/**
 * What a doc block says about each parameter. Of a class, those of its base classes come first (`isNested`), and what a
 * derived one says takes their place.
 *
 * ```ts
 * extractHelpInfo(':param num_ps: Parameter\n  servers.'); // { num_ps: 'Parameter servers.' }
 * ```
 */
export function extractHelpInfo(documented: string | Documented, isNested = true): Record<string, string> {
  if (typeof documented === 'string') return parseDoc(documented);
  const docs = lineage(documented).flatMap((one) => (Object.hasOwn(one, 'doc') ? [one.doc ?? ''] : []));
  return Object.assign({}, ...(isNested ? docs : docs.slice(-1)).map(parseDoc));
}

/** A class and, before it, those it is derived from. */
function lineage<T extends object>(derived: T): T[] {
  const classes: T[] = [];
  for (let one: T | null = derived; typeof one === 'function'; one = Object.getPrototypeOf(one)) classes.unshift(one);
  return classes;
}

function parseDoc(doc: string): Record<string, string> {
  const help: Record<string, string> = {};
  let name: string | undefined;
  for (const line of doc.split('\n').map((one) => one.trim())) {
    const [, param, text] = PARAM.exec(line) ?? [];
    if (param !== undefined) {
      name = param;
      help[name] = text!;
    } else if (name !== undefined) help[name] += ` ${line}`;
  }
  return Object.fromEntries(Object.entries(help).map(([key, text]) => [key, text.replace(/\s+/g, ' ').trim()]));
}

export interface ExtractFlagsOptions {
  readonly flags: Flags;
  /** Names of fields that get none. */
  readonly skipFlags?: readonly string[];
  readonly isNested?: boolean;
}

const KNOWN_OPTIONS = ['flags', 'skipFlags', 'isNested'] as const;

/** Defines a flag for each field that has a description and is not skipped. A flag that cannot be had is left out. */
export function extractFlags(record: RecordClass & Documented, options: ExtractFlagsOptions): void {
  const { flags, skipFlags = [], isNested = true } = checkOptions('extractFlags', options, KNOWN_OPTIONS);
  const help = extractHelpInfo(record, isNested);
  for (const [key, field] of Object.entries(record.fields)) {
    const name = snakeName(key);
    const text = help[name];
    if (text === undefined || skipFlags.includes(name) || !hasFlag(field) || flags.has(name)) continue;
    flags.define(name, flagOf(field, text));
  }
}

/** The flag of a field: its help begins with the type and the default. */
export function flagOf(field: Field & { readonly kind: FlagDefinition['kind'] }, text: string): FlagDefinition {
  const { kind, default: value, choices } = field;
  const type = kind === 'list' ? 'string' : kind;
  const help = `${type}, default=${value === null ? 'null' : String(value)}, ${text}`;
  return choices === undefined ? { kind, default: value, help } : { kind, default: value, help, choices };
}

const hasFlag = (field: Field): field is Field & { kind: FlagDefinition['kind'] } =>
  field.kind !== 'map' && field.kind !== 'function';

/**
 * Gives a record the values of flags: of each field that still has its default and whose flag has not. Does nothing
 * before a command line was read.
 *
 * ```ts
 * update(config, flags); // { int1: 1, int2: 0 } with --int1=2 --int2=3 becomes { int1: 1, int2: 3 }
 * ```
 */
export function update(config: ConfigRecord, flags: Flags): void {
  if (!flags.parsed) return;
  for (const [key, field] of Object.entries(fieldsOf(config))) {
    const name = snakeName(key);
    if (!flags.has(name)) continue;
    const given = flags.get(name);
    const untouched = sameFieldValue(propertiesOf(config)[key], field.default);
    if (untouched && !sameFieldValue(given, field.default)) setField(config, key, given, `flag --${name}`);
  }
}

interface Links {
  readonly flags: Flags;
  readonly pairs: ReadonlyMap<string, string>;
}

const links = new WeakMap<object, Links>();

/**
 * Has fields of a class take the values of flags: those of the list from flags of their name, those of the map from the
 * flag it says. Applied to records by `updateByFlags`.
 */
export function linkDataclassToFlags(
  linkedList: readonly string[],
  linkedMap: Readonly<Record<string, string>>,
  flags: Flags,
): <C extends RecordClass>(record: C) => C {
  return (record) => {
    const pairs = new Map([...linkedList.map((name) => [name, name] as const), ...Object.entries(linkedMap)]);
    const table: FieldTable = record.fields;
    for (const [name, flag] of pairs) {
      if (!Object.hasOwn(table, fieldName(name))) {
        throw new MonolithError('ML_LINK_FIELD', { name, type: record.name });
      }
      if (!flags.has(flag)) throw new MonolithError('ML_LINK_FLAG', { flag });
    }
    links.set(record, { flags, pairs });
    return record;
  };
}

/**
 * Takes the values of linked flags into a record: of fields with their default, from flags that have not theirs. The
 * flags are those it was linked to, where no others are given.
 */
export function updateByFlags<T extends ConfigRecord>(config: T, others?: Flags): T {
  for (const one of lineage(config.constructor as object)) {
    const { flags, pairs } = links.get(one) ?? {};
    for (const [name, flag] of pairs ?? []) {
      const key = fieldName(name);
      const untouched = sameFieldValue(propertiesOf(config)[key], fieldsOf(config)[key]!.default);
      const source = others ?? flags!;
      const given = source.get(flag);
      if (untouched && !sameFieldValue(given, source.defaultOf(flag))) setField(config, key, given, `flag --${flag}`);
    }
  }
  return config;
}

/**
 * Reads a command line. When it cannot be, the reason and the help of all flags are written, and the exit code is 1.
 *
 * ```ts
 * const { rest, exitCode } = parseFlags(flags, process.argv.slice(2), (text) => process.stderr.write(text));
 * ```
 */
export function parseFlags(
  flags: Flags,
  args: readonly string[],
  write: (text: string) => void,
): { readonly rest: readonly string[]; readonly exitCode: 0 | 1 } {
  try {
    return { rest: flags.parse(args), exitCode: 0 };
  } catch (error) {
    if (!(error instanceof MonolithError) || error.code !== 'ML_FLAG') throw error;
    const hint = error.hint === undefined ? '' : ` (${error.hint})`;
    write(`FATAL Flags parsing error: ${error.message}${hint}\n${flags.help()}\n`);
    write('Pass --helpshort or --helpfull to see help on flags.\n');
    return { rest: [], exitCode: 1 };
  }
}
