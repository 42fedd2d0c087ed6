/**
 * @file A configuration record: fields with defaults that are checked when they are given and when they are resolved.
 *
 * A record is a plain object to its user, who may change it until it is resolved. What was given and what a rule put in
 * is remembered, so that the resolved configuration can say where each value came from.
 */
import { checkKeys } from '../../base/check-options.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { snakeName } from '../../base/snake-case.js';
import { checkedValue, type FieldTable, fieldName, sameFieldValue, unknownField, type ValuesOf } from './field.js';

/** Where a value came from: a record, a flag, a variable of the environment, a rule; nothing for a default. */
export type Origins = Map<string, { readonly value: unknown; readonly origin: string }>;

const origins = new WeakMap<object, Origins>();

/** A class of records, with what is known of them. */
export interface RecordClass {
  readonly name: string;
  readonly fields: FieldTable;
}

/** The table of a record's class. */
export const fieldsOf = (record: object): FieldTable => (record.constructor as unknown as RecordClass).fields;

/** A record as something whose properties are looked up by name. */
export const propertiesOf = (record: object) => record as Record<string, unknown>;

export class ConfigRecord {
  static readonly fields: FieldTable = {};

  /** Fields by their names; ML_OPTION for one that is unknown, with the nearest name, or ill-typed. */
  constructor(values: object = {}) {
    const { fields, name } = new.target as RecordClass;
    checkKeys(name, values, Object.keys({ ...fields, ...values }));
    for (const [key, { default: value }] of Object.entries(fields)) propertiesOf(this)[key] = value;
    origins.set(this, new Map());
    for (const [key, value] of Object.entries(values)) {
      // As with parameters that have a default: undefined stands for the default.
      if (value !== undefined) setField(this, key, value, name);
    }
  }

  /** All fields but functions, by their names in snake case. */
  toJSON(): Record<string, unknown> {
    const entries = Object.entries(fieldsOf(this)).filter(([, { kind }]) => kind !== 'function');
    return Object.fromEntries(entries.map(([name]) => [snakeName(name), propertiesOf(this)[name]]));
  }

  /** The record of a JSON text or object as `toJSON` gives it, names in snake case; what is left out is a default. */
  static fromJson<T extends ConfigRecord>(this: new (values?: object) => T, json: string | object): T {
    // biome-ignore lint/complexity/noThisInStatic: a record of the class that it is called on
    return recordOf(this, json);
  }

  /** Names of the fields that differ from their defaults. */
  changed(): string[] {
    const names = Object.entries(fieldsOf(this));
    return names
      .filter(([name, field]) => !sameFieldValue(propertiesOf(this)[name], field.default))
      .map(([name]) => name);
  }
}

/** Sets a field and remembers where its value came from, where that is not its default. */
export function setField(record: object, key: string, value: unknown, origin: string): void {
  const fields = fieldsOf(record);
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  const where = record.constructor.name;
  if (field === undefined) throw unknownField(where, key, Object.keys(fields));
  const checked = checkedValue(where, key, field, value);
  propertiesOf(record)[key] = checked;
  const known = origins.get(record)!;
  if (sameFieldValue(checked, field.default) && !known.has(key)) return;
  known.set(key, { value: checked, origin });
}

/** Checks a record again, since its user may have changed it. */
export function checkRecord(record: object): void {
  const fields = fieldsOf(record);
  const where = record.constructor.name;
  for (const [key, value] of Object.entries(record)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined) throw unknownField(where, key, Object.keys(fields));
    propertiesOf(record)[key] = checkedValue(where, key, field, value);
  }
}

/** Where the value of a field came from. One that was assigned after the record was made came from that. */
export function originOf(record: object, key: string): string {
  const value = propertiesOf(record)[key];
  const known = origins.get(record)?.get(key);
  if (known !== undefined && sameFieldValue(known.value, value)) return known.origin;
  return sameFieldValue(value, fieldsOf(record)[key]!.default) ? 'default' : record.constructor.name;
}

function recordOf<T>(Made: new (values?: object) => T, json: string | object): T {
  return new Made(fromSnakeCase(Made.name, typeof json === 'string' ? parse(Made.name, json) : json));
}

function fromSnakeCase(where: string, json: unknown): object {
  checkKeys(where, json, Object.keys(json ?? {}));
  return Object.fromEntries(Object.entries(json as object).map(([key, value]) => [fieldName(key), value]));
}

function parse(where: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MonolithError('ML_OPTION', { where, reason: `the text is not JSON: ${messageOf(cause)}` }, { cause });
  }
}

/** What makes records of a table. */
export interface RecordConstructor<F extends FieldTable, Base = ConfigRecord> {
  new (values?: Partial<ValuesOf<F>>): Base & ValuesOf<F>;
  readonly fields: F;
  fromJson<T extends ConfigRecord>(this: new (values?: Partial<ValuesOf<F>>) => T, json: string | object): T;
}

/**
 * A class of records with the properties of a table.
 *
 * ```ts
 * class PlotConfig extends recordClass({ width: int(80, 'Columns.') }) {}
 * new PlotConfig({ width: 100 }).width; // 100
 * ```
 */
export function recordClass<F extends FieldTable>(fields: F): RecordConstructor<F> {
  class Fields extends ConfigRecord {
    static override readonly fields: F = fields;
    static readonly doc = docOf(fields);
  }
  return Fields as unknown as RecordConstructor<F>;
}

/** The same with what `Base` has before it. */
export function extendRecord<B extends FieldTable, F extends FieldTable, T extends ConfigRecord>(
  base: RecordConstructor<B> & (new (...args: never[]) => T),
  fields: F,
): RecordConstructor<B & F, T> {
  class Fields extends (base as unknown as typeof ConfigRecord) {
    static override readonly fields = { ...base.fields, ...fields };
    static readonly doc = docOf(fields);
  }
  return Fields as unknown as RecordConstructor<B & F, T>;
}

/** The doc block of a table: what flags are made of. Fields without a flag of their own are not in it. */
function docOf(fields: FieldTable): string {
  const flagged = Object.entries(fields).filter(([, { flag }]) => flag === true);
  return flagged.map(([name, { help }]) => `:param ${snakeName(name)}: ${help}`).join('\n');
}
