/** @file What calls of tables check before they touch memory, and the errors of those that fail. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { type Floats, floatsOf, type Ids, idsOf } from '../../memory/given-arrays.js';
import { HEAP } from '../../memory/table-layout.js';
import type { OptimizeOptions } from './embedding-table.js';
import type { TablePart } from './table-grip.js';

/** Times of updates are kept as u32. */
export const TIME_MAX = 2 ** 32 - 1;

/**
 * Ids as one array of signed numbers, in place where they are an array; the bit pattern is what counts. ML_IDS for
 * anything else.
 */
export function idList(table: string, ids: Ids): BigInt64Array {
  if (ids instanceof BigInt64Array) return ids;
  const hint = 'ids are a BigInt64Array or a BigUint64Array, or bigints in a list: BigInt64Array.of(1n, 2n)';
  return idsOf(ids, (reason, more = hint) => new MonolithError('ML_IDS', { table, reason }, { hint: more }));
}

/** Floats as one array, in place where they are one. ML_TABLE_DIM unless there are `dim` of them per id. */
export function rowList(table: string, dim: number, ids: BigInt64Array, given: Floats): Float32Array {
  const values = floatsOf(given, (reason) => {
    const hint = `${reason}: values are a Float32Array, or numbers in a list`;
    return new MonolithError('ML_TABLE_DIM', { found: 0, expected: dim, table }, { hint });
  });
  if (values.length === ids.length * dim) return values;
  const found = ids.length === 0 ? values.length : values.length / ids.length;
  throw new MonolithError('ML_TABLE_DIM', { found, expected: dim, table });
}

export function checkTime(timeSec: number): number {
  if (Number.isInteger(timeSec) && timeSec >= 0 && timeSec <= TIME_MAX) return timeSec;
  throw new MonolithError('ML_FLAG', { flag: 'timeSec', reason: `${timeSec} is not a time in Unix seconds` });
}

export function checkStep(globalStep: number): void {
  if (Number.isSafeInteger(globalStep)) return;
  throw new MonolithError('ML_FLAG', { flag: 'globalStep', reason: `${globalStep} is not a whole number` });
}

/** One object may serve assignments and steps: what only steps look at does no harm to the others. */
export function checkUpdate(where: string, options: OptimizeOptions): void {
  checkOptions(where, options, ['timeSec', 'globalStep', 'learningRates', 'enableDedup']);
}

/** Rates of one call: a finite number for each segment. */
export function checkRates(rates: ArrayLike<number>, segmentCount: number): readonly number[] {
  if (rates.length !== segmentCount) throw new MonolithError('ML_RATE_COUNT');
  return Array.from(rates, (rate) => {
    if (Number.isFinite(rate)) return rate;
    throw new MonolithError('ML_RATE', { reason: `${rate} is not a finite number` });
  });
}

/** ML_FLAG for a present that cannot be one: milliseconds above all, at which every row would have expired. */
export function checkNow(nowSec: number): number {
  if (nowSec >= 0 && nowSec <= TIME_MAX) return nowSec;
  throw new MonolithError('ML_FLAG', { flag: 'nowSec', reason: `${nowSec} is not a time in Unix seconds` });
}

/** The error of a bank that has no room for another row. */
export function heapFull(table: string, rows: number, rowBytes: number, { bank }: Pick<TablePart, 'bank'>) {
  const { u32 } = bank.views;
  const free = u32[bank.heap / 4 + HEAP.end]! - u32[bank.heap / 4 + HEAP.top]!;
  return new MonolithError(
    'ML_MEMORY',
    { name: `table ${table} with ${rows} rows`, bytes: rowBytes, free, rows },
    { hint: 'give tables more memory, evict rows, or admit fewer ids' },
  );
}

export interface GradientRows {
  readonly ids: BigInt64Array;
  readonly gradients: Float32Array;
  /** Where each id came first, when gradients are sums. */
  readonly first?: Uint32Array;
}

/** The error of the first gradient of a part that is not finite. */
export function badGradient(table: string, dim: number, part: TablePart, rows: GradientRows): MonolithError {
  for (let i = 0; i < part.count; i++) {
    const position = part.at(i);
    if (rows.gradients.subarray(position * dim, (position + 1) * dim).every(Number.isFinite)) continue;
    const [row, id] = [rows.first?.[position] ?? position, rows.ids[position]!];
    return new MonolithError(
      'ML_GRADIENT',
      { table, where: `row ${row}, id ${id}`, row, id },
      { hint: "lower the learning rate, clip gradients, or make the table with badGradients: 'skip'" },
    );
  }
  return new MonolithError('ML_GRADIENT', { table, where: 'a row that changed meanwhile' });
}
