/** @file Records of tf.Example byte by byte, in forms that no writer of ours has too. */
import { frameRecord, RECORD_FOOTER_BYTES, RECORD_HEADER_BYTES } from '../../src/io/record-writer.js';

export function varint(value: bigint | number): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

/** A field of bytes. */
export function bytesField(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export type Form = 'packed' | 'each' | 'mixed';

/** A feature of whole numbers. */
export function ints(values: readonly (bigint | number)[], form: Form = 'packed'): Buffer {
  const one = (value: bigint | number) => Buffer.concat([varint(8), varint(value)]);
  return bytesField(3, list(values, form, one, varint));
}

export function floats(values: readonly number[], form: Form = 'packed'): Buffer {
  const bytes = (value: number) => Buffer.from(Float32Array.of(value).buffer);
  return bytesField(
    2,
    list(values, form, (value) => Buffer.concat([varint(13), bytes(value)]), bytes),
  );
}

export function texts(values: readonly (string | Uint8Array)[]): Buffer {
  const all = values.map((value) => bytesField(1, typeof value === 'string' ? Buffer.from(value) : value));
  return bytesField(1, Buffer.concat(all));
}

function list<T>(values: readonly T[], form: Form, one: (value: T) => Buffer, packed: (value: T) => Buffer): Buffer {
  const pack = (some: readonly T[]) => bytesField(1, Buffer.concat(some.map(packed)));
  if (form === 'packed') return pack(values);
  if (form === 'each') return Buffer.concat(values.map(one));
  return Buffer.concat([...values.slice(0, 1).map(one), pack(values.slice(1, 3)), pack(values.slice(3))]);
}

/** An example of features by name, in this order, names as often as they are there. */
export function example(features: readonly (readonly [name: string, feature: Uint8Array])[]): Buffer {
  const entries = features.map(([name, feature]) =>
    bytesField(1, Buffer.concat([bytesField(1, Buffer.from(name)), bytesField(2, feature)])),
  );
  return bytesField(1, Buffer.concat(entries));
}

/** Payloads as the bytes of a TFRecord file. */
export function recordFile(payloads: readonly Uint8Array[]): Buffer {
  const records = payloads.map((payload) => {
    const bytes = new Uint8Array(RECORD_HEADER_BYTES + payload.length + RECORD_FOOTER_BYTES);
    bytes.set(payload, RECORD_HEADER_BYTES);
    frameRecord(bytes, new DataView(bytes.buffer), 0, payload.length);
    return bytes;
  });
  return Buffer.concat(records);
}
