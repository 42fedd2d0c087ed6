/**
 * @file What is fed, in the forms people have it in, as the arrays of a batch.
 *
 * The arrays a batch is written from pass as they are; everything else is converted, or refused with the name of the
 * feed, what it needs and what it was given.
 */
import { MonolithError } from '../base/errors.js';
import type { FeedData, FeedSpec } from '../memory/batch.js';
import {
  describe,
  type Floats,
  floatsOf,
  type Ids,
  type IntegerArray,
  idsOf,
  type Refuse,
} from '../memory/given-arrays.js';
import { RaggedTensor } from './ragged-tensor.js';
import { Tensor } from './tensor.js';

/** Floats, all in one array or a list for each row. */
export type DenseFeed = Floats | Tensor<'float32' | 'float64' | 'int32' | 'uint8' | 'bool'>;
/** The same number of ids for each row, all in one array or a list for each row. */
export type IdsFeed = Ids | Tensor<'int64'>;
/** Ids of one row, or one id for each of many. */
export type IdList = BigInt64Array | BigUint64Array | IntegerArray | readonly (bigint | number)[];
/** Any number of ids for each row: a list of them for each, or all of them and where rows begin. */
export type RaggedFeed = readonly IdList[] | { readonly splits: IdList; readonly values: Ids } | RaggedTensor;
/** One id for each row, for ragged feeds of one value per row. */
export type SingleIds = bigint | number | IdList;
/** A tensor of any dtype is looked at when it is fed. */
export type FeedValue = DenseFeed | IdsFeed | RaggedFeed | SingleIds | Tensor;

const HINTS: Readonly<Record<FeedSpec['kind'], string>> = {
  dense: 'feed a Float32Array, or numbers in a list or in a list for each row',
  ids: 'feed a BigInt64Array, or bigints in a list or in a list for each row',
  ragged: 'feed a list of ids for each row, [[1n], [2n, 3n]], or { splits: Int32Array, values: BigInt64Array }',
};

/** The arrays of a feed; `valuesPerRow` is asked for when ids come without rows. ML_FEED for what cannot be fed. */
export function feedOf(spec: FeedSpec, value: unknown, valuesPerRow: () => number | undefined): FeedData {
  switch (spec.kind) {
    case 'dense':
      if (value instanceof Float32Array) return { kind: 'dense', values: value };
      return { kind: 'dense', values: floatsOf(inRows(spec.width, value, refusal(spec)), refusal(spec)) };
    case 'ids':
      if (value instanceof BigInt64Array) return { kind: 'ids', values: value };
      return { kind: 'ids', values: idsOf(inRows(spec.width, value, refusal(spec)), refusal(spec)) };
    case 'ragged':
      return raggedOf(spec, value, valuesPerRow);
    default:
      return spec satisfies never;
  }
}

/** The dtype and shape that a feed needs. */
function neededBy(spec: FeedSpec): string {
  if (spec.kind === 'ragged') return 'int64 ids for each row';
  return `${spec.kind === 'ids' ? 'int64' : 'float32'} [rows${spec.width === 1 ? '' : `, ${spec.width}`}]`;
}

function refusal(spec: FeedSpec): Refuse {
  return (reason, hint) =>
    new MonolithError(
      'ML_FEED',
      { name: spec.name, needed: neededBy(spec), reason: `${neededBy(spec)} is needed: ${reason}` },
      { hint: hint ?? HINTS[spec.kind] },
    );
}

const isList = (value: unknown): value is ArrayLike<unknown> => Array.isArray(value) || ArrayBuffer.isView(value);

/** The data of a tensor; of lists, after a look at whether each row has `width` values. */
function inRows(width: number, value: unknown, refuse: Refuse): unknown {
  if (value instanceof Tensor) return value.data;
  if (!Array.isArray(value) || !value.some(isList)) return value;
  value.forEach((row: unknown, index) => {
    if (!isList(row)) throw refuse(`row ${index} is ${describe(row)}, no list`);
    const count = valueCount(row);
    if (count !== width) throw refuse(`row ${index} has ${count} values, not ${width}`);
  });
  return value;
}

function valueCount(value: unknown, depth = 0): number {
  if (ArrayBuffer.isView(value)) return (value as Float32Array).length;
  if (!Array.isArray(value) || depth > 16) return 1;
  return value.reduce<number>((count, part) => count + valueCount(part, depth + 1), 0);
}

function raggedOf(spec: FeedSpec, value: unknown, valuesPerRow: () => number | undefined): FeedData {
  const given = (value ?? {}) as { readonly splits?: unknown; readonly values?: unknown };
  if (given.splits instanceof Int32Array && given.values instanceof BigInt64Array) {
    return { kind: 'ragged', splits: given.splits, values: given.values };
  }
  const refuse = refusal(spec);
  if (value instanceof RaggedTensor) return raggedTensor(value, refuse);
  if (Array.isArray(value) && (value.length === 0 || value.some(isList))) return raggedRows(value, refuse);
  const isSplit = typeof value === 'object' && value !== null && 'splits' in value && 'values' in value;
  if (isSplit) return { kind: 'ragged', splits: splitsOf(given.splits, refuse), values: idsOf(given.values, refuse) };
  const values = idsOf(value, refuse);
  const perRow = valuesPerRow();
  if (perRow !== 1) {
    const many = perRow === undefined ? 'any number of ids' : `up to ${perRow} ids`;
    throw refuse(`${describe(value)} was given without rows, and a row has ${many}`);
  }
  return { kind: 'ragged', splits: Int32Array.from({ length: values.length + 1 }, (_, row) => row), values };
}

function raggedRows(rows: readonly unknown[], refuse: Refuse): FeedData {
  const splits = new Int32Array(rows.length + 1);
  const lists = rows.map((row, index) => {
    if (!isList(row)) throw refuse(`row ${index} is ${describe(row)}, no list of ids`);
    if (Array.isArray(row) && row.some(isList)) throw refuse(`row ${index} has lists in it`);
    const ids = idsOf(row, (reason, hint) => refuse(`in row ${index} ${reason}`, hint));
    splits[index + 1] = splits[index]! + ids.length;
    return ids;
  });
  const values = new BigInt64Array(splits[rows.length]!);
  lists.forEach((ids, index) => {
    values.set(ids, splits[index]);
  });
  return { kind: 'ragged', splits, values };
}

function splitsOf(given: unknown, refuse: Refuse): Int32Array {
  if (given instanceof Int32Array) return given;
  const splits = idsOf(given, (reason, hint) => refuse(`its splits cannot be read: ${reason}`, hint));
  return Int32Array.from(splits, (split) => {
    if (split >= 0n && split < 2n ** 31n) return Number(split);
    throw refuse(`its splits cannot be read: ${split} is none`);
  });
}

function raggedTensor({ values, rowSplits, rank }: RaggedTensor, refuse: Refuse): FeedData {
  const ids = values instanceof Tensor && rank === 2 ? values.data : undefined;
  if (!(ids instanceof BigInt64Array)) throw refuse('a ragged tensor with one int64 id per value is taken, no other');
  return { kind: 'ragged', splits: Int32Array.from(rowSplits.data, Number), values: ids };
}
