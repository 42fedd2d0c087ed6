/** @file Requests of TensorFlow Serving as a client makes them: tensors of columns, and a spec of a model. */
import { encodeTfExample } from '../../../src/io/tf-example.js';
import type { ModelSpec } from '../../../src/serve/grpc/messages.js';
import { DTYPE, type TensorProto } from '../../../src/serve/saved-model/messages.js';
import type { Purchase } from '../shops.js';

export const spec = (more: Partial<ModelSpec> = {}): ModelSpec => ({ name: 'shop', signatureName: '', ...more });

export const shapeOf = (...sizes: readonly number[]): TensorProto['tensorShape'] => ({
  dim: sizes.map((size) => ({ size: BigInt(size) })),
});

export const texts = (values: readonly string[], ...sizes: readonly number[]): TensorProto => ({
  dtype: DTYPE.STRING,
  tensorShape: shapeOf(...(sizes.length > 0 ? sizes : [values.length])),
  stringVal: values.map((text) => Buffer.from(text)),
});
export const floats = (values: readonly number[], ...sizes: readonly number[]): TensorProto => ({
  dtype: DTYPE.FLOAT,
  tensorShape: shapeOf(...(sizes.length > 0 ? sizes : [values.length])),
  floatVal: Float32Array.from(values),
});
export const int64s = (values: readonly bigint[], ...sizes: readonly number[]): TensorProto => ({
  dtype: DTYPE.INT64,
  tensorShape: shapeOf(...(sizes.length > 0 ? sizes : [values.length])),
  int64Val: BigInt64Array.from(values),
});
/** Serialized examples. */
export const bytes = (values: readonly Uint8Array[]): TensorProto => ({
  dtype: DTYPE.STRING,
  tensorShape: shapeOf(values.length),
  stringVal: [...values],
});

export const exampleOf = ({ user, item, tags, price }: Purchase): Uint8Array =>
  encodeTfExample({
    user: [Buffer.from(user)],
    item: BigInt64Array.of(BigInt(item)),
    tags: tags.split('|').map((tag) => Buffer.from(tag)),
    price: Float32Array.of(price),
  });

/** Columns as a client sends them. */
export const columnsOf = (rows: readonly Purchase[]): [string, TensorProto][] => [
  ['user', texts(rows.map(({ user }) => user))],
  ['item', int64s(rows.map(({ item }) => BigInt(item)))],
  ['tags', texts(rows.map(({ tags }) => tags))],
  ['price', floats(rows.map(({ price }) => price))],
];
