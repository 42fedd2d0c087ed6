/**
 * @file Arithmetic in the words of parity files: `3*i`, `id%2`, `p + 2*j`, `3b+1`.
 *
 * Numbers, names, + - * / % with the usual precedence, parentheses; a number before a name multiplies it.
 */
import { UnknownForm } from './case.js';

export type Variables = Readonly<Record<string, number>>;
export type Expression = (variables: Variables) => number;

const TOKEN = /\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|[-+*/%()])/y;

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (match === null) throw new UnknownForm(`${text} is not arithmetic`);
    tokens.push(match[1]!);
  }
  return tokens;
}

/** The function of its names that `text` is. */
export function parseExpression(text: string): Expression {
  const tokens = tokensOf(text);
  let at = 0;
  const fail = () => new UnknownForm(`${text} is not arithmetic`);

  const factor = (): Expression => {
    const token = tokens[at++];
    if (token === undefined) throw fail();
    if (token === '-') {
      const inner = factor();
      return (v) => -inner(v);
    }
    if (token === '(') {
      const inner = sum();
      if (tokens[at++] !== ')') throw fail();
      return inner;
    }
    if (/^\d/.test(token)) {
      const value = Number(token);
      if (!/^[A-Za-z_(]/.test(tokens[at] ?? '')) return () => value;
      const next = factor();
      return (v) => value * next(v);
    }
    if (!/^[A-Za-z_]/.test(token)) throw fail();
    return (v) => v[token] ?? unknownName(token, text);
  };
  const product = (): Expression => {
    let left = factor();
    while (/^[*/%]$/.test(tokens[at] ?? '')) {
      const [operator, before] = [tokens[at++]!, left];
      const right = factor();
      left = (v) => apply(operator, before(v), right(v));
    }
    return left;
  };
  function sum(): Expression {
    let left = product();
    while (/^[-+]$/.test(tokens[at] ?? '')) {
      const [operator, before] = [tokens[at++]!, left];
      const right = product();
      left = (v) => apply(operator, before(v), right(v));
    }
    return left;
  }

  const whole = sum();
  if (at !== tokens.length) throw fail();
  return whole;
}

function unknownName(name: string, text: string): never {
  throw new UnknownForm(`${name} of ${text} is not known`);
}

function apply(operator: string, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    default:
      return a % b;
  }
}

/** Whole numbers of `a..b`, both ends included. */
export function parseSpan(text: string): number[] {
  const match = /^(-?\d+)\.\.(-?\d+)$/.exec(text.trim());
  if (match === null) throw new UnknownForm(`${text} is not a span of numbers`);
  const [first, last] = [Number(match[1]), Number(match[2])];
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** The groups of the first pattern that `text` matches as a whole. */
export function parseForm(text: unknown, pattern: RegExp): readonly string[] {
  const match = pattern.exec(String(text));
  if (match === null) throw new UnknownForm(String(text));
  return match.slice(1).map((group) => group ?? '');
}
