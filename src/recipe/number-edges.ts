/**
 * @file Where the pieces of numbers end: at quantiles of the rows that are trained on, so that each piece has its share
 * of them. A value that alone is more than a share, such as the 0 of a count that is 0 mostly, is an edge, and the
 * quantiles are those of the rest: else all of them would be 0.
 */
import { MISSING_NUMBER } from '../data/field.js';
import type { EncodedTable } from './encoded-table.js';
import type { ColumnPlan } from './recipe.js';

/** Pieces of a number where nobody says how many. */
export const PIECES = 32;
/** Fewer where there are few rows: of each piece there is something to learn from so many. */
const ROWS_PER_PIECE = 128;
const PIECES_MIN = 4;
/** Rows that quantiles are taken of, at the most. */
const ROWS_MAX = 200_000;

/** The columns, with edges of those that are numbers: `pieces` of them at the most, 0 for none. */
export function withEdges(
  columns: readonly ColumnPlan[],
  table: EncodedTable,
  train: Uint32Array,
  pieces: number,
): readonly ColumnPlan[] {
  const count = Math.min(pieces, Math.max(PIECES_MIN, Math.floor(train.length / ROWS_PER_PIECE)));
  if (count === 0) return columns;
  return columns.map((plan) => {
    if (plan.role !== 'number') return plan;
    const edges = edgesOf(sampled(table.floats(plan.name), train), count);
    return edges === undefined ? plan : { ...plan, edges };
  });
}

/** Values of rows that are there, in rising order. */
function sampled(values: Float32Array, rows: Uint32Array): Float32Array {
  const stride = Math.max(1, Math.ceil(rows.length / ROWS_MAX));
  const some = new Float32Array(Math.ceil(rows.length / stride));
  let count = 0;
  for (let at = 0; at < rows.length; at += stride) {
    const value = values[rows[at]!]!;
    if (value > MISSING_NUMBER / 2) some[count++] = value;
  }
  return some.subarray(0, count).sort();
}

/** Edges of at most `pieces` pieces of values that rise; undefined of values that are all one. */
export function edgesOf(values: Float32Array, pieces: number): number[] | undefined {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  const heavy = heavyOf(values, pieces - 1);
  const rest = values.filter((value) => !heavy.has(value));
  const edges = new Set<number>([first, last, ...heavy]);
  const wanted = pieces + 1 - edges.size;
  for (let n = 1; n <= wanted && rest.length > 0; n++) edges.add(rest[Math.floor((rest.length * n) / (wanted + 1))]!);
  return spaced([...edges].sort((a, b) => a - b));
}

/** Values that have more rows than a share of those that are left when heavier ones are taken out. */
function heavyOf(values: Float32Array, shares: number): ReadonlySet<number> {
  const counts: [value: number, count: number][] = [];
  for (let from = 0, to = 0; from < values.length; from = to) {
    while (to < values.length && values[to] === values[from]) to++;
    counts.push([values[from]!, to - from]);
  }
  counts.sort((a, b) => b[1] - a[1]);
  const heavy = new Set<number>();
  let left = values.length;
  for (const [value, count] of counts) {
    if (heavy.size === shares || count * (shares - heavy.size) < left) break;
    heavy.add(value);
    left -= count;
  }
  return heavy;
}

/** Without edges that are as good as the one before: what floats cannot tell apart in a range so wide. */
function spaced(edges: readonly number[]): number[] | undefined {
  const gap = (edges.at(-1)! - edges[0]!) * 1e-7;
  const kept: number[] = [];
  for (const edge of edges) if (kept.length === 0 || edge - kept.at(-1)! > gap) kept.push(shortest(edge));
  return kept.length < 2 ? undefined : kept;
}

/** The same float in the fewest digits, for people who read it. */
function shortest(float: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(float.toPrecision(digits));
    if (Math.fround(short) === float) return short;
  }
  return float;
}
