/** @file Which columns of a Parquet file are decoded from bytes, and what they hold. The others are hyparquet's. */
import type { SchemaElement, SchemaTree } from 'hyparquet';
import { CELL_FLAG, CELL_KIND } from '../../memory/decode-layout.js';
import { NUMBER_TYPE } from '../../memory/pages-layout.js';
import type { CellPlan } from './cell-plans.js';

/** What the values of a column are. */
export type ValueForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'number'; readonly type: number; readonly bytes: number }
  /** Whole numbers of which so many are a second. */
  | { readonly kind: 'time'; readonly perSecond: number; readonly bytes: 8 };

export interface ColumnShape {
  /** Names from the root to the values. */
  readonly path: string;
  readonly form: ValueForm;
  /** The level of a value that is there: 0 where all are. */
  readonly full: number;
  readonly isList: boolean;
}

const { int32, uint32, int64, uint64, float32, float64 } = NUMBER_TYPE;
const PER_SECOND = { MILLIS: 1000, MICROS: 1_000_000, NANOS: 1_000_000_000 } as const;

/** How the column of a cell is decoded; undefined where rows have to be objects for it. */
export function columnShape({ children }: SchemaTree, { column, words }: CellPlan): ColumnShape | undefined {
  if (words.width !== 1) return undefined;
  const found = children.filter(({ element }) => element.name === column);
  if (found.length !== 1) return undefined;
  const shape = shapeOf(found[0]!);
  if (shape === undefined) return undefined;
  const { form, isList } = shape;
  const isIds = words.kind === CELL_KIND.ids;
  // A list is many ids, and where these have weights they have them in texts.
  if (isList && (!isIds || form.kind === 'boolean')) return undefined;
  if (isIds && (words.flags & CELL_FLAG.weighted) !== 0 && (isList || form.kind !== 'text')) return undefined;
  if (form.kind === 'time' && (words.kind !== CELL_KIND.time || isList)) return undefined;
  return shape;
}

function shapeOf(tree: SchemaTree): ColumnShape | undefined {
  const path = [tree];
  while (path.at(-1)!.children.length > 0) {
    if (path.at(-1)!.children.length > 1 || path.length > 3) return undefined;
    path.push(path.at(-1)!.children[0]!);
  }
  const elements = path.map(({ element }) => element);
  const form = formOf(elements.at(-1)!);
  const repeats = elements.map(({ repetition_type }) => repetition_type ?? 'REQUIRED');
  const isList = path.length === 3 && elements[0]!.converted_type === 'LIST';
  if (form === undefined || !(isList || path.length === 1)) return undefined;
  if (repeats.some((repeat, index) => (repeat === 'REPEATED') !== (isList && index === 1))) return undefined;
  const full = repeats.filter((repeat) => repeat !== 'REQUIRED').length;
  return { path: path.at(-1)!.path.join('.'), form, full, isList };
}

/** What hyparquet makes of values of an element, where that is simple. */
function formOf({ type, converted_type: converted, logical_type: logical }: SchemaElement): ValueForm | undefined {
  const isUnsigned = logical?.type === 'INTEGER' && !logical.isSigned;
  const width = logical?.type === 'INTEGER' ? logical.bitWidth : undefined;
  const isWhole =
    (logical === undefined || width !== undefined) && (converted === undefined || /^U?INT_/.test(converted));
  const isPlain = logical === undefined && converted === undefined;
  switch (type) {
    case 'BOOLEAN':
      return isPlain ? { kind: 'boolean' } : undefined;
    case 'INT32':
      if (!isWhole) return undefined;
      return {
        kind: 'number',
        type: converted === 'UINT_32' || (isUnsigned && width === 32) ? uint32 : int32,
        bytes: 4,
      };
    case 'INT64': {
      const perSecond = perSecondOf(converted, logical);
      if (perSecond !== undefined) return { kind: 'time', perSecond, bytes: 8 };
      if (!isWhole) return undefined;
      return {
        kind: 'number',
        type: converted === 'UINT_64' || (isUnsigned && width === 64) ? uint64 : int64,
        bytes: 8,
      };
    }
    case 'FLOAT':
      return isPlain ? { kind: 'number', type: float32, bytes: 4 } : undefined;
    case 'DOUBLE':
      return isPlain ? { kind: 'number', type: float64, bytes: 8 } : undefined;
    case 'BYTE_ARRAY':
      if (logical !== undefined && logical.type !== 'STRING' && logical.type !== 'ENUM') return undefined;
      return converted === undefined || converted === 'UTF8' || converted === 'ENUM' ? { kind: 'text' } : undefined;
    default:
      return undefined;
  }
}

function perSecondOf(
  converted: SchemaElement['converted_type'],
  logical: SchemaElement['logical_type'],
): number | undefined {
  if (converted === 'TIMESTAMP_MILLIS') return PER_SECOND.MILLIS;
  if (converted === 'TIMESTAMP_MICROS') return PER_SECOND.MICROS;
  return converted === undefined && logical?.type === 'TIMESTAMP' ? PER_SECOND[logical.unit] : undefined;
}
