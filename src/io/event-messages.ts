/** @file TensorBoard's events on the wire: Event, Summary and what they hold (package tensorflow, proto3). */
import { field, MessageType } from './message.js';

/** What begins every event file. */
export const FILE_VERSION = 'brain.Event:2';
/** Of a session: a restart tells readers to forget later points. */
export const SESSION_STATUS = { START: 1, STOP: 2, CHECKPOINT: 3 } as const;
/** Whether a reader lists a tag among scalars, tensors or blobs. */
export const DATA_CLASS = { SCALAR: 1, TENSOR: 2, BLOB_SEQUENCE: 3 } as const;
/** Numbers of tensorflow.DataType. */
export const TENSOR_DTYPE = { float32: 1, string: 7, int64: 9 } as const;

export interface PluginData {
  pluginName: string;
  content: Uint8Array;
}
export interface SummaryMetadata {
  pluginData?: PluginData;
  displayName: string;
  summaryDescription: string;
  dataClass: number;
}
export interface TensorProto {
  dtype: number;
  tensorShape?: { dim: { size: bigint }[] };
  tensorContent: Uint8Array;
  stringVal: Uint8Array[];
}
export interface HistogramProto {
  min: number;
  max: number;
  num: number;
  sum: number;
  sumSquares: number;
  bucketLimit: Float64Array;
  bucket: Float64Array;
}
/** One value of a tag; one of `simpleValue`, `histo` and `tensor` is set. */
export interface SummaryValue {
  tag: string;
  simpleValue?: number;
  histo?: HistogramProto;
  tensor?: TensorProto;
  metadata?: SummaryMetadata;
}
export interface Summary {
  value: SummaryValue[];
}
export interface SessionLog {
  status: number;
  checkpointPath: string;
  msg: string;
}
/** One record of an event file; at most one of the fields after `step` is set. */
export interface Event {
  /** Seconds since 1970. */
  wallTime: number;
  step: bigint;
  fileVersion?: string;
  graphDef?: Uint8Array;
  summary?: Summary;
  sessionLog?: SessionLog;
}

const PLUGIN_DATA = new MessageType<PluginData>('PluginData', {
  pluginName: field(1, 'string'),
  content: field(2, 'bytes'),
});
export const SUMMARY_METADATA = new MessageType<SummaryMetadata>('SummaryMetadata', {
  pluginData: field(1, PLUGIN_DATA),
  displayName: field(2, 'string'),
  summaryDescription: field(3, 'string'),
  dataClass: field(4, 'int'),
});
const DIM = new MessageType<{ size: bigint }>('Dim', { size: field(1, 'int64') });
const TENSOR_SHAPE = new MessageType<{ dim: { size: bigint }[] }>('TensorShapeProto', {
  dim: field(2, DIM, 'repeated'),
});
const TENSOR = new MessageType<TensorProto>('TensorProto', {
  dtype: field(1, 'int'),
  tensorShape: field(2, TENSOR_SHAPE),
  tensorContent: field(4, 'bytes'),
  stringVal: field(8, 'bytes', 'repeated'),
});
const HISTOGRAM = new MessageType<HistogramProto>('HistogramProto', {
  min: field(1, 'double'),
  max: field(2, 'double'),
  num: field(3, 'double'),
  sum: field(4, 'double'),
  sumSquares: field(5, 'double'),
  bucketLimit: field(6, 'double', 'packed'),
  bucket: field(7, 'double', 'packed'),
});
export const SUMMARY_VALUE = new MessageType<SummaryValue>('Value', {
  tag: field(1, 'string'),
  simpleValue: field(2, 'float', 'oneof'),
  histo: field(5, HISTOGRAM, 'oneof'),
  tensor: field(8, TENSOR, 'oneof'),
  metadata: field(9, SUMMARY_METADATA),
});
export const SUMMARY = new MessageType<Summary>('Summary', { value: field(1, SUMMARY_VALUE, 'repeated') });
const SESSION_LOG = new MessageType<SessionLog>('SessionLog', {
  status: field(1, 'int'),
  checkpointPath: field(2, 'string'),
  msg: field(3, 'string'),
});
export const EVENT = new MessageType<Event>('Event', {
  wallTime: field(1, 'double'),
  step: field(2, 'int64'),
  fileVersion: field(3, 'string', 'oneof'),
  graphDef: field(4, 'bytes', 'oneof'),
  summary: field(5, SUMMARY, 'oneof'),
  sessionLog: field(7, SESSION_LOG, 'oneof'),
});
