/**
 * @file What a cell is worth: as an id, a number, a label, a time. One meaning for all that reads data; what has none
 * is refused with a reason, to which the reader adds the place.
 */
import { didYouMean } from '../base/suggest.js';
import { describe, type Refuse } from '../memory/given-arrays.js';
import { textId } from './farmhash.js';
import { type Cell, type LabelField, MISSING_NUMBER, type NumberField, type TimeField } from './field.js';
import { applyRule } from './label-rule.js';

/** Whether there is nothing in a cell. */
export const isMissing = (cell: Cell): boolean =>
  cell === undefined || cell === null || cell === '' || (typeof cell === 'number' && Number.isNaN(cell));

/** The id that stands for none: the fingerprint of an empty text. */
export const MISSING_ID = textId('');

const DIGITS = /^(?:0|-?[1-9]\d{0,19})$/;
const [LEAST, END] = [-(2n ** 63n), 2n ** 64n];

/** The 64 bits of a whole number in digits; undefined for any other text. */
function idOfDigits(text: string): bigint | undefined {
  if (!DIGITS.test(text)) return undefined;
  const value = BigInt(text);
  return value >= LEAST && value < END ? BigInt.asIntN(64, value) : undefined;
}

/** The id of a text that nobody asks for again. */
export const freshIdOf = (text: string): bigint => (text === '' ? MISSING_ID : (idOfDigits(text) ?? textId(text)));

/** Texts that were hashed, with their ids: most columns have few that come again and again. */
const hashed = new Map<string, bigint>();
const HASHED_MAX = 1 << 16;

function idOfText(text: string): bigint {
  const known = hashed.get(text);
  if (known !== undefined) return known;
  const id = freshIdOf(text);
  if (hashed.size >= HASHED_MAX) hashed.clear();
  hashed.set(text, id);
  return id;
}

/**
 * An id: a whole number as it is, in digits too, so that 42 and '42' are the same; of any other text its fingerprint.
 * `true` is the text.
 */
export function idOf(cell: Cell, refuse: Refuse): bigint {
  switch (typeof cell) {
    case 'string':
      return cell === '' ? MISSING_ID : idOfText(cell);
    case 'bigint':
      if (cell >= LEAST && cell < END) return BigInt.asIntN(64, cell);
      throw refuse(`${cell}n has more than 64 bits`);
    case 'number':
      if (Number.isSafeInteger(cell)) return BigInt(cell);
      if (Number.isNaN(cell)) return MISSING_ID;
      throw refuse(
        `${cell} is no id: no whole number below 2^53`,
        'ids of more digits are bigints, or texts of digits',
      );
    case 'boolean':
      return idOfText(String(cell));
    default:
      if (cell === null || cell === undefined) return MISSING_ID;
      throw refuse(`${describe(cell)} is no id`, 'ids are numbers, bigints or texts; f.ids() has many of them');
  }
}

/** A whole number as it is; no text but digits. */
export function intOf(cell: Cell, refuse: Refuse): bigint {
  const id = typeof cell === 'string' ? idOfDigits(cell.trim()) : isMissing(cell) ? undefined : idOf(cell, refuse);
  if (id !== undefined && typeof cell !== 'boolean') return id;
  throw refuse(`${told(cell)} is no whole number`, 'f.id() hashes texts');
}

/** A number: of a text that says one, of `true` and `false` 1 and 0. */
export function numberOf(cell: Cell, refuse: Refuse): number {
  const value = plainNumber(cell);
  if (value === undefined || !Number.isFinite(Math.fround(value))) throw refuse(`${told(cell)} is not a number`);
  return value;
}

function plainNumber(cell: Cell): number | undefined {
  switch (typeof cell) {
    case 'number':
      return cell;
    case 'string':
      return cell.trim() === '' ? undefined : Number(cell);
    case 'boolean':
    case 'bigint':
      return Number(cell);
    default:
      return undefined;
  }
}

/** The float that is fed for a cell of a number. */
export function floatOf({ parse, map, fallback }: NumberField, cell: Cell, refuse: Refuse): number {
  if (isMissing(cell)) return fallback ?? MISSING_NUMBER;
  const value = parse === undefined ? numberOf(cell, refuse) : made('parse', parse(cell), cell, refuse);
  return map === undefined ? value : made('map', map(value), cell, refuse);
}

/** The float of a label. */
export function labelOf(field: LabelField, cell: Cell, refuse: Refuse): number {
  const { map, rule, positive, classes } = field;
  if (isMissing(cell)) throw refuse('a label is missing', 'leave such rows out, or give the label');
  if (positive !== undefined) return positive.includes(String(cell).trim()) ? 1 : 0;
  if (classes !== undefined) {
    const text = String(cell).trim();
    const index = classes.indexOf(text);
    if (index >= 0) return index;
    throw refuse(
      `${told(cell)} is none of the classes`,
      didYouMean(text, classes) ?? `there are ${classes.join(', ')}`,
    );
  }
  const value = numberOf(cell, (reason) =>
    refuse(reason, "a label of texts says which are 1: f.label({ positive: 'yes' })"),
  );
  if (rule !== undefined) return applyRule(rule, value);
  return map === undefined ? value : made('map', map(value), cell, refuse);
}

/** Seconds since 1970 of a number, a date or an ISO text. */
export function timeOf({ unit }: TimeField, cell: Cell, refuse: Refuse): bigint {
  const number = typeof cell === 'string' && !/^\s*-?\d+(?:\.\d+)?\s*$/.test(cell) ? undefined : plainNumber(cell);
  const ms = number === undefined ? dateOf(cell) : unit === 'ms' ? number : number * 1000;
  if (Number.isFinite(ms)) return BigInt(Math.floor(ms / 1000));
  throw refuse(`${told(cell)} is no time`, 'times are Unix seconds, dates or ISO texts; f.time has the unit ms too');
}

const dateOf = (cell: Cell): number =>
  cell instanceof Date ? cell.getTime() : typeof cell === 'string' ? Date.parse(cell) : Number.NaN;

/** What a function of the schema gave, if it is a number. */
function made(which: string, value: unknown, cell: Cell, refuse: Refuse): number {
  if (typeof value === 'number' && Number.isFinite(Math.fround(value))) return value;
  throw refuse(`${which} gives ${told(value)} for ${told(cell)}, no number`);
}

/** A cell in a message: texts are cut. */
export function told(cell: Cell): string {
  return typeof cell === 'string' && cell.length > 60 ? `${JSON.stringify(cell.slice(0, 60))}…` : describe(cell);
}
