/** @file What a fetched tensor becomes in an event file. */
import type { Tensor } from '../graph/graph.js';
import { type SummaryValue, TENSOR_DTYPE, type TensorProto } from '../io/event-messages.js';
import type { FetchValue } from '../runtime/session/fetch.js';
import { histogramOf } from './histogram.js';
import type { GraphSummary } from './summary-ops.js';

/** A number under a tag. */
export function scalarValue(tag: string, value: number): SummaryValue {
  return { tag, simpleValue: value };
}

/** The value of `summary` in a step. */
export function summaryValue(summary: GraphSummary, fetched: FetchValue): SummaryValue {
  const { kind, tag, tensor, metadata } = summary;
  const values = valuesOf(fetched);
  switch (kind) {
    case 'scalar':
      return scalarValue(tag, Number(values[0]));
    case 'histogram':
      return { tag, histo: histogramOf(values instanceof Float32Array ? values : Array.from(values, Number)) };
    case 'tensor':
      return { tag, tensor: tensorProto(tensor, values), ...(metadata !== undefined && { metadata }) };
    default:
      return kind satisfies never;
  }
}

/** All values of a fetch; of ragged ids those of all rows. */
function valuesOf(fetched: FetchValue): Float32Array | BigInt64Array {
  if (typeof fetched === 'number') return Float32Array.of(fetched);
  if (fetched === undefined) return new Float32Array(0);
  return 'splits' in fetched ? fetched.values : fetched;
}

function tensorProto(tensor: Tensor, values: Float32Array | BigInt64Array): TensorProto {
  const dims = tensor.perExample ? [values.length / tensor.columns, ...tensor.spec.shape.slice(1)] : tensor.spec.shape;
  return {
    dtype: values instanceof Float32Array ? TENSOR_DTYPE.float32 : TENSOR_DTYPE.int64,
    tensorShape: { dim: dims.map((size) => ({ size: BigInt(size) })) },
    tensorContent: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
    stringVal: [],
  };
}
