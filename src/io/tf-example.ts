/** @file tf.train.Example: features by name, each a list of one type. */
import { field, MessageType } from './message.js';

interface List<T> {
  value: T;
}

/** One of them is set. */
export interface TfFeature {
  bytesList?: List<Uint8Array[]>;
  floatList?: List<Float32Array>;
  int64List?: List<BigInt64Array>;
}
interface TfFeatures {
  feature: Map<string, TfFeature>;
}
interface TfExample {
  features?: TfFeatures;
}

const BYTES = new MessageType<List<Uint8Array[]>>('BytesList', { value: field(1, 'bytes', 'repeated') });
const FLOATS = new MessageType<List<Float32Array>>('FloatList', { value: field(1, 'float', 'packed') });
const INTS = new MessageType<List<BigInt64Array>>('Int64List', { value: field(1, 'int64', 'packed') });
const FEATURE = new MessageType<TfFeature>('Feature', {
  bytesList: field(1, BYTES, 'oneof'),
  floatList: field(2, FLOATS, 'oneof'),
  int64List: field(3, INTS, 'oneof'),
});
const FEATURES = new MessageType<TfFeatures>('Features', { feature: field(1, FEATURE, 'map') });
export const TF_EXAMPLE = new MessageType<TfExample>('Example', { features: field(1, FEATURES, 'optional') });

/** Values of the features of an example, by name. */
export type ExampleValues = Readonly<Record<string, Float32Array | BigInt64Array | readonly Uint8Array[]>>;

/** An example as bytes, its features sorted by name. */
export function encodeTfExample(values: ExampleValues): Uint8Array {
  const sorted = Object.keys(values).sort();
  const feature = new Map(sorted.map((name) => [name, featureOf(values[name]!)] as const));
  return TF_EXAMPLE.encode({ features: { feature } });
}

/** The values of an example; a feature without a list is left out. */
export function decodeTfExample(bytes: Uint8Array): ExampleValues {
  const { features } = TF_EXAMPLE.decode(bytes);
  const found = [...(features?.feature ?? [])].flatMap(([name, { floatList, int64List, bytesList }]) => {
    const list = floatList ?? int64List ?? bytesList;
    return list === undefined ? [] : [[name, list.value] as const];
  });
  return Object.fromEntries(found);
}

function featureOf(value: ExampleValues[string]) {
  if (value instanceof Float32Array) return { floatList: { value } };
  return value instanceof BigInt64Array ? { int64List: { value } } : { bytesList: { value } };
}
