/**
 * @file Instances, the older form of training data, and the line id both forms carry (proto_parser.proto,
 * feature.proto, line_id.proto; proto2). Fields that are not listed appear in real data and are kept.
 */
import { field, MessageType } from './message.js';

export interface LineId {
  uid?: bigint;
  reqTime?: bigint;
  itemId?: bigint;
  actions: number[];
  chnid?: bigint;
  preActions: number[];
  /** 1 when absent. */
  sampleRate?: number;
  specialStrategies: number[];
  deviceType?: string;
  cid?: string;
  userId?: string;
  isDraw?: boolean;
  rank?: number;
  dataSourceName?: string;
  unknownFields?: Uint8Array;
}

export const LINE_ID = new MessageType<LineId>(
  'LineId',
  {
    uid: field(2, 'fixed64', 'optional'),
    reqTime: field(3, 'int64', 'optional'),
    itemId: field(4, 'fixed64', 'optional'),
    actions: field(6, 'int32', 'packed'),
    chnid: field(19, 'int64', 'optional'),
    preActions: field(23, 'int32', 'packed'),
    sampleRate: field(27, 'float', 'optional'),
    specialStrategies: field(39, 'int32', 'repeated'),
    deviceType: field(41, 'string', 'optional'),
    cid: field(48, 'string', 'optional'),
    userId: field(49, 'string', 'optional'),
    isDraw: field(87, 'bool', 'optional'),
    rank: field(145, 'int32', 'optional'),
    dataSourceName: field(235, 'string', 'optional'),
  },
  { keepUnknown: true },
);

interface Values<T> {
  value: T;
}

/** A feature of an instance; exactly one group of values is used. */
export interface InstanceFeature {
  name?: string;
  fid: BigInt64Array;
  floatValue: Float32Array;
  int64Value: BigInt64Array;
  bytesValue: Uint8Array[];
  fidList: Values<BigInt64Array>[];
  floatList: Values<Float32Array>[];
  int64List: Values<BigInt64Array>[];
  bytesList: Values<Uint8Array[]>[];
}

const FIXED64_LIST = new MessageType<Values<BigInt64Array>>('Fixed64List', { value: field(1, 'fixed64', 'packed') });
const FLOAT_LIST = new MessageType<Values<Float32Array>>('FloatList', { value: field(1, 'float', 'packed') });
const INT64_LIST = new MessageType<Values<BigInt64Array>>('Int64List', { value: field(1, 'int64', 'packed') });
const BYTES_LIST = new MessageType<Values<Uint8Array[]>>('BytesList', { value: field(1, 'bytes', 'repeated') });

export const INSTANCE_FEATURE = new MessageType<InstanceFeature>('Feature', {
  name: field(1, 'string', 'optional'),
  fid: field(2, 'fixed64', 'packed'),
  floatValue: field(3, 'float', 'packed'),
  int64Value: field(4, 'int64', 'packed'),
  bytesValue: field(5, 'bytes', 'repeated'),
  fidList: field(6, FIXED64_LIST, 'repeated'),
  floatList: field(7, FLOAT_LIST, 'repeated'),
  int64List: field(8, INT64_LIST, 'repeated'),
  bytesList: field(9, BYTES_LIST, 'repeated'),
});

export interface LabelTag {
  key?: number;
  val?: number;
}
const LABEL_TAG = new MessageType<LabelTag>('LabelTag', {
  key: field(1, 'int32', 'optional'),
  val: field(2, 'float', 'optional'),
});

export interface Instance {
  /** v1 ids of all slots, in any order. */
  fid: BigInt64Array;
  value: Float32Array;
  label: Float32Array;
  instanceWeight?: number;
  lineId?: LineId;
  dense: Float32Array;
  labelTag: LabelTag[];
  nextFid: BigInt64Array;
  feature: InstanceFeature[];
  dataSourceKey?: number;
  unknownFields?: Uint8Array;
}

export const INSTANCE = new MessageType<Instance>(
  'Instance',
  {
    fid: field(1, 'fixed64', 'packed'),
    value: field(2, 'float', 'packed'),
    label: field(3, 'float', 'packed'),
    instanceWeight: field(4, 'float', 'optional'),
    lineId: field(5, LINE_ID, 'optional'),
    dense: field(6, 'float', 'packed'),
    labelTag: field(7, LABEL_TAG, 'repeated'),
    nextFid: field(8, 'fixed64', 'packed'),
    feature: field(9, INSTANCE_FEATURE, 'repeated'),
    dataSourceKey: field(100, 'uint32', 'optional'),
  },
  { keepUnknown: true },
);

export interface InstanceWrapper {
  /** A serialized instance. */
  instance?: Uint8Array;
  dataSource?: string;
}
export const INSTANCE_WRAPPER = new MessageType<InstanceWrapper>('InstanceWrapper', {
  instance: field(1, 'bytes', 'optional'),
  dataSource: field(2, 'string', 'optional'),
});

export interface Request {
  reqId?: string;
  ut?: number;
  uid?: bigint;
  reqTime?: bigint;
  instances: Instance[];
  user?: string;
}
export const REQUEST = new MessageType<Request>('Request', {
  reqId: field(1, 'string', 'optional'),
  ut: field(2, 'int32', 'optional'),
  uid: field(3, 'fixed64', 'optional'),
  reqTime: field(4, 'int64', 'optional'),
  instances: field(5, INSTANCE, 'repeated'),
  user: field(6, 'string', 'optional'),
});
