/** @file Attributes of ops as plain data: whatever a model function gave an op, in a form that JSON can say. */
import { Op, Tensor } from './graph.js';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Longer lists and arrays are told by their length: a description is no place for weights. */
const ITEMS_MAX = 64;
/** Objects inside objects are followed this far, and never round a circle. */
const DEPTH_MAX = 5;

/** The attributes by name, sorted; undefined when there are none. Functions are left out. */
export function describeAttributes(attrs: unknown): { [key: string]: Json } | undefined {
  if (typeof attrs !== 'object' || attrs === null) return undefined;
  const described = describeObject(attrs, [attrs]);
  return Object.keys(described).length === 0 ? undefined : described;
}

/** One value; undefined for a function. Tensors and ops are their names. */
export function describeValue(value: unknown, within: readonly object[] = []): Json | undefined {
  switch (typeof value) {
    case 'boolean':
    case 'string':
      return value;
    case 'number':
      // JSON has no words for NaN and infinities.
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? null : describeReference(value, within);
    default:
      return undefined;
  }
}

function describeReference(value: object, within: readonly object[]): Json {
  if (value instanceof Tensor || value instanceof Op) return value.name;
  if (ArrayBuffer.isView(value)) {
    const list = value as Uint8Array;
    const { length } = list;
    return length > ITEMS_MAX ? { type: list.constructor.name, length } : describeList('', Array.from(list), within);
  }
  if (within.length >= DEPTH_MAX || within.includes(value)) return { type: value.constructor?.name ?? 'Object' };
  const inner = [...within, value];
  if (Array.isArray(value)) return describeList('Array', value, inner);
  if (value instanceof Set) return describeList('Set', [...value], inner);
  return describeObject(value instanceof Map ? Object.fromEntries(value) : value, inner);
}

function describeList(type: string, list: readonly unknown[], within: readonly object[]): Json {
  if (list.length > ITEMS_MAX) return { type, length: list.length };
  return list.map((item) => describeValue(item, within) ?? null);
}

function describeObject(value: object, within: readonly object[]): { [key: string]: Json } {
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.flatMap(([key, item]) => {
      const described = describeValue(item, within);
      return described === undefined ? [] : [[key, described]];
    }),
  );
}
