/**
 * @file Counts and sizes as people type them: `10m` rows, `1.5b` rows, `8g` of memory.
 *
 * Read strictly: what could mean two things is refused with a hint. Counts are powers of ten; sizes are powers of two,
 * as memory is, except where the unit says otherwise (GB).
 */
import { z } from 'zod';
import { refuse } from './flags.js';

const COUNT_UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, b: 1e9 };
const SIZE_UNITS: Readonly<Record<string, number>> = {
  b: 1,
  k: 2 ** 10,
  kib: 2 ** 10,
  kb: 1e3,
  m: 2 ** 20,
  mib: 2 ** 20,
  mb: 1e6,
  g: 2 ** 30,
  gib: 2 ** 30,
  gb: 1e9,
  t: 2 ** 40,
  tib: 2 ** 40,
  tb: 1e12,
};
const NUMBER_AND_UNIT = /^(\d+(?:\.\d+)?)([a-z]*)$/i;

/** The number times its unit when that is whole, null when it is not, undefined for an unknown form or unit. */
function parse(text: string, units: Readonly<Record<string, number>>): number | null | undefined {
  const match = NUMBER_AND_UNIT.exec(text);
  const unit = match === null ? undefined : units[match[2]!.toLowerCase()];
  if (match === null || unit === undefined) return undefined;
  // 1.1 * 1e6 is a hair more than 1100000 in floating point; people mean the decimal.
  const value = Number((Number(match[1]) * unit).toPrecision(15));
  return Number.isSafeInteger(value) ? value : null;
}

/** What was likely meant by text that is not in the form asked for, in that form. */
function meant(text: string, units: Readonly<Record<string, number>>): string | undefined {
  const tight = text.replace(/[\s_,]/g, '').replace(/rows?$|bytes?$/i, '');
  if (parse(tight, units) != null) return tight;
  const value = Number(tight);
  return tight !== '' && Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
}

/** A count: digits, or a number with k, m or b after it. */
export function humanCount(min: number, max: number) {
  return z.string().transform((text, context): number => {
    const value = parse(text, COUNT_UNITS);
    if (value === null) return refuse(context, `must be a whole number, found "${text}"`, 'use a smaller unit');
    if (value === undefined) {
      const likely = meant(text, COUNT_UNITS);
      const hint = likely === undefined ? 'it takes numbers like 250000, 250k, 10m or 1.5b' : `write ${likely}`;
      return refuse(context, `must be a count like 250k, 10m or 1.5b, found "${text}"`, hint);
    }
    if (value >= min && value <= max) return value;
    return refuse(
      context,
      `must be from ${min} to ${max}, found ${text}`,
      `it takes ${value < min ? min : max} at the ${value < min ? 'least' : 'most'}`,
    );
  });
}

/** A number of bytes: a number with its unit. Bare digits are refused: 8 could be anything. */
export function humanBytes(min: number, max: number) {
  return z.string().transform((text, context): number => {
    const value = parse(text, SIZE_UNITS);
    if (value == null) {
      const digits = /^\d+(\.\d+)?$/.test(text);
      const likely = digits ? `${text}g, or ${text}b for bytes` : meant(text, SIZE_UNITS);
      const hint = likely === undefined ? 'it takes sizes like 512m, 8g, 8GiB or 8GB' : `write ${likely}`;
      return refuse(context, `must be a size with its unit like 512m or 8g, found "${text}"`, hint);
    }
    if (value >= min && value <= max) return value;
    return refuse(
      context,
      `must be from ${min} to ${max} bytes, found ${text}`,
      `it takes ${value < min ? min : max}b at the ${value < min ? 'least' : 'most'}`,
    );
  });
}
