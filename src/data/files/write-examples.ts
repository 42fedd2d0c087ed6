/** @file Rows as records of tf.Example: texts as bytes, whole numbers as int64, other numbers as floats. */
import { frameRecord, RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../io/record-writer.js';
import { encodeTfExample } from '../../io/tf-example.js';
import type { DataRow } from './place.js';
import type { RowEncoder } from './row-encoder.js';

const text = new TextEncoder();

export function exampleEncoder(): RowEncoder {
  return { block: (rows) => Buffer.concat(rows.map(recordOf)) };
}

type Values = Float32Array | BigInt64Array | readonly Uint8Array[];

function recordOf(row: DataRow): Uint8Array {
  const features: Record<string, Values> = {};
  for (const [name, cell] of Object.entries(row)) {
    const found = featureOf(cell);
    if (found !== undefined) features[name] = found;
  }
  const payload = encodeTfExample(features);
  const bytes = new Uint8Array(RECORD_HEADER_BYTES + payload.length + RECORD_FOOTER_BYTES);
  bytes.set(payload, RECORD_HEADER_BYTES);
  frameRecord(bytes, new DataView(bytes.buffer), 0, payload.length);
  return bytes;
}

/** Undefined of a missing value: a feature that is not there. */
function featureOf(cell: unknown): Values | undefined {
  if (cell === undefined || cell === null || cell === '') return undefined;
  const isList = Array.isArray(cell) || ArrayBuffer.isView(cell);
  const values = isList ? Array.from(cell as ArrayLike<unknown>) : [cell];
  if (values.length === 0) return undefined;
  const whole = (value: unknown) => typeof value === 'bigint' || typeof value === 'boolean' || isInteger(value);
  if (values.every(whole)) {
    return BigInt64Array.from(values, (value) => BigInt(value as number));
  }
  if (values.every((value) => typeof value === 'number')) {
    return Float32Array.from(values as number[]);
  }
  return values.map((value) => text.encode(String(value)));
}

const isInteger = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value);
