/**
 * @file Flags of a process as the reference has them (absl): `--num_ps=2`, `--num_ps 2`, `--is_local`, `--nois_local`.
 *
 * They only feed the resolving of a configuration; nothing else of the product reads them. Hyphens in names stand for
 * underscores.
 */
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { FieldKind } from './field.js';

export interface FlagDefinition {
  readonly kind: Exclude<FieldKind, 'map' | 'function'>;
  readonly default: unknown;
  readonly help: string;
  readonly choices?: readonly string[];
}

/** Where a flag's text says yes or no. */
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, t: true, 1: true, false: false, f: false, 0: false };

/** Flags by their names: what they may be, and what a command line gave them. */
export class Flags {
  readonly #definitions = new Map<string, FlagDefinition>();
  #values: Map<string, unknown> | undefined;

  /** ML_FLAG for a name that is taken. */
  define(name: string, definition: FlagDefinition): void {
    if (this.#definitions.has(name)) {
      throw new MonolithError('ML_FLAG', { flag: `--${name}`, reason: 'it is defined already' });
    }
    this.#definitions.set(name, definition);
  }

  /** Whether a command line was read. */
  get parsed(): boolean {
    return this.#values !== undefined;
  }

  has(name: string): boolean {
    return this.#definitions.has(name);
  }

  /** The value of a flag: its default until a command line was read. */
  get(name: string): unknown {
    const definition = this.#known(name);
    return this.#values?.has(name) ? this.#values.get(name) : definition.default;
  }

  defaultOf(name: string): unknown {
    return this.#known(name).default;
  }

  /** Names that the command line gave. */
  given(): string[] {
    return [...(this.#values?.keys() ?? [])];
  }

  /** Gives a flag a value, as if the command line had it. */
  set(name: string, value: unknown): void {
    this.#known(name);
    this.#values ??= new Map();
    this.#values.set(name, value);
  }

  /** Reads a command line and returns what is no flag. ML_FLAG, and nothing set, for one unknown or ill-typed. */
  parse(args: readonly string[]): string[] {
    const values = new Map<string, unknown>();
    const rest: string[] = [];
    for (let at = 0; at < args.length; at++) {
      const arg = args[at]!;
      if (arg === '--') {
        rest.push(...args.slice(at + 1));
        break;
      }
      const [, written, text] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(arg) ?? [];
      if (written === undefined) {
        rest.push(arg);
        continue;
      }
      const [name, definition, negated] = this.#find(written);
      if (negated || definition.kind === 'bool') {
        if (negated && text !== undefined) throw refused(name, `--no${name} takes no value, found "${text}"`);
        values.set(name, negated ? false : text === undefined ? true : flagValue(name, definition, text));
        continue;
      }
      const value = text ?? args[++at];
      if (value === undefined) throw refused(name, 'it needs a value');
      values.set(name, flagValue(name, definition, value));
    }
    this.#values = values;
    return rest;
  }

  /** Forgets the command line. */
  reset(): void {
    this.#values = undefined;
  }

  /** All flags with their help, by name. */
  help(): string {
    const names = [...this.#definitions.keys()].sort();
    return names.map((name) => `  --${name}: ${this.#definitions.get(name)!.help}`).join('\n');
  }

  names(): string[] {
    return [...this.#definitions.keys()];
  }

  #known(name: string): FlagDefinition {
    const found = this.#definitions.get(name);
    if (found === undefined) throw new MonolithError('ML_LINK_FLAG', { flag: name });
    return found;
  }

  #find(written: string): [name: string, definition: FlagDefinition, negated: boolean] {
    const name = written.replaceAll('-', '_');
    const found = this.#definitions.get(name);
    if (found !== undefined) return [name, found, false];
    const positive = name.replace(/^no_?/, '');
    const switched = positive === name ? undefined : this.#definitions.get(positive);
    if (switched?.kind === 'bool') return [positive, switched, true];
    const hint = didYouMean(name, this.names());
    const options = hint === undefined ? {} : { hint };
    throw new MonolithError('ML_FLAG', { flag: `--${written}`, reason: 'unknown command line flag' }, options);
  }
}

function flagValue(name: string, { kind, choices }: FlagDefinition, text: string): unknown {
  switch (kind) {
    case 'int':
      if (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
      throw refused(name, `must be a whole number, found "${text}"`);
    case 'float':
      if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
      throw refused(name, `must be a number, found "${text}"`);
    case 'bool': {
      const found = Object.hasOwn(BOOLEANS, text.toLowerCase()) ? BOOLEANS[text.toLowerCase()] : undefined;
      if (found !== undefined) return found;
      throw refused(name, `must be true or false, found "${text}"`);
    }
    case 'enum': {
      const found = choices!.find((one) => one === text.toLowerCase());
      if (found !== undefined) return found;
      throw refused(name, `must be one of ${choices!.join(', ')}, found "${text}"`, didYouMean(text, choices!));
    }
    case 'string':
    case 'list':
      return text;
    default:
      kind satisfies never;
      return text;
  }
}

function refused(name: string, reason: string, hint?: string): MonolithError {
  return new MonolithError('ML_FLAG', { flag: `--${name}`, reason }, hint === undefined ? {} : { hint });
}
