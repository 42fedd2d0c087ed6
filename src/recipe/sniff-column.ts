/** @file What a column is for, guessed from its name and cells. Every guess can be overruled, and says how it came. */
import { type ColumnStats, USUAL_NULLS } from './column-stats.js';
import type { ColumnPlan, ColumnRole, ColumnType } from './recipe.js';

/** Words of names that say the number in a column is a name for something. */
const ID_WORDS = new RegExp(
  `(?:^|[_\\s.-])(?:${[
    'id|ids|uid|gid|pid|key|code|hash|zip|zipcode|postcode|user|member|customer|item|movie|book|product|sku',
    'ad|campaign|advertiser|publisher|creative|site|app|device|category|cat|brand|shop|store|artist|track|song',
    'query|segment|position|country|region|city|area|gender|sex|occupation|type|group',
  ].join('|')})s?$`,
  'i',
);
const ID_SUFFIX = /[a-z\d](?:Id|ID|Ids|Key|Code|Type)$/;
const TIME_NAME =
  /(?:^|[_\s.-])(?:time|timestamp|ts|date|datetime|day)(?:$|[_\s.-])|[a-z](?:Time|Timestamp|Date|At)$|_at$/i;
/** Seconds from 1990 to 2100. */
const [TIME_MIN, TIME_MAX] = [631_152_000, 4_102_444_800];
/** Nearly all cells, where a few may be missing in words. */
const NEARLY_ALL = 0.9;
/** From so many rows on, what is different in nearly every row says nothing of the next one. */
const ROWS_TO_JUDGE = 50;
const UNIQUE_SHARE = 0.9;
const TEXT_SHARE = 0.5;
const LIST_SHARE = 0.05;
/** Ids of a cell that are looked at, at the most. */
const PARTS_MAX = 64;
const WORDS_MAX = 32;

/** What somebody said of columns, by name. */
export interface Overrules {
  readonly id?: readonly string[];
  readonly number?: readonly string[];
  readonly time?: readonly string[];
  readonly ignore?: readonly string[];
  readonly words?: readonly string[];
  /** Lists, with what stands between their parts. */
  readonly list?: ReadonlyMap<string, string>;
  /** Texts that are missing values. */
  readonly nulls?: readonly string[];
}

export interface SniffContext {
  readonly over: Overrules;
  /** The file of a side table, with what it is joined by. */
  readonly side?: { readonly file: string; readonly key: string };
}

/** The plan of a column that is not the label. */
export function sniffColumn(stats: ColumnStats, { over, side }: SniffContext): ColumnPlan {
  const { name } = stats;
  const type = typeOf(stats);
  const told = toldRole(name, over);
  const mark = over.list?.get(name) ?? markOf(stats);
  const guessed: { role: ColumnRole; why?: string } =
    told === undefined ? guess(stats, type, side?.key) : { role: told };
  const { role, why } = guessed;
  return {
    name,
    ...(side && { side: side.file }),
    type,
    role,
    ...(role === 'ids' && { split: mark ?? ',', max: powerFrom(stats.partsMax, PARTS_MAX) }),
    ...(role === 'words' && { split: ' ', max: WORDS_MAX }),
    ...(role === 'number' && { ...(isSkewed(stats) && { log: true }), ...nullsOf(stats, type) }),
    ...(role === 'time' && { unit: stats.max > TIME_MAX ? ('ms' as const) : ('s' as const) }),
    ...(role === 'id' && { distinct: stats.distinct }),
    ...(why !== undefined && { why }),
  };
}

/** What the cells are, whatever they are for. */
export function typeOf(stats: ColumnStats): ColumnType {
  const { present, numbers, integers, bools, dates, arrays, nulls } = stats;
  if (present === 0) return 'empty';
  if (arrays > 0) return 'list';
  const withNulls = numbers + nulls;
  if (numbers > 0 && withNulls === present && numbers >= present * NEARLY_ALL) {
    if (integers < numbers) return 'num';
    return isTime(stats) ? 'time' : 'int';
  }
  // A few cells that are no numbers are slips, which are told where they are.
  if (numbers >= present * 0.999 && present >= 1000) return integers < numbers ? 'num' : 'int';
  if (dates >= present * NEARLY_ALL) return 'time';
  if (bools === present) return 'bool';
  return markOf(stats) === undefined ? 'text' : 'list';
}

/** What a column is said to be for. */
export function toldRole(name: string, over: Overrules): ColumnRole | undefined {
  if (over.ignore?.includes(name)) return 'none';
  if (over.id?.includes(name)) return 'id';
  if (over.number?.includes(name)) return 'number';
  if (over.time?.includes(name)) return 'time';
  if (over.words?.includes(name)) return 'words';
  return over.list?.has(name) ? 'ids' : undefined;
}

function guess(stats: ColumnStats, type: ColumnType, key: string | undefined): { role: ColumnRole; why?: string } {
  const { name, distinct, present, overflowed } = stats;
  const each = key === undefined ? 'row' : key.replace(/(?:_?id)$/i, '') || key;
  if (type === 'empty') return { role: 'none', why: 'empty' };
  if (distinct === 1 && stats.missing === 0 && stats.arrays === 0)
    return { role: 'none', why: 'the same in every row' };
  const isUnique = present >= ROWS_TO_JUDGE && (overflowed || distinct > present * UNIQUE_SHARE);
  switch (type) {
    case 'time':
      return { role: 'time' };
    case 'list':
      return { role: 'ids' };
    case 'num':
      return { role: 'number' };
    case 'bool':
      return { role: 'id' };
    case 'int':
      if (isUnique && /^(?:id|index|row|rowid|row_id|unnamed.*|column_1)?$/i.test(name)) {
        return { role: 'none', why: `another one in every ${each}` };
      }
      return { role: ID_WORDS.test(name) || ID_SUFFIX.test(name) || stats.big > 0 ? 'id' : 'number' };
    case 'text':
      if (isUnique && stats.spaces > present / 2) {
        return { role: 'none', why: `one value per ${each}; --words ${name} uses its words` };
      }
      if (isUnique) return { role: 'none', why: `one value per ${each}; --id ${name} uses it` };
      if (stats.spaces > present / 2 && distinct > present * TEXT_SHARE) {
        return { role: 'none', why: `a text; --words ${name} uses its words` };
      }
      return { role: 'id' };
    default:
      return type satisfies never;
  }
}

/** Whole numbers that are times, by what the column is called or by how many there are. */
function isTime({ name, min, max, distinct, present }: ColumnStats): boolean {
  const inSeconds = min >= TIME_MIN && max <= TIME_MAX;
  const inMs = min >= TIME_MIN * 1000 && max <= TIME_MAX * 1000;
  if (!inSeconds && !inMs) return false;
  return TIME_NAME.test(name) || (distinct > present / 2 && !ID_WORDS.test(name) && !ID_SUFFIX.test(name));
}

/** What stands between the parts of a cell, where enough cells have several. */
function markOf({ marks, present, spaces, numbers }: ColumnStats): '|' | ';' | ',' | undefined {
  if (numbers > 0) return undefined;
  if (marks['|'] > present * LIST_SHARE) return '|';
  if (marks[';'] > present * LIST_SHARE) return ';';
  // Commas stand in sentences and names too.
  return marks[','] > present * 0.2 && spaces === 0 ? ',' : undefined;
}

function isSkewed({ min, mean, deviation }: ColumnStats): boolean {
  return min >= 0 && deviation > 2 * mean;
}

function nullsOf({ nullTexts }: ColumnStats, type: ColumnType): { nulls?: readonly string[] } {
  const known = [...nullTexts].filter((text) => USUAL_NULLS.includes(text.trim()));
  return known.length === 0 || (type !== 'int' && type !== 'num') ? {} : { nulls: known };
}

function powerFrom(count: number, most: number): number {
  return Math.min(most, 2 ** Math.ceil(Math.log2(Math.max(1, count))));
}
