/** @file Parts of an ONNX model on the wire (package onnx), as far as models of standard ops need them. */
import { field, MessageType } from '../../io/message.js';

/** Numbers of onnx.TensorProto.DataType. */
export const ONNX_DTYPE = { FLOAT: 1, INT64: 7, BOOL: 9 } as const;
export type OnnxDtype = keyof typeof ONNX_DTYPE;
/** Numbers of onnx.AttributeProto.AttributeType. */
export const ATTRIBUTE_TYPE = { int: 2, ints: 7 } as const;

export interface TensorProto {
  dims: BigInt64Array;
  dataType: number;
  name: string;
  rawData: Uint8Array;
}
export interface AttributeProto {
  name: string;
  i?: bigint;
  ints?: BigInt64Array;
  type: number;
}
export interface NodeProto {
  input: string[];
  output: string[];
  name: string;
  opType: string;
  attribute: AttributeProto[];
  domain?: string;
}
interface Dim {
  dimValue?: bigint;
  dimParam?: string;
}
interface TensorType {
  elemType: number;
  shape: { dim: Dim[] };
}
export interface ValueInfo {
  name: string;
  type: { tensorType: TensorType };
}
export interface OnnxGraphProto {
  node: NodeProto[];
  name: string;
  initializer: TensorProto[];
  input: ValueInfo[];
  output: ValueInfo[];
}
export interface OnnxModel {
  irVersion: bigint;
  producerName: string;
  producerVersion: string;
  modelVersion: bigint;
  graph: OnnxGraphProto;
  opsetImport: { domain: string; version: bigint }[];
  metadataProps: { key: string; value: string }[];
}

const TENSOR = new MessageType<TensorProto>('TensorProto', {
  dims: field(1, 'int64', 'packed'),
  dataType: field(2, 'int32'),
  name: field(8, 'string'),
  rawData: field(9, 'bytes', 'optional'),
});
const ATTRIBUTE = new MessageType<AttributeProto>('AttributeProto', {
  name: field(1, 'string'),
  i: field(3, 'int64', 'optional'),
  ints: field(8, 'int64', 'packed'),
  type: field(20, 'int32'),
});
const NODE = new MessageType<NodeProto>('NodeProto', {
  input: field(1, 'string', 'repeated'),
  output: field(2, 'string', 'repeated'),
  name: field(3, 'string'),
  opType: field(4, 'string'),
  attribute: field(5, ATTRIBUTE, 'repeated'),
  domain: field(7, 'string'),
});
const DIM = new MessageType<Dim>('Dimension', {
  dimValue: field(1, 'int64', 'oneof'),
  dimParam: field(2, 'string', 'oneof'),
});
const SHAPE = new MessageType<{ dim: Dim[] }>('TensorShapeProto', { dim: field(1, DIM, 'repeated') });
const TENSOR_TYPE = new MessageType<TensorType>('Tensor', { elemType: field(1, 'int32'), shape: field(2, SHAPE) });
const TYPE = new MessageType<{ tensorType: TensorType }>('TypeProto', { tensorType: field(1, TENSOR_TYPE) });
const VALUE_INFO = new MessageType<ValueInfo>('ValueInfoProto', { name: field(1, 'string'), type: field(2, TYPE) });
const GRAPH = new MessageType<OnnxGraphProto>('GraphProto', {
  node: field(1, NODE, 'repeated'),
  name: field(2, 'string'),
  initializer: field(5, TENSOR, 'repeated'),
  input: field(11, VALUE_INFO, 'repeated'),
  output: field(12, VALUE_INFO, 'repeated'),
});
const OPSET = new MessageType<{ domain: string; version: bigint }>('OperatorSetIdProto', {
  domain: field(1, 'string'),
  version: field(2, 'int64'),
});
const ENTRY = new MessageType<{ key: string; value: string }>('StringStringEntryProto', {
  key: field(1, 'string'),
  value: field(2, 'string'),
});
export const ONNX_MODEL = new MessageType<OnnxModel>('ModelProto', {
  irVersion: field(1, 'int64'),
  producerName: field(2, 'string'),
  producerVersion: field(3, 'string'),
  modelVersion: field(5, 'int64'),
  graph: field(7, GRAPH),
  opsetImport: field(8, OPSET, 'repeated'),
  metadataProps: field(14, ENTRY, 'repeated'),
});
