/** @file A value of a page as hyparquet has it in a row: for those that kernels leave. */
import { NUMBER_TYPE } from '../../memory/pages-layout.js';
import type { ValueForm } from './parquet-shape.js';

const decoder = new TextDecoder();

/** The value at an address; of a text its length stands there. */
export function rawValue(bytes: Uint8Array, at: number, form: ValueForm): unknown {
  const view = new DataView(bytes.buffer);
  if (form.kind === 'text') return decoder.decode(bytes.slice(at + 4, at + 4 + view.getUint32(at, true)));
  if (form.kind === 'boolean') return bytes[at] === 1;
  if (form.kind === 'time') return timeOf(view.getBigInt64(at, true), form.perSecond);
  switch (form.type) {
    case NUMBER_TYPE.int32:
      return view.getInt32(at, true);
    case NUMBER_TYPE.uint32:
      return view.getUint32(at, true);
    case NUMBER_TYPE.int64:
      return view.getBigInt64(at, true);
    case NUMBER_TYPE.uint64:
      return view.getBigUint64(at, true);
    case NUMBER_TYPE.float32:
      return view.getFloat32(at, true);
    default:
      return view.getFloat64(at, true);
  }
}

function timeOf(value: bigint, perSecond: number): Date {
  return new Date(perSecond === 1000 ? Number(value) : Number(value / BigInt(perSecond / 1000)));
}
