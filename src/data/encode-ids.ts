/** @file Cells of many ids as the feed of their feature: lists or texts of them, with weights or without. */
import { LIMITS, overLimit } from '../base/limits.js';
import type { FeedData } from '../memory/batch.js';
import { describe, type Refuse } from '../memory/given-arrays.js';
import { idOf, isMissing, numberOf } from './cells.js';
import type { Cell, IdsField } from './field.js';
import type { Column } from './row-table.js';
import { type RaggedFeature, weightsOf } from './schema.js';

/** The ids of one cell, with a weight each where they have weights. */
interface IdList {
  readonly ids: ArrayLike<Cell>;
  readonly weights: ArrayLike<Cell> | undefined;
}

const PLAIN = { split: ',', max: undefined, weights: undefined, map: undefined } as const;

/** The feed of ids, and that of their weights; `column` gives the column the weights are in. */
export function encodeIds(
  name: string,
  feature: RaggedFeature,
  column: Column,
  other: (name: string) => Column,
): [string, FeedData][] {
  const field = feature.field?.role === 'ids' ? feature.field : PLAIN;
  const { max = Number.POSITIVE_INFINITY, map } = field;
  const weightColumn = typeof field.weights === 'object' ? other(field.weights.from) : undefined;
  const splits = new Int32Array(column.rows + 1);
  const values: bigint[] = [];
  const weights = feature.weighted ? new Float32Array(column.rows * feature.valuesPerRow) : undefined;
  for (let row = 0; row < column.rows; row++) {
    const refuse = column.refuse(row);
    const list = idsOfCell(field, column.cell(row), weightColumn, row, refuse);
    const { length } = list.ids;
    if (field.max === undefined && length > LIMITS.rowIds) throw refuse(overLimit('rowIds', length), MANY_IDS);
    if (list.weights !== undefined && list.weights.length !== length) {
      throw weightColumn!.refuse(row)(`it has ${list.weights.length} weights for ${length} ids`);
    }
    let kept = 0;
    for (let at = 0; at < length && kept < max; at++) {
      const id = list.ids[at];
      if (isMissing(id)) continue;
      values.push(idOf(map === undefined ? id : map(id), refuse));
      if (weights !== undefined) weights[row * feature.valuesPerRow + kept] = weightOf(list.weights?.[at], refuse);
      kept++;
    }
    splits[row + 1] = values.length;
  }
  const ids: FeedData = { kind: 'ragged', splits, values: BigInt64Array.from(values) };
  return weights === undefined
    ? [[name, ids]]
    : [
        [name, ids],
        [weightsOf(name), { kind: 'dense', values: weights }],
      ];
}

/** How to have it nevertheless. */
const MANY_IDS = 'give f.ids a max: so many of a cell are kept';

/** A weight that is not said is 1. */
const weightOf = (cell: Cell, refuse: Refuse): number => (isMissing(cell) ? 1 : numberOf(cell, refuse));

function idsOfCell(
  field: Pick<IdsField, 'split' | 'weights'>,
  cell: Cell,
  weightColumn: Column | undefined,
  row: number,
  refuse: Refuse,
): IdList {
  const { split, weights: between } = field;
  const ids = listOf(cell, split, refuse);
  if (weightColumn !== undefined) {
    return { ids, weights: listOf(weightColumn.cell(row), split, weightColumn.refuse(row)) };
  }
  if (typeof between !== 'string') return { ids, weights: undefined };
  const pairs = Array.from(ids, (part) => pairOf(part, between));
  return { ids: pairs.map(([id]) => id), weights: pairs.map(([, weight]) => weight) };
}

/** `[id, weight]`, or a text with something between them. */
function pairOf(part: Cell, between: string): readonly [Cell, Cell] {
  if (Array.isArray(part)) return [part[0], part[1]];
  if (typeof part !== 'string') return [part, undefined];
  const at = part.lastIndexOf(between);
  return at < 0 ? [part, undefined] : [part.slice(0, at).trim(), part.slice(at + between.length).trim()];
}

function listOf(cell: Cell, split: string, refuse: Refuse): ArrayLike<Cell> {
  if (isMissing(cell)) return [];
  if (typeof cell === 'string') return cell.split(split).map((part) => part.trim());
  if (Array.isArray(cell)) return cell;
  if (ArrayBuffer.isView(cell) && !(cell instanceof DataView)) return cell as BigInt64Array;
  if (typeof cell === 'number' || typeof cell === 'bigint') return [cell];
  throw refuse(`${describe(cell)} is no list of ids`, 'ids are in an array, or in a text with something between them');
}
