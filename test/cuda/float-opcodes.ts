/** @file Floating-point instructions, with references that are exact before they round. */
import { add, type Exact, exact, F32, multiply, type Rounding, roundTo } from './exact-float.js';
import { f, finite, flush, fr, isNegative } from './float-numbers.js';
import type { OpcodeCase } from './opcode-case.js';

/** a * b + c in one rounding; IEEE rules where an operand is not finite or the result is zero. */
function fma(a: number, b: number, c: number, rounding: Rounding): number {
  if (!finite(a, b, c)) return finite(a, b) ? c : a * b + c;
  const product = multiply(exact(a), exact(b));
  return settle(add(product, exact(c)), rounding, Object.is(a * b, -0) || a * b < 0, Object.is(c, -0) || c < 0);
}

/** Rounds a sum to f32. A sum that is exactly zero is negative when both terms are, or by rounding down. */
function settle(sum: Exact, rounding: Rounding, firstNegative: boolean, secondNegative: boolean): number {
  if (sum.mantissa !== 0n) {
    const rounded = roundTo(F32, sum, rounding);
    return rounded === 0 && sum.mantissa < 0n ? -0 : rounded;
  }
  if (firstNegative === secondNegative) return firstNegative ? -0 : 0;
  return rounding === 'rm' ? -0 : 0;
}

function sum(a: number, b: number, rounding: Rounding): number {
  if (!finite(a, b)) return a + b;
  return settle(add(exact(a), exact(b)), rounding, isNegative(a), isNegative(b));
}
function product(a: number, b: number, rounding: Rounding): number {
  if (!finite(a, b)) return a * b;
  const negative = isNegative(a) !== isNegative(b);
  return settle(multiply(exact(a), exact(b)), rounding, negative, negative);
}

export function floatCases(): OpcodeCase[] {
  const cases: OpcodeCase[] = [
    { text: 'add.f32 {d}, {a}, {b};', result: 'f32', operands: f(2), reference: (a: number, b: number) => fr(a + b) },
    { text: 'sub.f32 {d}, {a}, {b};', result: 'f32', operands: f(2), reference: (a: number, b: number) => fr(a - b) },
    { text: 'mul.f32 {d}, {a}, {b};', result: 'f32', operands: f(2), reference: (a: number, b: number) => fr(a * b) },
    {
      text: 'div.rn.f32 {d}, {a}, {b};',
      result: 'f32',
      operands: f(2),
      reference: (a: number, b: number) => fr(a / b),
    },
    { text: 'sqrt.rn.f32 {d}, {a};', result: 'f32', operands: f(1), reference: (a: number) => fr(Math.sqrt(a)) },
    { text: 'rcp.rn.f32 {d}, {a};', result: 'f32', operands: f(1), reference: (a: number) => fr(1 / a) },
    {
      text: 'add.ftz.f32 {d}, {a}, {b};',
      result: 'f32',
      operands: f(2),
      reference: (a: number, b: number) => flush(fr(flush(a) + flush(b))),
    },
    {
      text: 'mul.ftz.f32 {d}, {a}, {b};',
      result: 'f32',
      operands: f(2),
      reference: (a: number, b: number) => flush(fr(flush(a) * flush(b))),
    },
    {
      text: 'add.sat.f32 {d}, {a}, {b};',
      result: 'f32',
      operands: f(2),
      reference: (a: number, b: number) => Math.min(1, Math.max(0, fr(a + b) || 0)),
    },
    {
      text: 'min.f32 {d}, {a}, {b};',
      result: 'f32',
      operands: f(2),
      reference: (a: number, b: number) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b)),
    },
    {
      text: 'max.f32 {d}, {a}, {b};',
      result: 'f32',
      operands: f(2),
      reference: (a: number, b: number) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b)),
    },
    { text: 'neg.f32 {d}, {a};', result: 'f32', operands: f(1), reference: (a: number) => -a },
    { text: 'abs.f32 {d}, {a};', result: 'f32', operands: f(1), reference: Math.abs },
    {
      text: 'copysign.f32 {d}, {a}, {b};',
      result: 'f32',
      operands: f(2),
      reference: (a: number, b: number) => (Number.isNaN(a) ? Math.abs(b) : isNegative(a) ? -Math.abs(b) : Math.abs(b)),
    },
    {
      text: 'add.f64 {d}, {a}, {b};',
      result: 'f64',
      operands: ['f64', 'f64'],
      reference: (a: number, b: number) => a + b,
    },
    {
      text: 'mul.f64 {d}, {a}, {b};',
      result: 'f64',
      operands: ['f64', 'f64'],
      reference: (a: number, b: number) => a * b,
    },
    {
      text: 'div.rn.f64 {d}, {a}, {b};',
      result: 'f64',
      operands: ['f64', 'f64'],
      reference: (a: number, b: number) => a / b,
    },
    { text: 'sqrt.rn.f64 {d}, {a};', result: 'f64', operands: ['f64'], reference: Math.sqrt },
    {
      text: 'ex2.approx.ftz.f32 {d}, {a};',
      result: 'f32',
      operands: f(1),
      tolerance: 2 ** -22,
      reference: (a: number) => flush(fr(2 ** flush(a))),
    },
    {
      text: 'lg2.approx.f32 {d}, {a};',
      result: 'f32',
      operands: f(1),
      tolerance: 2 ** -22,
      reference: (a: number) => fr(Math.log2(a)),
    },
    {
      text: 'rsqrt.approx.f32 {d}, {a};',
      result: 'f32',
      operands: f(1),
      tolerance: 2 ** -22,
      reference: (a: number) => fr(1 / Math.sqrt(a)),
    },
    {
      text: 'rcp.approx.ftz.f32 {d}, {a};',
      result: 'f32',
      operands: f(1),
      tolerance: 2 ** -23,
      reference: (a: number) => flush(fr(1 / flush(a))),
    },
    {
      text: 'tanh.approx.f32 {d}, {a};',
      result: 'f32',
      operands: f(1),
      tolerance: 2 ** -10,
      reference: (a: number) => fr(Math.tanh(a)),
    },
  ];
  for (const r of ['rn', 'rz', 'rm', 'rp'] as const) {
    cases.push(
      {
        text: `fma.${r}.f32 {d}, {a}, {b}, {c};`,
        result: 'f32',
        operands: f(3),
        reference: (a: number, b: number, c: number) => fma(a, b, c, r),
      },
      {
        text: `add.${r}.f32 {d}, {a}, {b};`,
        result: 'f32',
        operands: f(2),
        reference: (a: number, b: number) => sum(a, b, r),
      },
      {
        text: `mul.${r}.f32 {d}, {a}, {b};`,
        result: 'f32',
        operands: f(2),
        reference: (a: number, b: number) => product(a, b, r),
      },
    );
  }
  const comparisons: [string, (a: number, b: number) => boolean][] = [
    ['eq', (a, b) => a === b],
    ['ne', (a, b) => a < b || a > b],
    ['lt', (a, b) => a < b],
    ['ge', (a, b) => a >= b],
    ['neu', (a, b) => a !== b],
    ['ltu', (a, b) => !(a >= b)],
    ['leu', (a, b) => !(a > b)],
    ['geu', (a, b) => !(a < b)],
    ['nan', (a, b) => Number.isNaN(a) || Number.isNaN(b)],
  ];
  for (const [name, holds] of comparisons) {
    cases.push({
      text: `setp.${name}.f32 {d}, {a}, {b};`,
      result: 'pred',
      operands: f(2),
      reference: (a: number, b: number) => (holds(a, b) ? 1n : 0n),
    });
  }
  return cases;
}
