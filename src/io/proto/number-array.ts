/** @file The typed arrays that packed numbers live in. Lists serve the kinds that have none here. */
import type { Field } from './field.js';

export type NumberArray = BigInt64Array | Float32Array | Float64Array;

export interface NumberArrayType {
  new (source: number | ArrayBuffer): NumberArray;
  from(values: Iterable<unknown>): NumberArray;
  readonly BYTES_PER_ELEMENT: number;
}

const ARRAYS: Partial<Record<Field<unknown>['kind'], NumberArrayType>> = {
  int64: BigInt64Array as NumberArrayType,
  fixed64: BigInt64Array as NumberArrayType,
  float: Float32Array as NumberArrayType,
  double: Float64Array as NumberArrayType,
};

/** Array of a repeated field, or undefined for a list. */
export function arrayTypeOf({ kind, packed }: Field<unknown>): NumberArrayType | undefined {
  return packed === true ? ARRAYS[kind] : undefined;
}
