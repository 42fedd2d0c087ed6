/**
 * @file Turns one zod schema into command-line flags: names, help, defaults, checks and types come from the same place.
 *
 * Every value arrives as the text the user typed. Checks that fail become ML_FLAG with the flag, the reason and a hint.
 */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { MonolithError } from '../base/errors.js';
import { suggest } from '../base/suggest.js';

export interface FlagMeta {
  readonly help: string;
  /** Placeholder of the value in the help; a flag without one is a switch. */
  readonly value?: string;
  /** Shown in place of the default's value. */
  readonly defaultText?: string;
  /** A switch that is on, and has a flag that turns it off: `--no-report`. */
  readonly negated?: boolean;
}

/** Help of each flag's schema. */
export const flagMeta = z.registry<FlagMeta>();

export const switchFlag = () => z.boolean().default(false);

type Context = z.RefinementCtx;

/** Fails the check of a flag with a reason and a hint. */
export function refuse(context: Context, message: string, hint: string | undefined, flag?: string): typeof z.NEVER {
  context.addIssue({
    code: 'custom',
    message,
    params: { hint },
    ...(flag === undefined ? {} : { path: [flag] }),
  });
  return z.NEVER;
}

/**
 * Digits only. `1e3`, `0x10` and `1_000` are refused rather than read, since a typing slip in a step count costs hours;
 * the hint spells the number out.
 */
export function wholeNumber(min: number, max: number) {
  return z.string().transform((text, context): number => {
    const value = Number(text.replaceAll('_', ''));
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const range = `from ${min} to ${max}`;
    if (/^-?\d+$/.test(text)) {
      return refuse(
        context,
        `must be ${range}, found ${text}`,
        `the nearest value it takes is ${value < min ? min : max}`,
      );
    }
    const meant = text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max;
    return refuse(
      context,
      `must be a whole number in plain digits, found "${text}"`,
      meant ? `write ${value}` : `it takes a number ${range}`,
    );
  });
}

/** A number with a point at most, from 0 on. */
export function decimalNumber() {
  return z.string().transform((text, context): number => {
    if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
    return refuse(context, `must be a number in plain digits, found "${text}"`, 'write 0.001, for example');
  });
}

/** `A:B`, a range of steps: from A on, up to but without B. */
export function stepRange() {
  return z.string().transform((text, context): { readonly first: number; readonly end: number } => {
    const [first, end] = (/^(\d{1,15}):(\d{1,15})$/.exec(text) ?? []).slice(1).map(Number);
    if (first === undefined || end === undefined) {
      return refuse(
        context,
        `must be two steps with a colon between them, found "${text}"`,
        'write 100:110, for example',
      );
    }
    if (first >= 1 && end > first) return { first, end };
    return refuse(
      context,
      `must begin at 1 or later and end after that, found "${text}"`,
      'write 100:110, for example',
    );
  });
}

/** One of `values`. `hints` answers words that people may expect to be known. */
export function oneOf<const T extends string>(values: readonly T[], hints: Readonly<Record<string, string>> = {}) {
  const schema = z.string().transform((text, context): T => {
    const found = values.find((value) => value === text);
    if (found !== undefined) return found;
    const near = suggest(text, values);
    const hint = hints[text] ?? (near === undefined ? `it takes ${values.join(' or ')}` : `did you mean ${near}?`);
    return refuse(context, `must be ${values.join(' or ')}, found "${text}"`, hint);
  });
  choices.set(schema, values);
  return schema;
}

/** Values of flags that take one of a few, by their schema, and by the option that was made of it. */
const choices = new WeakMap<object, readonly string[]>();

/** The values that an option of `addOptions` takes, where they are a few. */
export const choicesOf = (option: Option): readonly string[] | undefined => choices.get(option);

/** The same of a schema, under its default. */
function choicesIn(field: z.ZodType): readonly string[] | undefined {
  for (let inner: z.ZodType | undefined = field; inner !== undefined; ) {
    const found = choices.get(inner);
    if (found !== undefined) return found;
    inner = (inner as { readonly def?: { readonly innerType?: z.ZodType } }).def?.innerType;
  }
  return undefined;
}

/**
 * A path. One that looks like a flag is taken for a forgotten value, so that no folder called `--json` is ever made.
 */
export function pathName() {
  return z.string().transform((text, context): string => {
    if (text.trim() === '') return refuse(context, 'must not be empty', 'give a path, or leave the flag out');
    if (text.includes('\0')) return refuse(context, 'must not hold a NUL character', undefined);
    if (text.startsWith('-')) {
      return refuse(context, `needs a path, found the flag "${text}"`, `write ./${text} if the name does begin so`);
    }
    return text;
  });
}

/** `batchSize` → `--batch-size`. */
export function flagName(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

type FlagSchema = z.ZodObject<Record<string, z.ZodType>>;

/** Adds a flag to `command` for each key of `shape`. */
export function addOptions(command: Command, shape: Readonly<Record<string, z.ZodType>>, group?: string): void {
  for (const [key, field] of Object.entries(shape)) {
    const meta = flagMeta.get(field) ?? { help: '' };
    const name = meta.negated === true ? flagName(key).replace('--', '--no-') : flagName(key);
    const option = new Option(meta.value === undefined ? name : `${name} <${meta.value}>`, describe(field, meta));
    // Commander would let the last of two win; two different wishes are more likely a slip.
    if (meta.value !== undefined) option.argParser(refuseSecond(name));
    if (group !== undefined) option.helpGroup(group);
    const values = choicesIn(field);
    if (values !== undefined) choices.set(option, values);
    command.addOption(option);
  }
}

function describe(field: z.ZodType, meta: FlagMeta): string {
  const fallback = field.safeParse(undefined);
  const value = fallback.success ? fallback.data : undefined;
  const shown =
    meta.defaultText ?? (typeof value === 'number' || typeof value === 'string' ? String(value) : undefined);
  return shown === undefined ? meta.help : `${meta.help}. Default: ${shown}.`;
}

function refuseSecond(flag: string): (value: string, previous: string | undefined) => string {
  return (value, previous) => {
    if (previous === undefined || previous === value) return value;
    throw new MonolithError(
      'ML_FLAG',
      { flag, reason: `given twice, as "${previous}" and as "${value}"` },
      { hint: 'give it once' },
    );
  };
}

/** The checked values of the flags in `raw`, with defaults filled in. */
export function parseFlags<S extends FlagSchema>(schema: S, raw: unknown, command: string): z.output<S> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const key = String(issue.path[0] ?? command);
  const meta = schema.shape[key] && flagMeta.get(schema.shape[key]);
  if (
    issue.code === 'invalid_type' &&
    meta?.value !== undefined &&
    (raw as Record<string, unknown>)[key] === undefined
  ) {
    const hint = `${flagName(key)} <${meta.value}>: ${meta.help}`;
    throw new MonolithError('ML_FLAG', { flag: flagName(key), reason: 'is missing' }, { hint });
  }
  const hint: unknown = issue.code === 'custom' ? issue.params?.hint : undefined;
  throw new MonolithError(
    'ML_FLAG',
    { flag: flagName(key), reason: issue.message },
    { hint: typeof hint === 'string' ? hint : `see monolith ${command} --help` },
  );
}

/** Flags that every command has. */
export const outputFlags = {
  json: switchFlag().register(flagMeta, { help: 'print JSON' }),
  verbose: switchFlag().register(flagMeta, { help: 'show causes and stacks of errors' }),
};
export const outputSchema = z.object(outputFlags);

export const quietFlag = {
  quiet: switchFlag().register(flagMeta, { help: 'print the result only' }),
};
