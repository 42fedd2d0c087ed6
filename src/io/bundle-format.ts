/**
 * @file Messages and element types of a tensor bundle (TF checkpoint V2): header, entries, keys of slices.
 */
import { MonolithError } from '../base/errors.js';
import { checkLimit, type LimitName } from '../base/limits.js';
import { ProtoReader } from './proto-reader.js';
import { ProtoWriter } from './proto-writer.js';

export type BundleDtype = 'float32' | 'float64' | 'int32' | 'uint8' | 'string' | 'int64' | 'bool';
export type BundleData = Float32Array | Float64Array | Int32Array | Uint8Array | BigInt64Array | readonly Uint8Array[];

/** A tensor with its values in row-major order; strings are one byte array per element, bools one byte each. */
export interface BundleTensor {
  readonly name: string;
  readonly dtype: BundleDtype;
  readonly shape: readonly number[];
  readonly data: BundleData;
}

/** Number in tensorflow.DataType and bytes per element (0: variable). */
export const BUNDLE_DTYPES: Readonly<Record<BundleDtype, { readonly code: number; readonly width: number }>> = {
  float32: { code: 1, width: 4 },
  float64: { code: 2, width: 8 },
  int32: { code: 3, width: 4 },
  uint8: { code: 4, width: 1 },
  string: { code: 7, width: 0 },
  int64: { code: 9, width: 8 },
  bool: { code: 10, width: 1 },
};

const DTYPE_OF_CODE = new Map(
  Object.entries(BUNDLE_DTYPES).map(([name, { code }]) => [code, name as BundleDtype] as const),
);

/** Start and length of a part along each dimension; a length of -1 is all of it. */
export type PartExtents = readonly (readonly [start: number, length: number])[];

/** An element type that cannot be read, by its number in tensorflow.DataType. */
export type UnknownDtype = `element type ${number}`;

export function isBundleDtype(dtype: string): dtype is BundleDtype {
  return Object.hasOwn(BUNDLE_DTYPES, dtype);
}

export interface BundleEntry {
  readonly dtype: BundleDtype | UnknownDtype;
  readonly shape: readonly number[];
  readonly shard: number;
  readonly offset: number;
  readonly size: number;
  /** Masked CRC-32C. */
  readonly crc: number;
  /** Parts of a partitioned variable; its data is under the keys of the parts. */
  readonly parts: readonly PartExtents[];
}

/** An entry that is written: never one of a partitioned variable. */
export type WrittenEntry = Omit<BundleEntry, 'parts' | 'dtype'> & { readonly dtype: BundleDtype };

export interface BundleHeader {
  readonly shardCount: number;
  readonly bigEndian: boolean;
}

const BUNDLE_VERSION = 1;

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

export function encodeHeader(shardCount: number): Uint8Array {
  const version = new ProtoWriter().int64Field(1, BUNDLE_VERSION).finish();
  return new ProtoWriter().int64Field(1, shardCount).bytesField(3, version).finish();
}

export function decodeHeader(bytes: Uint8Array, file: string): BundleHeader {
  const reader = new ProtoReader(bytes);
  let shardCount = 0;
  let bigEndian = false;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) shardCount = reader.int32();
    else if (field === 2) bigEndian = reader.int32() === 1;
    else if (field === 3) checkVersion(reader.message(), file);
    else reader.skip();
  }
  if (shardCount < 1) throw bundleError(file, `header names ${shardCount} data files`);
  return { shardCount, bigEndian };
}

function checkVersion(reader: ProtoReader, file: string): void {
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) {
      const minConsumer = reader.int32();
      if (minConsumer > BUNDLE_VERSION) throw bundleError(file, `needs a reader of version ${minConsumer}`);
    } else if (field === 3) {
      if (reader.int32s().includes(BUNDLE_VERSION))
        throw bundleError(file, `forbids readers of version ${BUNDLE_VERSION}`);
    } else reader.skip();
  }
}

export function encodeEntry(entry: WrittenEntry): Uint8Array {
  const shape = new ProtoWriter();
  for (const size of entry.shape) {
    const dim = new ProtoWriter();
    if (size !== 0) dim.int64Field(1, size);
    shape.bytesField(2, dim.finish());
  }
  const writer = new ProtoWriter().int64Field(1, BUNDLE_DTYPES[entry.dtype].code).bytesField(2, shape.finish());
  if (entry.shard !== 0) writer.int64Field(3, entry.shard);
  if (entry.offset !== 0) writer.int64Field(4, entry.offset);
  if (entry.size !== 0) writer.int64Field(5, entry.size);
  if (entry.crc !== 0) writer.fixed32Field(6, entry.crc);
  return writer.finish();
}

export function decodeEntry(bytes: Uint8Array): BundleEntry {
  const reader = new ProtoReader(bytes);
  let code = 0;
  let shape: number[] = [];
  const parts: PartExtents[] = [];
  const numbers = { shard: 0, offset: 0, size: 0, crc: 0 };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) code = reader.int32();
    else if (field === 2) shape = decodeShape(reader.message());
    else if (field === 3) numbers.shard = reader.uint();
    else if (field === 4) numbers.offset = reader.uint();
    else if (field === 5) numbers.size = reader.uint();
    else if (field === 6) numbers.crc = reader.fixed32();
    else if (field === 7) {
      parts.push(decodePart(reader.message()));
      checkCount('tensorParts', parts, 'slices');
    } else reader.skip();
  }
  // What cannot be read may stand beside what can: it is refused when it is asked for.
  return { dtype: DTYPE_OF_CODE.get(code) ?? `element type ${code}`, shape, parts, ...numbers };
}

/** Of an extent without a length the part has all. */
function decodePart(reader: ProtoReader): PartExtents {
  const extents: (readonly [number, number])[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== 1) reader.skip();
    else {
      const extent = reader.message();
      let [start, length] = [0, -1];
      for (let inner = extent.next(); inner !== 0; inner = extent.next()) {
        if (inner === 1) start = extent.uint();
        else if (inner === 2) length = extent.uint();
        else extent.skip();
      }
      extents.push([start, length]);
      checkCount('rank', extents, 'extent');
    }
  }
  return extents;
}

function decodeShape(reader: ProtoReader): number[] {
  const shape: number[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== 2) reader.skip();
    else {
      const dim = reader.message();
      let size = 0;
      for (let inner = dim.next(); inner !== 0; inner = dim.next()) {
        if (inner === 1) size = dim.uint();
        else dim.skip();
      }
      shape.push(size);
      checkCount('rank', shape, 'shape');
    }
  }
  return shape;
}

/** Counted as they come: a list of them costs two bytes an item in the file. */
function checkCount(limit: LimitName, items: readonly unknown[], field: string): void {
  checkLimit(limit, items.length, (reason) => {
    throw new MonolithError('ML_PROTO', { field: `BundleEntryProto.${field}`, offset: 0, reason });
  });
}

export function bundleError(file: string, reason: string, fields: Readonly<Record<string, unknown>> = {}) {
  return new MonolithError('ML_BUNDLE', { file, reason, ...fields });
}

/**
 * Key under which one part of a partitioned variable is stored; `slices` gives start and length per dimension.
 * The encoding keeps the order of the values in the order of the bytes and starts with 00, before any plain name.
 */
export function sliceKey(name: string, slices: PartExtents): Uint8Array {
  const bytes: number[] = [0];
  for (const byte of new TextEncoder().encode(name)) {
    if (byte === 0) bytes.push(0, 0xff);
    else if (byte === 0xff) bytes.push(0xff, 0);
    else bytes.push(byte);
  }
  bytes.push(0, 1, ...orderedUnsigned(slices.length));
  for (const [start, length] of slices) bytes.push(...orderedSigned(start), ...orderedSigned(length));
  return Uint8Array.from(bytes);
}

function orderedUnsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [bytes.length, ...bytes];
}

function orderedSigned(value: number): number[] {
  const big = BigInt(value);
  let size = 1n;
  while (big < -(1n << (7n * size - 1n)) || big >= 1n << (7n * size - 1n)) size++;
  const count = Number(size);
  const bits = BigInt.asUintN(8 * count, big);
  const bytes = Array.from({ length: count }, (_, i) => Number((bits >> BigInt(8 * (count - 1 - i))) & 0xffn));
  // The first `count` bits are set to mark the length; they are flipped for negative values, hence xor.
  const header = 0xffff & ~(0xffff >>> count);
  bytes[0] = bytes[0]! ^ (header >>> 8);
  if (count > 1) bytes[1] = bytes[1]! ^ (header & 0xff);
  return bytes;
}
