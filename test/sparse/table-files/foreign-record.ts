/** @file Records of tables as other writers may make them. */
import { ProtoWriter, WIRE_FIXED32 } from '../../../src/io/proto-writer.js';
import { frameRecord } from '../../../src/io/record-writer.js';

/** A record with fields in an order of their own, packed floats and a field nobody knows. */
export function foreignRecord(
  id: bigint,
  weights: readonly number[],
  state: readonly number[],
  time?: number,
): Uint8Array {
  const writer = new ProtoWriter();
  if (time !== undefined) writer.int64Field(4, time);
  writer.bytesField(9, new Uint8Array(3));
  writer.bytesField(2, new Uint8Array(Float32Array.from(weights).buffer));
  const dump = new ProtoWriter();
  for (const value of state) dump.tag(1, WIRE_FIXED32).raw(new Uint8Array(Float32Array.of(value).buffer));
  const single = new ProtoWriter().bytesField(1, dump.finish()).finish();
  writer.bytesField(3, new ProtoWriter().bytesField(1, single).finish()).sfixed64Field(1, id);
  const payload = writer.finish();
  const bytes = new Uint8Array(payload.length + 16);
  bytes.set(payload, 12);
  frameRecord(bytes, new DataView(bytes.buffer), 0, payload.length);
  return bytes;
}
