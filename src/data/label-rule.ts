/** @file Rules that make a label of a number: `>=3.5`. */
import { MonolithError } from '../base/errors.js';
import type { LabelRule } from './field.js';

const RULE = /^\s*(>=|>|<=|<|==?|!=)\s*(\S+)\s*$/;

/** The rule that a text says; ML_OPTION where it says none. */
export function labelRule(where: string, text: string): LabelRule {
  const [, operator, operand] = RULE.exec(String(text)) ?? [];
  const value = Number(operand);
  if (operator !== undefined && Number.isFinite(value)) {
    return { operator: (operator === '=' ? '==' : operator) as LabelRule['operator'], value };
  }
  const reason = `rule ${JSON.stringify(text)} is no comparison with a number`;
  throw new MonolithError('ML_OPTION', { where, option: 'rule', reason }, { hint: "such as '>=3.5', '<10' or '!=0'" });
}

/** 1 where the rule holds. */
export function applyRule({ operator, value }: LabelRule, number: number): 0 | 1 {
  return HOLDS[operator](number, value) ? 1 : 0;
}

const HOLDS: Readonly<Record<LabelRule['operator'], (a: number, b: number) => boolean>> = {
  '>=': (a, b) => a >= b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '<': (a, b) => a < b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};
