/** @file Rows made up for a model: to try it with before it answers, and to compare an export with its training. */
import { hashU32 } from '../base/random.js';
import { columnOf } from '../data/encode-rows.js';
import type { Feature, Features } from '../data/schema.js';

/** Ids of a feature that rows may have. */
export type KnownIds = (feature: string) => ArrayLike<bigint> | null;

/** So many rows: ids that the model knows and ids that it does not, numbers of several sizes, missing cells. */
export function sampleRows(features: Features, count: number, idsOf: KnownIds = () => null): object[] {
  const columns = Object.entries(features).flatMap(([name, feature], stream) =>
    feature.field?.role === 'label' || feature.field?.role === 'time'
      ? []
      : [{ column: columnOf(name, feature), draw: drawerOf(feature, idsOf(name), stream) }],
  );
  return Array.from({ length: count }, (_, row) =>
    Object.fromEntries(columns.map(({ column, draw }) => [column, draw(row)])),
  );
}

function drawerOf(feature: Feature, ids: ArrayLike<bigint> | null, stream: number): (row: number) => unknown {
  const draw = (row: number, salt: number, below: number) => hashU32(stream * 8 + salt, row) % below;
  const id = (row: number, salt: number): unknown => {
    const known = ids !== null && ids.length > 0 && draw(row, salt, 8) > 0;
    return known ? ids[draw(row, salt + 1, ids.length)] : draw(row, salt + 1, 100);
  };
  const number = (row: number, at: number) => (draw(row, at, 2001) - 1000) / 10 ** draw(row, at + 1, 4);
  if (feature.kind === 'ragged') {
    const most = Math.min(feature.valuesPerRow, 4);
    return (row) => Array.from({ length: draw(row, 0, Math.floor(most) + 1) }, (_, at) => id(row, at + 1));
  }
  const { width } = feature;
  if (feature.kind === 'ids')
    return (row) => (width === 1 ? id(row, 0) : Array.from({ length: width }, (_, at) => id(row, at)));
  if (width > 1) return (row) => Array.from({ length: width }, (_, at) => number(row, at));
  return (row) => (draw(row, 5, 10) === 0 ? null : number(row, 0));
}
