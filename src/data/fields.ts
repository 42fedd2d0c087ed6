/**
 * @file Fields of a schema in the words of a table of data: `f.id()`, `f.ids()`, `f.number()`, `f.label()`, `f.time()`,
 * `f.int()`. Each is a dense, int64 or ragged feature that knows the column it comes from and what its cells mean.
 */
import { checkNumber, checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { LIMITS } from '../base/limits.js';
import { IDS_PER_ROW } from '../graph/ops/state.js';
import type { Cell, Field, IdField, IdsField, IntField, LabelField, NumberField, TimeField } from './field.js';
import { labelRule } from './label-rule.js';

declare const column: unique symbol;

/**
 * What is known of a field; which column it comes from is known to the compiler alone, by a mark that no value has.
 * (In `field` it would be taken from the place the call stands in, where it is any text.)
 */
export type With<F extends Field, From> = { readonly field: F; readonly [column]?: From };
export type IdFeature<From = string | undefined> = { readonly kind: 'ids'; readonly width: 1 } & With<IdField, From>;
export type IdsFeature<From = string | undefined, Weighted = boolean> = {
  readonly kind: 'ragged';
  readonly valuesPerRow: number;
  /** Ids of one row that are refused if there are more. There is room for as many as the data has. */
  readonly rowMax: number;
  /** Whether ids have weights, which are a feed of their own, `name/weights`. */
  readonly weighted: Weighted;
} & With<IdsField, From>;
export type NumberFeature<From = string | undefined, Width extends number = number> = {
  readonly kind: 'dense';
  readonly width: Width;
} & With<NumberField, From>;
export type LabelFeature<From = string | undefined> = { readonly kind: 'dense'; readonly width: 1 } & With<
  LabelField,
  From
>;
export type TimeFeature<From = string | undefined> = { readonly kind: 'ids'; readonly width: 1 } & With<
  TimeField,
  From
>;
export type IntFeature<From = string | undefined> = { readonly kind: 'ids'; readonly width: 1 } & With<IntField, From>;

interface ColumnOption<From> {
  /** The column it comes from. Default: that of its own name. */
  readonly from?: From;
}

interface LifetimeOptions {
  /** Sightings before an id gets a row. Default: 1, the first. */
  readonly minCount?: number;
  /** Days without an update after which an id may go. Needs a time: see `f.time`. Default: never. */
  readonly expireDays?: number;
  /** How many ids that have no row yet are remembered, where `minCount` is above 1. Default: 4 million, 12 MB. */
  readonly remembered?: number;
}

export interface IdOptions<From> extends ColumnOption<From>, LifetimeOptions {
  /** What the id is made of, in place of the cell: a number, a bigint or a text. */
  readonly map?: (cell: Cell) => Cell;
}

export interface IdsOptions<From> extends ColumnOption<From>, LifetimeOptions {
  /** What stands between the ids of a text. Default: a comma. */
  readonly split?: string;
  /**
   * Ids after so many are left out. Needed where ids have weights. Default: none are, and more than a million (2 ** 20)
   * in one cell are refused.
   */
  readonly max?: number;
  /** Ids have weights: what stands between an id and its weight in a text, or the column of the weights. */
  readonly weights?: string | { readonly from: string };
  /** What each id is made of, in place of what stands in the cell. */
  readonly map?: (cell: Cell) => Cell;
}

export interface NumberOptions<From> extends ColumnOption<From> {
  /** How many numbers a cell has, in a list. Default: 1. */
  readonly width?: number;
  /** Makes a number of a cell that is none, such as a date. */
  readonly parse?: (cell: Cell) => number;
  /** Makes another number of it: `Math.log1p`, or the hour of a time. */
  readonly map?: (value: number) => number;
  /**
   * The model sees it less its mean, over its deviation. Both are counted while it trains and kept with the model.
   * Default: true.
   */
  readonly standardise?: boolean;
  /** In place of a missing value. Default: the mean of those that are there; 0 where it is not standardised. */
  readonly default?: number;
  /**
   * Two numbers or more that rise: the ends of pieces that the model sees it in too. Its input has the number, how much
   * of each piece lies below it, from 0 to 1, and whether it is missing. What is learnt of a number so may bend at each
   * edge; quantiles of the data are good ones. `map` comes before it. Default: the number alone.
   */
  readonly edges?: readonly number[];
}

export interface LabelOptions<From> extends ColumnOption<From> {
  /** Makes the label of a number. */
  readonly map?: (value: number) => number;
  /** A comparison: 1 where it holds, else 0. `'>=3.5'` */
  readonly rule?: string;
  /** The text that is 1, or several; others are 0. */
  readonly positive?: string | readonly string[];
  /** Texts of the classes: the label is the index of one, for `m.multiclass`. */
  readonly classes?: readonly string[];
}

export interface TimeOptions<From> extends ColumnOption<From> {
  /** What numbers count: seconds or milliseconds since 1970. Dates and ISO texts say it themselves. Default: `s`. */
  readonly unit?: 's' | 'ms';
}

const REMEMBERED = 1 << 22;
const EDGES_MAX = 1024;

function id<const From extends string | undefined = undefined>(options: IdOptions<From> = {}): IdFeature<From> {
  checkOptions('f.id', options, ['from', 'map', ...LIFETIME]);
  return {
    kind: 'ids',
    width: 1,
    field: {
      role: 'id',
      ...source('f.id', options),
      ...lifetime('f.id', options),
      map: functionOf('f.id', 'map', options.map),
    },
  };
}

function ids<
  const From extends string | undefined = undefined,
  const Weights extends IdsOptions<From>['weights'] = undefined,
>(
  options: IdsOptions<From> & { readonly weights?: Weights } = {},
): IdsFeature<From, [Weights] extends [undefined] ? false : true> {
  checkOptions('f.ids', options, ['from', 'split', 'max', 'weights', 'map', ...LIFETIME]);
  const { split = ',', max, weights } = options;
  if (max !== undefined) count('f.ids', 'max', max);
  if (weights !== undefined && max === undefined) {
    throw option('f.ids', 'max', 'ids with weights need it: so many weights an example has room for');
  }
  if (typeof split !== 'string' || split === '') throw option('f.ids', 'split', 'it is a text');
  const field = {
    role: 'ids',
    ...source('f.ids', options),
    ...lifetime('f.ids', options),
    split,
    max,
    weights,
    map: functionOf('f.ids', 'map', options.map),
  } as const;
  const weighted = (weights !== undefined) as [Weights] extends [undefined] ? false : true;
  const rowMax = max ?? LIMITS.rowIds;
  return { kind: 'ragged', valuesPerRow: max ?? IDS_PER_ROW, rowMax, weighted, field };
}

/** Overloads, because without a width it would be taken from the place the call stands in: any number. */
function number<const Width extends number, const From extends string | undefined = undefined>(
  options: NumberOptions<From> & { readonly width: Width },
): NumberFeature<From, Width>;
function number<const From extends string | undefined = undefined>(
  options?: NumberOptions<From>,
): NumberFeature<From, 1>;
function number(options: NumberOptions<string | undefined> = {}): NumberFeature {
  checkOptions('f.number', options, ['from', 'width', 'parse', 'map', 'standardise', 'default', 'edges']);
  const { width = 1, standardise = true } = options;
  if (typeof standardise !== 'boolean') throw option('f.number', 'standardise', 'it is true or false');
  if (options.default !== undefined) checkNumber('f.number', 'default', options.default);
  const field = {
    role: 'number',
    ...source('f.number', options),
    parse: functionOf('f.number', 'parse', options.parse),
    map: functionOf('f.number', 'map', options.map),
    standardise,
    fallback: options.default ?? (standardise ? undefined : 0),
    edges: options.edges === undefined ? undefined : edgesOf(options.edges, width),
  } as const;
  return { kind: 'dense', width: count('f.number', 'width', width), field };
}

function label<const From extends string | undefined = undefined>(
  options: LabelOptions<From> = {},
): LabelFeature<From> {
  checkOptions('f.label', options, ['from', 'map', 'rule', 'positive', 'classes']);
  const { map, rule, positive, classes } = options;
  const ways = Object.entries({ map, rule, positive, classes }).flatMap(([name, way]) =>
    way === undefined ? [] : [name],
  );
  if (ways.length > 1) throw option('f.label', ways[1]!, `${ways.join(' and ')} say two things of one label`);
  if (classes !== undefined && !(Array.isArray(classes) && classes.length > 1)) {
    throw option('f.label', 'classes', 'it is a list of at least two texts');
  }
  const field = {
    role: 'label',
    ...source('f.label', options),
    map: functionOf('f.label', 'map', map),
    rule: rule === undefined ? undefined : labelRule('f.label', rule),
    positive: positive === undefined ? undefined : [positive].flat(),
    classes,
  } as const;
  return { kind: 'dense', width: 1, field };
}

function time<const From extends string | undefined = undefined>(options: TimeOptions<From> = {}): TimeFeature<From> {
  const { unit = 's' } = checkOptions('f.time', options, ['from', 'unit']);
  if (unit !== 's' && unit !== 'ms') throw option('f.time', 'unit', `it is 's' or 'ms', not ${String(unit)}`);
  return { kind: 'ids', width: 1, field: { role: 'time', ...source('f.time', options), unit } };
}

function int<const From extends string | undefined = undefined>(options: ColumnOption<From> = {}): IntFeature<From> {
  checkOptions('f.int', options, ['from']);
  return { kind: 'ids', width: 1, field: { role: 'int', ...source('f.int', options) } };
}

/**
 * Fields of a schema.
 *
 * - `f.id()`: one id, any 64 bits or any text, which is hashed. `minCount` and `expireDays` say when it gets a row and
 *   when it may go.
 * - `f.ids({ split: '|' })`: many ids, of a list or a text, with weights or without.
 * - `f.number()`: a float, standardised by a mean and deviation that are learnt along.
 * - `f.label({ rule: '>=3.5' })`: what is predicted.
 * - `f.time()`: when the example happened. `f.int()`: an int64 as it is.
 */
export const f = { id, ids, number, label, time, int } as const;

const LIFETIME = ['minCount', 'expireDays', 'remembered'] as const;

function lifetime(where: string, options: LifetimeOptions) {
  const { minCount = 1, expireDays, remembered = REMEMBERED } = options;
  if (expireDays !== undefined) count(where, 'expireDays', expireDays);
  return {
    minCount: count(where, 'minCount', minCount),
    expireDays,
    remembered: count(where, 'remembered', remembered),
  };
}

function source<From extends string | undefined>(where: string, { from }: ColumnOption<From>) {
  if (from !== undefined && (typeof from !== 'string' || from === ''))
    throw option(where, 'from', 'it is the name of a column');
  return { from };
}

function count(where: string, name: string, value: number): number {
  if (Number.isInteger(value) && value > 0 && value < 2 ** 31) return value;
  throw option(where, name, `${String(value)} is no whole number above 0`);
}

/** Edges as floats: two of them may be one where a number has more digits. */
function edgesOf(edges: readonly number[], width: number): readonly number[] {
  if (width !== 1) throw option('f.number', 'edges', 'they are for one number, not for several of a cell');
  const floats = Array.isArray(edges)
    ? edges.map((edge) => (typeof edge === 'number' ? Math.fround(edge) : Number.NaN))
    : [];
  const range = (floats.at(-1) ?? 0) - (floats[0] ?? 0);
  // A piece so narrow that its slope is no float is none.
  const isRising = floats.every((edge, at) => {
    const gap = at === 0 ? 1 : edge - floats[at - 1]!;
    return Number.isFinite(edge) && gap > 0 && Number.isFinite(Math.fround(Math.max(1, range) / gap));
  });
  if (floats.length >= 2 && floats.length <= EDGES_MAX && isRising) return floats;
  throw option('f.number', 'edges', `they are 2 to ${EDGES_MAX} finite numbers that rise, as floats`);
}

function functionOf<T>(where: string, name: string, value: T): T {
  if (value === undefined || typeof value === 'function') return value;
  throw option(where, name, 'it is a function');
}

function option(where: string, name: string, reason: string): MonolithError {
  return new MonolithError('ML_OPTION', { where, option: name, reason: `${name}: ${reason}` });
}
