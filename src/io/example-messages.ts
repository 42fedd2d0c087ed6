/**
 * @file Training examples and feature configs on the wire (example.proto, package monolith.io.proto, proto3).
 *
 * Names are upstream's in camel case. Fids keep their 64 bits in BigInt64Array; read them unsigned where it matters.
 */
import { POOLING_TYPE } from '../memory/kinds.js';
import { LINE_ID, type LineId } from './instance-messages.js';
import { field, MessageType } from './message.js';

/** Feature lists of one value per example, and of one value for all. */
export const FEATURE_LIST_TYPE = { INDIVIDUAL: 0, SHARED: 1 } as const;
export { POOLING_TYPE };
/** How the outputs of a layout are put together. */
export const OUT_TYPE = { CONCAT: 0, STACK: 1, ADDN: 2, NONE: 3 } as const;
export type FeatureListType = (typeof FEATURE_LIST_TYPE)[keyof typeof FEATURE_LIST_TYPE];
export type PoolingType = (typeof POOLING_TYPE)[keyof typeof POOLING_TYPE];
export type OutType = (typeof OUT_TYPE)[keyof typeof OUT_TYPE];

export interface ValueList<T> {
  value: T;
}
export interface ListOf<T> {
  list: T[];
}
export type FidList = ValueList<BigInt64Array>;
export type FidLists = ListOf<FidList>;

/** One value of a feature; exactly one member is set. */
export interface Feature {
  fidV1List?: FidList;
  fidV2List?: FidList;
  floatList?: ValueList<Float32Array>;
  doubleList?: ValueList<Float64Array>;
  int64List?: ValueList<BigInt64Array>;
  bytesList?: ValueList<Uint8Array[]>;
  fidV2Lists?: FidLists;
  floatLists?: ListOf<ValueList<Float32Array>>;
  doubleLists?: ListOf<ValueList<Float64Array>>;
  int64Lists?: ListOf<ValueList<BigInt64Array>>;
  bytesLists?: ListOf<ValueList<Uint8Array[]>>;
  int64Value?: bigint;
  floatValue?: number;
  doubleValue?: number;
  bytesValue?: Uint8Array;
  fidV1Lists?: FidLists;
}

export interface RawFeature {
  feature: Feature[];
}
export interface NamedFeatureList {
  name: string;
  feature: Feature[];
  type: number;
  id: number;
}
export interface NamedRawFeatureList {
  name: string;
  rawFeature: RawFeature[];
  type: number;
  id: number;
}
export interface ExampleBatch {
  namedFeatureList: NamedFeatureList[];
  namedRawFeatureList: NamedRawFeatureList[];
  batchSize: number;
  dataSourceKey: number;
}
export interface NamedFeature {
  name: string;
  feature?: Feature;
  id: number;
  sortedId: number;
}
export interface NamedRawFeature {
  name: string;
  rawFeature?: RawFeature;
  id: number;
}
export interface Example {
  namedFeature: NamedFeature[];
  namedRawFeature: NamedRawFeature[];
  lineId?: LineId;
  label: Float32Array;
  instanceWeight: number;
  dataSourceKey: number;
}
export interface ExampleBatchRowMajor {
  sharedFeature: NamedFeature[];
  sharedRawFeature: NamedRawFeature[];
  example: Example[];
}

export interface FeatureMap {
  featureMap: Map<string, Feature>;
}
export interface FeatureData {
  gid: bigint;
  fids: BigInt64Array;
  featureColumns: NamedFeature[];
  originCnt: bigint;
  sampleCnt: bigint;
}
export interface ChannelCache {
  channelId: bigint;
  featureDatas: FeatureData[];
}
/** Values a filter compares with; exactly one member is set. */
export interface FilterValues {
  floatList?: ValueList<Float32Array>;
  int64List?: ValueList<BigInt64Array>;
  bytesList?: ValueList<Uint8Array[]>;
}

export interface SliceConfig {
  featureName: string;
  start: number;
  end: number;
  featureIdx: number;
  sliceIdx: number;
  poolingType: number;
  maxSequenceLength: number;
}
export interface TensorShape {
  dims: number[];
}
export interface OutConfig {
  sliceConfigs: SliceConfig[];
  outType: number;
  shape: TensorShape[];
}
export interface FeatureConfig {
  table: string;
  poolingType: number;
  sliceDims: number[];
  maxSequenceLength: number;
}
export interface FeatureConfigs {
  featureConfigs: Map<string, FeatureConfig>;
  outConfigs: Map<string, OutConfig>;
}

const listOf = <T extends object>(name: string, item: MessageType<T>) =>
  new MessageType<ListOf<T>>(name, { list: field(1, item, 'repeated') });

export const FID_LIST = new MessageType<FidList>('FidList', { value: field(1, 'fixed64', 'packed') });
const FLOAT_LIST = new MessageType<ValueList<Float32Array>>('FloatList', { value: field(1, 'float', 'packed') });
const DOUBLE_LIST = new MessageType<ValueList<Float64Array>>('DoubleList', { value: field(1, 'double', 'packed') });
const INT64_LIST = new MessageType<ValueList<BigInt64Array>>('Int64List', { value: field(1, 'int64', 'packed') });
const BYTES_LIST = new MessageType<ValueList<Uint8Array[]>>('BytesList', { value: field(1, 'bytes', 'repeated') });
const FID_LISTS = listOf('FidLists', FID_LIST);

export const FEATURE = new MessageType<Feature>('Feature', {
  fidV1List: field(1, FID_LIST, 'oneof'),
  fidV2List: field(2, FID_LIST, 'oneof'),
  floatList: field(3, FLOAT_LIST, 'oneof'),
  doubleList: field(4, DOUBLE_LIST, 'oneof'),
  int64List: field(5, INT64_LIST, 'oneof'),
  bytesList: field(6, BYTES_LIST, 'oneof'),
  fidV2Lists: field(7, FID_LISTS, 'oneof'),
  floatLists: field(8, listOf('FloatLists', FLOAT_LIST), 'oneof'),
  doubleLists: field(9, listOf('DoubleLists', DOUBLE_LIST), 'oneof'),
  int64Lists: field(10, listOf('Int64Lists', INT64_LIST), 'oneof'),
  bytesLists: field(11, listOf('BytesLists', BYTES_LIST), 'oneof'),
  int64Value: field(12, 'int64', 'oneof'),
  floatValue: field(13, 'float', 'oneof'),
  doubleValue: field(14, 'double', 'oneof'),
  bytesValue: field(15, 'bytes', 'oneof'),
  fidV1Lists: field(16, FID_LISTS, 'oneof'),
});

export const RAW_FEATURE = new MessageType<RawFeature>('RawFeature', { feature: field(1, FEATURE, 'repeated') });
export const NAMED_FEATURE_LIST = new MessageType<NamedFeatureList>('NamedFeatureList', {
  name: field(1, 'string'),
  feature: field(2, FEATURE, 'repeated'),
  type: field(3, 'int32'),
  id: field(4, 'int32'),
});
export const NAMED_RAW_FEATURE_LIST = new MessageType<NamedRawFeatureList>('NamedRawFeatureList', {
  name: field(1, 'string'),
  rawFeature: field(2, RAW_FEATURE, 'repeated'),
  type: field(3, 'int32'),
  id: field(4, 'int32'),
});
export const EXAMPLE_BATCH = new MessageType<ExampleBatch>('ExampleBatch', {
  namedFeatureList: field(1, NAMED_FEATURE_LIST, 'repeated'),
  namedRawFeatureList: field(2, NAMED_RAW_FEATURE_LIST, 'repeated'),
  batchSize: field(3, 'int32'),
  dataSourceKey: field(100, 'uint32'),
});
export const NAMED_FEATURE = new MessageType<NamedFeature>('NamedFeature', {
  name: field(1, 'string'),
  feature: field(2, FEATURE, 'optional'),
  id: field(3, 'int32'),
  sortedId: field(6, 'int32'),
});
export const NAMED_RAW_FEATURE = new MessageType<NamedRawFeature>('NamedRawFeature', {
  name: field(1, 'string'),
  rawFeature: field(2, RAW_FEATURE, 'optional'),
  id: field(3, 'int32'),
});
export const EXAMPLE = new MessageType<Example>('Example', {
  namedFeature: field(1, NAMED_FEATURE, 'repeated'),
  namedRawFeature: field(2, NAMED_RAW_FEATURE, 'repeated'),
  lineId: field(100, LINE_ID, 'optional'),
  label: field(101, 'float', 'packed'),
  instanceWeight: field(102, 'float'),
  dataSourceKey: field(103, 'uint32'),
});
export const EXAMPLE_BATCH_ROW_MAJOR = new MessageType<ExampleBatchRowMajor>('ExampleBatchRowMajor', {
  sharedFeature: field(1, NAMED_FEATURE, 'repeated'),
  sharedRawFeature: field(2, NAMED_RAW_FEATURE, 'repeated'),
  example: field(3, EXAMPLE, 'repeated'),
});

export const FEATURE_MAP = new MessageType<FeatureMap>('FeatureMap', { featureMap: field(1, FEATURE, 'map') });
export const FEATURE_DATA = new MessageType<FeatureData>('FeatureData', {
  gid: field(1, 'int64'),
  fids: field(2, 'int64', 'packed'),
  featureColumns: field(3, NAMED_FEATURE, 'repeated'),
  originCnt: field(4, 'int64'),
  sampleCnt: field(5, 'int64'),
});
export const CHANNEL_CACHE = new MessageType<ChannelCache>('ChannelCache', {
  channelId: field(1, 'int64'),
  featureDatas: field(2, FEATURE_DATA, 'repeated'),
});
export const FILTER_VALUES = new MessageType<FilterValues>('FilterValues', {
  floatList: field(1, FLOAT_LIST, 'oneof'),
  int64List: field(2, INT64_LIST, 'oneof'),
  bytesList: field(3, BYTES_LIST, 'oneof'),
});

export const SLICE_CONFIG = new MessageType<SliceConfig>('SliceConfig', {
  featureName: field(1, 'string'),
  start: field(2, 'int32'),
  end: field(3, 'int32'),
  featureIdx: field(4, 'int32'),
  sliceIdx: field(5, 'int32'),
  poolingType: field(10, 'int32'),
  maxSequenceLength: field(11, 'int32'),
});
const TENSOR_SHAPE = new MessageType<TensorShape>('TensorShape', { dims: field(1, 'int32', 'packed') });
export const OUT_CONFIG = new MessageType<OutConfig>('OutConfig', {
  sliceConfigs: field(1, SLICE_CONFIG, 'repeated'),
  outType: field(2, 'int32'),
  shape: field(3, TENSOR_SHAPE, 'repeated'),
});
export const FEATURE_CONFIG = new MessageType<FeatureConfig>('FeatureConfig', {
  table: field(1, 'string'),
  poolingType: field(2, 'int32'),
  sliceDims: field(3, 'int32', 'packed'),
  maxSequenceLength: field(4, 'int32'),
});
export const FEATURE_CONFIGS = new MessageType<FeatureConfigs>('FeatureConfigs', {
  featureConfigs: field(1, FEATURE_CONFIG, 'map'),
  outConfigs: field(2, OUT_CONFIG, 'map'),
});
