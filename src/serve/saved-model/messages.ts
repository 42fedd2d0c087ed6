/** @file Parts of a SavedModel on the wire (package tensorflow), as far as models of standard ops need them. */
import { field, MessageType } from '../../io/message.js';

/** Numbers of tensorflow.DataType. */
export const DTYPE = { FLOAT: 1, DOUBLE: 2, INT32: 3, STRING: 7, INT64: 9, BOOL: 10 } as const;

export interface TensorShape {
  dim?: { size: bigint }[];
  unknownRank?: boolean;
}
export interface TensorProto {
  dtype: number;
  tensorShape: TensorShape;
  tensorContent?: Uint8Array;
  floatVal?: Float32Array;
  doubleVal?: Float64Array;
  intVal?: number[];
  stringVal?: Uint8Array[];
  int64Val?: BigInt64Array;
  boolVal?: boolean[];
}
export interface ListValue {
  type?: Int32Array | number[];
  shape?: TensorShape[];
  i?: BigInt64Array;
}
/** One of these is set. */
export interface AttrValue {
  list?: ListValue;
  s?: Uint8Array;
  i?: bigint;
  b?: boolean;
  type?: number;
  shape?: TensorShape;
  tensor?: TensorProto;
}
export interface NodeDef {
  name: string;
  op: string;
  input?: string[];
  attr?: Map<string, AttrValue>;
}
export interface TensorInfo {
  name: string;
  dtype: number;
  tensorShape: TensorShape;
}
export interface SignatureDef {
  inputs?: Map<string, TensorInfo>;
  outputs: Map<string, TensorInfo>;
  methodName?: string;
}
export interface MetaGraph {
  metaInfoDef: { metaGraphVersion: string; tags: string[]; tensorflowVersion: string };
  graphDef: { node: NodeDef[]; versions: { producer: number; minConsumer: number } };
  collectionDef?: Map<string, { nodeList: { value: string[] } }>;
  signatureDef: Map<string, SignatureDef>;
}
export interface SavedModel {
  savedModelSchemaVersion: bigint;
  metaGraphs: MetaGraph[];
}

const DIM = new MessageType<{ size: bigint }>('Dim', { size: field(1, 'int64') });
const SHAPE = new MessageType<TensorShape>('TensorShapeProto', {
  dim: field(2, DIM, 'repeated'),
  unknownRank: field(3, 'bool'),
});
export const TENSOR = new MessageType<TensorProto>('TensorProto', {
  dtype: field(1, 'int32'),
  tensorShape: field(2, SHAPE),
  tensorContent: field(4, 'bytes'),
  floatVal: field(5, 'float', 'packed'),
  doubleVal: field(6, 'double', 'packed'),
  intVal: field(7, 'int32', 'packed'),
  stringVal: field(8, 'bytes', 'repeated'),
  int64Val: field(10, 'int64', 'packed'),
  boolVal: field(11, 'bool', 'packed'),
});
const LIST = new MessageType<ListValue>('ListValue', {
  i: field(3, 'int64', 'packed'),
  type: field(6, 'int32', 'packed'),
  shape: field(7, SHAPE, 'repeated'),
});
const ATTR = new MessageType<AttrValue>('AttrValue', {
  list: field(1, LIST, 'oneof'),
  s: field(2, 'bytes', 'oneof'),
  i: field(3, 'int64', 'oneof'),
  b: field(5, 'bool', 'oneof'),
  type: field(6, 'int32', 'oneof'),
  shape: field(7, SHAPE, 'oneof'),
  tensor: field(8, TENSOR, 'oneof'),
});
const NODE = new MessageType<NodeDef>('NodeDef', {
  name: field(1, 'string'),
  op: field(2, 'string'),
  input: field(3, 'string', 'repeated'),
  attr: field(5, ATTR, 'map'),
});
const VERSIONS = new MessageType<{ producer: number; minConsumer: number }>('VersionDef', {
  producer: field(1, 'int32'),
  minConsumer: field(2, 'int32'),
});
const GRAPH = new MessageType<MetaGraph['graphDef']>('GraphDef', {
  node: field(1, NODE, 'repeated'),
  versions: field(4, VERSIONS),
});
const META_INFO = new MessageType<MetaGraph['metaInfoDef']>('MetaInfoDef', {
  metaGraphVersion: field(1, 'string'),
  tags: field(4, 'string', 'repeated'),
  tensorflowVersion: field(5, 'string'),
});
const NODE_LIST = new MessageType<{ value: string[] }>('NodeList', { value: field(1, 'string', 'repeated') });
const COLLECTION = new MessageType<{ nodeList: { value: string[] } }>('CollectionDef', {
  nodeList: field(1, NODE_LIST, 'oneof'),
});
const INFO = new MessageType<TensorInfo>('TensorInfo', {
  name: field(1, 'string'),
  dtype: field(2, 'int32'),
  tensorShape: field(3, SHAPE),
});
export const SIGNATURE = new MessageType<SignatureDef>('SignatureDef', {
  inputs: field(1, INFO, 'map'),
  outputs: field(2, INFO, 'map'),
  methodName: field(3, 'string'),
});
const META_GRAPH = new MessageType<MetaGraph>('MetaGraphDef', {
  metaInfoDef: field(1, META_INFO),
  graphDef: field(2, GRAPH),
  collectionDef: field(4, COLLECTION, 'map'),
  signatureDef: field(5, SIGNATURE, 'map'),
});
export const SAVED_MODEL = new MessageType<SavedModel>('SavedModel', {
  savedModelSchemaVersion: field(1, 'int64'),
  metaGraphs: field(2, META_GRAPH, 'repeated'),
});
