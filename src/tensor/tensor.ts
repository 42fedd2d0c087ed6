/**
 * @file A dense tensor: a dtype, a shape and a flat typed array in row-major order.
 *
 * It owns nothing: the data may be a view of a shared memory. Reshaping gives another view of the same data.
 */
import { MonolithError } from '../base/errors.js';

const ARRAYS = {
  bool: Uint8Array,
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
} as const;

export type DType = keyof typeof ARRAYS;
export type DataOf<D extends DType> = D extends 'float32'
  ? Float32Array
  : D extends 'float64'
    ? Float64Array
    : D extends 'int32'
      ? Int32Array
      : D extends 'int64'
        ? BigInt64Array
        : Uint8Array;
export type Shape = readonly number[];
/** A number, bigint or boolean, or lists of them to any depth. */
export type Nested = number | bigint | boolean | readonly Nested[];

/** Number of elements of a shape; a scalar has one. */
export function sizeOfShape(shape: Shape): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

/** A zeroed array of `count` elements of `dtype`. */
export function allocateData<D extends DType>(dtype: D, count: number): DataOf<D> {
  return new ARRAYS[dtype](count) as DataOf<D>;
}

/** A tensor that holds values: a typed array with its shape, row-major. */
export class Tensor<D extends DType = DType> {
  readonly dtype: D;
  readonly shape: Shape;
  readonly data: DataOf<D>;

  constructor(dtype: D, shape: Shape, data: DataOf<D>) {
    const fail = (reason: string) => new MonolithError('ML_TENSOR', { dtype, shape, reason });
    if (!Object.hasOwn(ARRAYS, dtype)) throw fail('the dtype is unknown');
    if (!(data instanceof ARRAYS[dtype])) throw fail(`the data must be a ${ARRAYS[dtype].name}`);
    if (!shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0)) throw fail('a dimension is not a whole number');
    if (sizeOfShape(shape) !== data.length) throw fail(`the data has ${data.length} values`);
    this.dtype = dtype;
    this.shape = shape;
    this.data = data;
  }

  /**
   * A tensor from nested lists, which must be of one length per level.
   *
   * ```ts
   * Tensor.of('float32', [[1, 2], [3, 4]]).shape; // [2, 2]
   * ```
   */
  static of<D extends DType>(dtype: D, values: Nested): Tensor<D> {
    const shape: number[] = [];
    for (let level = values; Array.isArray(level); level = level[0] ?? 0) shape.push(level.length);
    const flat: (number | bigint | boolean)[] = [];
    const walk = (value: Nested, depth: number): void => {
      const list = typeof value === 'object';
      if (list !== depth < shape.length || (list && value.length !== shape[depth])) {
        throw new MonolithError('ML_TENSOR', { dtype, shape, reason: 'the lists differ in length or depth' });
      }
      if (!list) flat.push(value);
      else for (const item of value) walk(item, depth + 1);
    };
    walk(values, 0);
    const data = allocateData(dtype, flat.length);
    if (data instanceof BigInt64Array) data.set(flat.map(BigInt));
    else data.set(flat.map(Number));
    return new Tensor(dtype, shape, data);
  }

  static vector<D extends DType>(dtype: D, data: DataOf<D>): Tensor<D> {
    return new Tensor(dtype, [data.length], data);
  }

  get size(): number {
    return this.data.length;
  }

  get rank(): number {
    return this.shape.length;
  }

  /** The same data under another shape of the same size. */
  reshape(shape: Shape): Tensor<D> {
    return new Tensor(this.dtype, shape, this.data);
  }

  /** Nested lists of the values; a scalar gives the value itself. */
  toArray(): Nested {
    const read = (offset: number): Nested => {
      const value = this.data[offset]!;
      return this.dtype === 'bool' ? value !== 0 : value;
    };
    const build = (depth: number, offset: number, span: number): Nested => {
      if (depth === this.shape.length) return read(offset);
      const length = this.shape[depth]!;
      const step = length === 0 ? 0 : span / length;
      return Array.from({ length }, (_, i) => build(depth + 1, offset + i * step, step));
    };
    return build(0, 0, this.size);
  }
}
