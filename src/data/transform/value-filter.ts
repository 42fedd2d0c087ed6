/** @file A filter by the value of a column: of the line id, or of any other. */
import { readFileSync } from 'node:fs';
import { checkOptions } from '../../base/check-options.js';
import { MonolithError, messageOf } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { DataRow } from '../files/place.js';
import { cellNamed } from './filters.js';
import type { Transform } from './row-transform.js';

export type Operand = number | bigint | string;

export interface ValueFilterOptions {
  /** Rows whose cell is empty are kept. Default: false. */
  readonly keepEmpty?: boolean;
  /** A file of operands, one a line, in place of those that are given. */
  readonly operandFilepath?: string;
}

/** Of one value. */
const COMPARE = {
  gt: (order: number) => order > 0,
  ge: (order: number) => order >= 0,
  eq: (order: number) => order === 0,
  lt: (order: number) => order < 0,
  le: (order: number) => order <= 0,
  neq: (order: number) => order !== 0,
} as const;
const OTHERS = ['between', 'in', 'not-in', 'all', 'any', 'diff', 'startswith', 'endswith'] as const;
export const VALUE_OPS = [...Object.keys(COMPARE), ...OTHERS] as readonly string[];
/** Ops of one operand. */
const SINGLE: readonly string[] = Object.keys(COMPARE);

/**
 * Keeps rows whose cell stands in a relation to operands: `gt`, `ge`, `eq`, `lt`, `le`, `neq`; `between` the first,
 * included, and the second; `in` or `not-in` them; of lists `all` of them, `any`, or none: `diff`; `startswith` or
 * `endswith` one of them.
 */
export function filterByValueOf(
  fieldName: string,
  op: string,
  given: readonly Operand[],
  options: ValueFilterOptions = {},
): Transform {
  const { keepEmpty = false, operandFilepath = '' } = checkOptions('FilterByValueConfig', options, [
    'keepEmpty',
    'operandFilepath',
  ]);
  if (fieldName === '') throw refuse('fieldName', 'a column is needed');
  if (!VALUE_OPS.includes(op)) {
    throw refuse('op', `${op === '' ? 'it' : op} is none of ${VALUE_OPS.join(', ')}`, didYouMean(op, VALUE_OPS));
  }
  if (operandFilepath !== '' && given.length > 0) throw refuse('operandFilepath', 'operands are given beside the file');
  const operands = operandFilepath === '' ? given : linesOf(operandFilepath);
  const wanted = op === 'between' ? 2 : SINGLE.includes(op) ? 1 : undefined;
  if (operands.length === 0 || (wanted !== undefined && operands.length !== wanted)) {
    const reason = `params error! ${op} takes ${wanted ?? 'one operand or more'}, and there are ${operands.length}`;
    throw refuse('operand', reason);
  }
  const holds = relationOf(op, operands);
  return (row: DataRow) => {
    const cell = cellNamed(row, fieldName);
    const values = valuesOf(cell);
    if (values.length === 0) return keepEmpty ? row : undefined;
    return holds(values) ? row : undefined;
  };
}

function relationOf(op: string, operands: readonly Operand[]): (values: readonly Operand[]) => boolean {
  const known = new Set(operands.map(keyOf));
  const has = (value: Operand) => known.has(keyOf(value));
  const [first, second] = operands as readonly [Operand, Operand];
  switch (op) {
    case 'between':
      return ([value]) => orderOf(value!, first) >= 0 && orderOf(value!, second) < 0;
    case 'in':
      return ([value]) => has(value!);
    case 'not-in':
      return ([value]) => !has(value!);
    case 'any':
      return (values) => values.some(has);
    case 'diff':
      return (values) => !values.some(has);
    case 'all':
      return (values) => new Set(values.filter(has).map(keyOf)).size === known.size;
    case 'startswith':
      return ([value]) => operands.some((operand) => String(value).startsWith(String(operand)));
    case 'endswith':
      return ([value]) => operands.some((operand) => String(value).endsWith(String(operand)));
    default: {
      const compare = COMPARE[op as keyof typeof COMPARE];
      return ([value]) => compare(orderOf(value!, first));
    }
  }
}

/** One key for 5, 5n and '5': cells of text files are texts. */
const keyOf = (value: Operand): string => String(value);

/** As numbers where both are, whole ones exactly; else as texts. NaN for what has no order. */
function orderOf(a: Operand, b: Operand): number {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== undefined && y !== undefined) {
    if (Number.isNaN(Number(x)) || Number.isNaN(Number(y))) return Number.NaN;
    return x < y ? -1 : x > y ? 1 : 0;
  }
  const [s, u] = [String(a), String(b)];
  return s < u ? -1 : s > u ? 1 : 0;
}

function numberOf(value: Operand): number | bigint | undefined {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (/^[-+]?\d+$/.test(text)) return BigInt(text);
  const number = Number(text);
  return text === '' || Number.isNaN(number) ? undefined : number;
}

function valuesOf(cell: unknown): readonly Operand[] {
  if (cell === undefined || cell === null || cell === '') return [];
  if (Array.isArray(cell)) return cell as Operand[];
  if (ArrayBuffer.isView(cell)) return Array.from(cell as BigInt64Array);
  return [typeof cell === 'boolean' ? Number(cell) : (cell as Operand)];
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split(/\r?\n/)
      .flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  } catch (cause) {
    throw new MonolithError('ML_DATASET', { reason: `operands: ${messageOf(cause)}` }, { cause });
  }
}

function refuse(option: string, reason: string, hint?: string): MonolithError {
  const fields = { where: 'FilterByValueConfig', option, reason: `${option}: ${reason}` };
  return new MonolithError('ML_OPTION', fields, hint === undefined ? {} : { hint });
}
