/** @file Values of parity files as tensors. */
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { type Nested, Tensor } from '../../src/tensor/tensor.js';
import { UnknownForm } from './case.js';
import { expandRange } from './compare.js';

type Json = number | string | readonly Json[];

/** Numbers, with the strings for what JSON cannot say. */
function numeric(value: unknown): Nested {
  const item = expandRange(value) as Json;
  if (Array.isArray(item)) return item.map(numeric);
  if (item === 'NaN') return Number.NaN;
  if (item === 'Inf') return Number.POSITIVE_INFINITY;
  if (item === '-Inf') return Number.NEGATIVE_INFINITY;
  if (typeof item === 'string' && /^-?\d+$/.test(item)) return BigInt.asIntN(64, BigInt(item));
  if (typeof item === 'number' || typeof item === 'boolean') return item;
  throw new UnknownForm(`${JSON.stringify(value)} is not numeric`);
}

export const f32 = (value: unknown): Tensor<'float32'> => Tensor.of('float32', numeric(value));
export const i64 = (value: unknown): Tensor<'int64'> => Tensor.of('int64', numeric(value));
export const i32 = (value: unknown): Tensor<'int32'> => Tensor.of('int32', numeric(value));

/** A matrix that keeps its width when it has no rows. */
export function matrix(value: unknown, width: number): Tensor<'float32'> {
  const rows = value as readonly unknown[];
  return rows.length === 0 ? new Tensor('float32', [0, width], new Float32Array(0)) : f32(value);
}

export const ids = (value: unknown): BigInt64Array => i64(value).data;
export const ragged = (dtype: 'int64' | 'int32' | 'float32', rows: unknown): RaggedTensor =>
  RaggedTensor.fromRows(dtype, numeric(rows) as readonly (readonly Nested[])[]);

/** A list, each entry through `make`. */
export function list<T>(value: unknown, make: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new UnknownForm(`${JSON.stringify(value)} is not a list`);
  return value.map(make);
}

/** `count` ones. */
export const ones = (shape: readonly number[]): Tensor<'float32'> =>
  new Tensor('float32', shape, new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(1));
