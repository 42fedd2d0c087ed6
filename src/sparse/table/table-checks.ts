/** @file What calls of tables check before they touch memory, and the errors of those that fail. */
import { MonolithError } from '../../base/errors.js';
import { HEAP } from '../../memory/table-layout.js';
import type { IdArray } from './embedding-table.js';
import type { TablePart } from './table-grip.js';

/** Times of updates are kept as u32. */
export const TIME_MAX = 2 ** 32 - 1;

/** Ids as signed numbers, in place; the bit pattern is what counts. ML_IDS for anything else. */
export function idList(table: string, ids: IdArray): BigInt64Array {
  if (ids instanceof BigInt64Array) return ids;
  if (ids instanceof BigUint64Array) return new BigInt64Array(ids.buffer, ids.byteOffset, ids.length);
  const given: unknown = ids;
  const isObject = typeof given === 'object' && given !== null;
  const found = isObject ? (given.constructor?.name ?? 'an object') : String(given);
  throw new MonolithError('ML_IDS', { table, found }, { hint: 'BigInt64Array.of(1n, 2n)' });
}

/** ML_TABLE_DIM unless there are `dim` floats per id. */
export function checkRows(table: string, dim: number, ids: BigInt64Array, values: unknown): void {
  if (values instanceof Float32Array && values.length === ids.length * dim) return;
  const length = values instanceof Float32Array ? values.length : 0;
  const found = ids.length === 0 ? length : length / ids.length;
  const hint = values instanceof Float32Array ? undefined : 'values are a Float32Array';
  throw new MonolithError('ML_TABLE_DIM', { found, expected: dim, table }, hint === undefined ? {} : { hint });
}

export function checkTime(timeSec: number): number {
  if (Number.isInteger(timeSec) && timeSec >= 0 && timeSec <= TIME_MAX) return timeSec;
  throw new MonolithError('ML_FLAG', { flag: 'timeSec', reason: `${timeSec} is not a time in Unix seconds` });
}

export function checkStep(globalStep: number): void {
  if (Number.isSafeInteger(globalStep)) return;
  throw new MonolithError('ML_FLAG', { flag: 'globalStep', reason: `${globalStep} is not a whole number` });
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
