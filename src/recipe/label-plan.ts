/** @file The label that somebody asked for: a column of 0 and 1, of two texts, or a comparison that makes one. */
import { MonolithError } from '../base/errors.js';
import { didYouMean, suggest } from '../base/suggest.js';
import { labelRule } from '../data/label-rule.js';
import type { ColumnStats } from './column-stats.js';
import type { LabelPlan } from './recipe.js';

const OPERATOR = />=|<=|==|!=|>|<|=/;
/** Texts that say yes. */
const YES = ['true', 'yes', 'y', 't', 'on', 'positive', 'pos', 'click', 'clicked', 'buy', 'bought', 'like', 'churn'];
/** What labels are called, for the hint to who gave none. */
const USUAL_LABELS = [
  'label',
  'click',
  'clicked',
  'target',
  'y',
  'rating',
  'is_click',
  'converted',
  'purchase',
  'income',
];

interface Asked {
  readonly column: string;
  readonly operator?: string;
  readonly operand?: string;
}

/** A column, or a column with a comparison. */
function asked(text: string, columns: readonly string[]): Asked {
  if (columns.includes(text)) return { column: text };
  const found = OPERATOR.exec(text);
  if (found === null || found.index === 0) return { column: text };
  return {
    column: text.slice(0, found.index).trim(),
    operator: found[0],
    operand: text.slice(found.index + found[0].length).trim(),
  };
}

/** The column that a label is made of; ML_COLUMN with the nearest name where the data has none such. */
export function labelColumn(text: string, columns: readonly string[], source: string): string {
  const { column, operator = '', operand = '' } = asked(text, columns);
  if (columns.includes(column)) return column;
  throw noColumn(column, columns, source, (near) => `--label ${quoted(`${near}${operator}${operand}`)}`);
}

/** ML_COLUMN with the nearest name, which `meant` puts into what should have been written. */
export function noColumn(
  column: string,
  columns: readonly string[],
  source: string,
  meant: (near: string) => string = (near) => near,
): MonolithError {
  const near = suggest(column, columns);
  const fields = { source, column, columns: columns.join(', ') };
  return new MonolithError('ML_COLUMN', fields, near === undefined ? {} : { hint: `did you mean ${meant(near)}?` });
}

/** The error of who said no label. */
export function noLabel(columns: readonly string[], source: string): MonolithError {
  const likely = columns.find((name) => USUAL_LABELS.includes(name.toLowerCase()));
  const reason = `which column of ${source} is to be predicted? It has ${columns.join(', ')}`;
  return new MonolithError(
    'ML_FLAG',
    { flag: '--label', reason },
    { hint: `such as --label ${likely ?? columns.at(-1)}` },
  );
}

/** How 0 and 1 follow from the column; ML_LABEL where they do not. */
export function labelPlan(text: string, stats: ColumnStats, columns: readonly string[]): LabelPlan {
  const { column, operator, operand } = asked(text, columns);
  if (operator !== undefined && operand !== undefined) return compared(column, operator, operand, stats);
  const values = stats.values().slice(0, 3);
  if (stats.present === 0) throw unusable(text, 'its column is empty');
  if (values.length === 1) throw unusable(text, `it is ${values[0]} in all rows that were looked at`);
  const isNumber = stats.numbers === stats.present;
  if (isNumber && values.length === 2 && values.every((value) => [0, 1].includes(Number(value)))) {
    return { column, rule: '==1', text: '1 or 0' };
  }
  if (values.length === 2) return ofTwo(column, stats);
  const hint = isNumber
    ? `--label ${quoted(`${column}>=${threshold(stats)}`)} makes it one`
    : `--label ${quoted(`${column}==${stats.top(1)[0]?.value.trim()}`)} makes it one`;
  const range = isNumber ? `${stats.min} … ${stats.max}` : values.map((value) => value.trim()).join(', ');
  throw unusable(text, `a label is 0 or 1, and it has ${stats.distinct} values, ${range}`, hint);
}

function compared(column: string, operator: string, operand: string, stats: ColumnStats): LabelPlan {
  if (operand !== '' && Number.isFinite(Number(operand))) {
    const rule = `${operator}${operand}`;
    labelRule('--label', rule);
    return { column, rule, text: `1 where ${column} ${operator === '=' ? '==' : operator} ${operand}` };
  }
  if (operator !== '==' && operator !== '=') {
    throw unusable(`${column}${operator}${operand}`, `texts are compared by == alone, not by ${operator}`);
  }
  const positive = operand.split('|').map((one) => one.trim());
  const known = stats.values().map((value) => value.trim());
  const stranger = positive.find((one) => !known.includes(one));
  if (stranger !== undefined && !stats.overflowed && known.length <= 1000) {
    const hint = didYouMean(stranger, known) ?? `it has ${known.slice(0, 10).join(', ')}`;
    throw unusable(`${column}==${operand}`, `no cell of ${column} is ${JSON.stringify(stranger)}`, hint);
  }
  return { column, positive, text: `1 where ${column} is ${positive.join(' or ')}` };
}

/** Of two texts the one that says yes, else the rarer one. */
function ofTwo(column: string, stats: ColumnStats): LabelPlan {
  const [often, rare] = stats.top(2).map(({ value }) => value.trim()) as [string, string];
  const positive = [often, rare].find((value) => YES.includes(value.toLowerCase())) ?? rare;
  const other = positive === rare ? often : rare;
  const overrule = `--label ${quoted(`${column}==${other}`)} for the other`;
  return { column, positive: [positive], text: `1 where ${column} is ${positive}; ${overrule}` };
}

/** A number to cut at: half of the labels above it, roughly. */
function threshold({ mean, integers, numbers }: ColumnStats): number {
  return integers === numbers ? Math.round(mean) : Math.round(mean * 2) / 2;
}

function unusable(label: string, reason: string, hint?: string): MonolithError {
  return new MonolithError('ML_LABEL', { label, reason }, hint === undefined ? {} : { hint });
}

/** As a word of a shell. */
const quoted = (text: string): string => (/^[\w.-]+$/.test(text) ? text : `'${text}'`);
