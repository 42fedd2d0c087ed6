/** @file JSON text as Python's json.dumps writes it: readers compare some of it byte for byte. */

/** What can be written: a whole number is written without a point, a `PythonFloat` always with one. */
export type PythonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | PythonFloat
  | readonly PythonValue[]
  | { readonly [key: string]: PythonValue };

/** A number that is a float in Python: 1 is written as `1.0`. */
export class PythonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** `", "` and `": "` between values, keys in their order, everything beyond ASCII escaped. */
export function pythonJson(value: PythonValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return pythonString(value);
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value).toString() : floatText(value);
  if (value instanceof PythonFloat) return floatText(value.value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(pythonJson).join(', ')}]`;
  const entries = Object.entries(value).map(([key, item]) => `${pythonString(key)}: ${pythonJson(item)}`);
  return `{${entries.join(', ')}}`;
}

const isList = (value: object): value is readonly PythonValue[] => Array.isArray(value);

function pythonString(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) =>
    c === '\u007f' ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Python's repr of a float: the shortest that reads back, with an exponent from 1e16 and below 1e-4. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [digits, power] = value.toExponential().split('e') as [string, string];
    return `${digits}e${power[0]}${power.slice(1).padStart(2, '0')}`;
  }
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.includes('.') ? text : `${text}.0`;
}
