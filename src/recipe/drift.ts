/**
 * @file How far columns move: what is held out against what was trained on, and the last part of that against its
 * first. Population stability index over the deciles of numbers and the most frequent ids: below 0.1 is nothing to
 * speak of, above 0.25 is another distribution.
 */
import { MISSING_NUMBER } from '../data/field.js';
import type { FeedData } from '../memory/batch.js';
import type { EncodedTable } from './encoded-table.js';
import type { Parts } from './hold-out.js';
import { featureColumns, type Recipe } from './recipe.js';
import type { Drift } from './run-event.js';

/** Rows of each part that are looked at, and the least that say anything. */
const [ROWS_MAX, ROWS_MIN] = [20_000, 200];
const SHARES = 10;
/** Ids that are counted by themselves; all others are one kind. */
const IDS = 20;
/** Rows that are added to each kind, so that one that is not there is no infinite change. */
const PRIOR = 0.5;

/** What is told apart. */
export interface DriftGiven {
  readonly table: EncodedTable;
  readonly parts: Parts;
  readonly recipe: Recipe;
}

/** By column of one id or one number. */
export function driftOf({ table, parts, recipe }: DriftGiven): Readonly<Record<string, Drift>> {
  const time = recipe.columns.find(({ role }) => role === 'time')?.name;
  const train = sampled(parts.train);
  const held = sampled(parts.test);
  const ordered = time === undefined ? train : byTime(train, table.feed(time).values as BigInt64Array);
  const tenth = Math.ceil(ordered.length / SHARES);
  const [first, last] = [ordered.subarray(0, tenth), ordered.subarray(-tenth)];
  const found: Record<string, Drift> = {};
  for (const { name } of featureColumns(recipe)) {
    const feed = table.feed(name);
    if (feed.kind === 'ragged') continue;
    found[name] = { held: moved(feed, train, held), last: moved(feed, first, last) };
  }
  return found;
}

function sampled(rows: Uint32Array): Uint32Array {
  const stride = Math.ceil(rows.length / ROWS_MAX);
  return stride <= 1 ? rows : rows.filter((_, at) => at % stride === 0);
}

function byTime(rows: Uint32Array, times: BigInt64Array): Uint32Array {
  const seconds = Float64Array.from(rows, (row) => Number(times[row]!));
  const order = Uint32Array.from(rows, (_, at) => at).sort((a, b) => seconds[a]! - seconds[b]!);
  return order.map((at) => rows[at]!);
}

/** The index between what a feed has in some rows and in others; null where there are too few. */
function moved(feed: Exclude<FeedData, { kind: 'ragged' }>, from: Uint32Array, to: Uint32Array): number | null {
  if (Math.min(from.length, to.length) < ROWS_MIN) return null;
  const kindOf =
    feed.kind === 'ids' ? idKinds(feed.values as BigInt64Array, from) : numberKinds(feed.values as Float32Array, from);
  const [before, after] = [countsOf(kindOf, from), countsOf(kindOf, to)];
  const kinds = new Set([...before.keys(), ...after.keys()]);
  let index = 0;
  for (const kind of kinds) {
    const [p, q] = [shareOf(before, kind, from.length, kinds.size), shareOf(after, kind, to.length, kinds.size)];
    index += (q - p) * Math.log(q / p);
  }
  return index;
}

const shareOf = (counts: ReadonlyMap<number, number>, kind: number, rows: number, kinds: number): number =>
  ((counts.get(kind) ?? 0) + PRIOR) / (rows + PRIOR * kinds);

function countsOf(kindOf: (row: number) => number, rows: Uint32Array): Map<number, number> {
  const counts = new Map<number, number>();
  for (const row of rows) {
    const kind = kindOf(row);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** Which tenth of the values a number is in; a kind of their own for missing ones. */
function numberKinds(values: Float32Array, rows: Uint32Array): (row: number) => number {
  const there = Float32Array.from(rows, (row) => values[row]!)
    .filter((value) => value > MISSING_NUMBER / 2)
    .sort();
  const ends = [
    ...new Set(Array.from({ length: SHARES - 1 }, (_, n) => there[Math.floor((there.length * (n + 1)) / SHARES)]!)),
  ];
  return (row) => {
    const value = values[row]!;
    return value <= MISSING_NUMBER / 2 ? -1 : ends.findLastIndex((end) => value >= end) + 1;
  };
}

/** The place of an id among the most frequent ones; one kind for all others. */
function idKinds(values: BigInt64Array, rows: Uint32Array): (row: number) => number {
  // Ids by 32 bits of a hash: a Map of bigints takes many times as long, and two that meet here change nothing.
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const keyOf = (row: number) => halves[2 * row]! ^ Math.imul(halves[2 * row + 1]!, 0x9e3779b1);
  const counts = new Map<number, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  const top = [...counts].sort((a, b) => b[1] - a[1]).slice(0, IDS);
  const places = new Map(top.map(([key], place) => [key, place]));
  return (row) => places.get(keyOf(row)) ?? IDS;
}
