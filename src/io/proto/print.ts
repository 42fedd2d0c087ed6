/**
 * @file The text form of a message on one line, as errors and merging of tables show it; equal messages print equally.
 */
import { formatPbtxtDouble, quotePbtxt } from '../pbtxt.js';
import { type Field, type Fields, indexOf, type Message, type Value, type ValueOf } from './field.js';

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function printMessage<F extends Fields>(message: Message<F>, value: ValueOf<F>): string {
  const parts: string[] = [];
  for (const [key, field] of indexOf(message).ordered) {
    const given = (value as Value)[key];
    if (given !== undefined) for (const one of occurrences(field, given)) parts.push(`${snake(key)}${one}`);
  }
  return parts.join(' ');
}

function occurrences(field: Field<unknown>, value: unknown): string[] {
  if (field.keyed === true) return [...(value as ReadonlyMap<string, Value>)].map((entry) => printEntry(field, entry));
  if (field.repeated) return Array.from(value as Iterable<unknown>, (one) => printOne(field, one));
  return [printOne(field, value)];
}

function printOne(field: Field<unknown>, value: unknown): string {
  return field.kind === 'message' ? printSub(field, value as Value) : `: ${printScalar(field, value)}`;
}

function printSub({ message }: Field<unknown>, value: Value): string {
  const inner = printMessage(message!, value);
  return inner === '' ? ' { }' : ` { ${inner} }`;
}

function printEntry(field: Field<unknown>, [key, value]: readonly [string, Value]): string {
  return ` { key: ${quotePbtxt(key)} value${printSub(field, value)} }`;
}

function printScalar({ kind, names }: Field<unknown>, value: unknown): string {
  if (kind === 'float') return shortFloat(value as number);
  if (kind === 'double') return formatPbtxtDouble(value as number);
  if (kind === 'fixed64') return String(BigInt.asUintN(64, value as bigint));
  if (kind === 'string' || kind === 'bytes') return quotePbtxt(value as string | Uint8Array);
  return names?.[value as number] ?? String(value);
}

/** The shortest decimal that reads back as the same float32. */
function shortFloat(value: number): string {
  const single = Math.fround(value);
  for (let digits = 6; digits <= 9; digits++) {
    const text = String(Number(single.toPrecision(digits)));
    if (Math.fround(Number(text)) === single) return text;
  }
  return formatPbtxtDouble(single);
}
