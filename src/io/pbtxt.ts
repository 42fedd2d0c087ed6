/**
 * @file Protobuf text format: a reader into plain fields and the few pieces a writer needs.
 *
 * By hand because no JavaScript protobuf runtime offers it. The reader knows no schema: it returns fields in order and
 * the caller decides what they mean, so that a damaged name is noticed where it matters.
 */
import { MonolithError } from '../base/errors.js';
import { checkLimit } from '../base/limits.js';

/** Text of a number, a bool or an enum name, a string's bytes, or the fields of a sub-message. */
export type PbtxtValue =
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'string'; readonly bytes: Uint8Array }
  | { readonly kind: 'message'; readonly fields: readonly PbtxtField[] };

export interface PbtxtField {
  readonly name: string;
  readonly value: PbtxtValue;
  readonly line: number;
}

const SHORT_ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "'": 39,
  '?': 63,
  '\\': 92,
};

/** The quoted form of a string or of bytes: C escapes, and octal for everything outside printable ASCII. */
export function quotePbtxt(value: string | Uint8Array): string {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  let quoted = '';
  for (const byte of bytes) {
    if (byte === 10) quoted += '\\n';
    else if (byte === 13) quoted += '\\r';
    else if (byte === 9) quoted += '\\t';
    else if (byte === 34 || byte === 39 || byte === 92) quoted += `\\${String.fromCharCode(byte)}`;
    else if (byte < 0x20 || byte >= 0x7f) quoted += `\\${byte.toString(8).padStart(3, '0')}`;
    else quoted += String.fromCharCode(byte);
  }
  return `"${quoted}"`;
}

/** A double in shortest round-trip form, always with a point or an exponent. */
export function formatPbtxtDouble(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** Fields of a message in file order. ML_PBTXT with file and line when the text is malformed. */
export function parsePbtxt(text: string, file: string): PbtxtField[] {
  return new PbtxtParser(text, file).parse();
}

class PbtxtParser {
  readonly #text: string;
  readonly #file: string;
  #at = 0;
  #line = 1;
  #depth = 0;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  parse(): PbtxtField[] {
    const fields = this.#fields('');
    if (this.#at < this.#text.length) this.#refuse(`'${this.#text[this.#at]}' is unexpected`);
    return fields;
  }

  /** Fields up to `close`, which is consumed, or up to the end when `close` is empty. */
  #fields(close: string): PbtxtField[] {
    const fields: PbtxtField[] = [];
    for (;;) {
      const next = this.#peek();
      if (next === close) {
        if (close !== '') this.#at++;
        return fields;
      }
      if (next === '') this.#refuse(`'${close}' is missing`);
      this.#field(fields);
    }
  }

  #field(fields: PbtxtField[]): void {
    const line = this.#line;
    const name = this.#match(/[A-Za-z_][A-Za-z0-9_]*/y) ?? this.#refuse('a field name is expected');
    const hasColon = this.#peek() === ':';
    if (hasColon) this.#at++;
    const next = this.#peek();
    const opensMessage = next === '{' || next === '<';
    if (!hasColon && !opensMessage) this.#refuse(`'${name}' has no value`);
    if (next === '[') this.#list(name, line, fields);
    else fields.push({ name, value: this.#value(), line });
    const separator = this.#peek();
    if (separator === ',' || separator === ';') this.#at++;
  }

  #list(name: string, line: number, fields: PbtxtField[]): void {
    this.#at++;
    if (this.#peek() === ']') {
      this.#at++;
      return;
    }
    for (;;) {
      fields.push({ name, value: this.#value(), line });
      const next = this.#peek();
      this.#at++;
      if (next === ']') return;
      if (next !== ',') this.#refuse("',' or ']' is expected in a list");
    }
  }

  #value(): PbtxtValue {
    const next = this.#peek();
    if (next === '{' || next === '<') {
      this.#at++;
      checkLimit('textDepth', ++this.#depth, (reason) => this.#refuse(`the depth ${reason}`));
      const fields = this.#fields(next === '{' ? '}' : '>');
      this.#depth--;
      return { kind: 'message', fields };
    }
    if (next === '"' || next === "'") return { kind: 'string', bytes: this.#strings() };
    const word = this.#match(/[-+]?[A-Za-z0-9_.][A-Za-z0-9_.+-]*/y) ?? this.#refuse('a value is expected');
    return { kind: 'word', word };
  }

  /** Adjacent literals are one string. */
  #strings(): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let next = this.#peek(); next === '"' || next === "'"; next = this.#peek()) parts.push(this.#string(next));
    return Buffer.concat(parts);
  }

  #string(quote: string): Uint8Array {
    const bytes: number[] = [];
    this.#at++;
    for (;;) {
      const code = this.#text.codePointAt(this.#at);
      if (code === undefined || code === 10) this.#refuse('a string does not end');
      const char = String.fromCodePoint(code);
      this.#at += char.length;
      if (char === quote) return Uint8Array.from(bytes);
      if (char === '\\') bytes.push(...this.#escape());
      else bytes.push(...Buffer.from(char, 'utf8'));
    }
  }

  #escape(): Iterable<number> {
    const octal = this.#matchHere(/[0-7]{1,3}/y);
    if (octal !== null) return [this.#byte(Number.parseInt(octal, 8))];
    const hex = this.#matchHere(/x[0-9A-Fa-f]{1,2}/y);
    if (hex !== null) return [Number.parseInt(hex.slice(1), 16)];
    const unicode = this.#matchHere(/u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}/y);
    if (unicode !== null) {
      const code = Number.parseInt(unicode.slice(1), 16);
      if (code > 0x10ffff) this.#refuse('a code point is out of range');
      return Buffer.from(String.fromCodePoint(code), 'utf8');
    }
    const short = SHORT_ESCAPES[this.#text[this.#at] ?? ''];
    if (short === undefined) this.#refuse('an escape is unknown');
    this.#at++;
    return [short];
  }

  #byte(value: number): number {
    if (value > 0xff) this.#refuse('an octal escape is out of range');
    return value;
  }

  /** The next character after spaces and comments, '' at the end. */
  #peek(): string {
    for (;;) {
      const space = this.#matchHere(/(?:\s+|#[^\n]*)/y);
      if (space === null) return this.#text[this.#at] ?? '';
      for (const char of space) if (char === '\n') this.#line++;
    }
  }

  #match(pattern: RegExp): string | null {
    this.#peek();
    return this.#matchHere(pattern);
  }

  #matchHere(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }

  #refuse(reason: string): never {
    throw new MonolithError('ML_PBTXT', { file: this.#file, line: this.#line, reason });
  }
}
