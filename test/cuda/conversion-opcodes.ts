/** @file Halves and conversions, with references that are exact before they round. */
import { add, exact, F16, F32, multiply, roundTo } from './exact-float.js';
import { clampTo, f, finite, flush, fr, isNegative, roundEven } from './float-numbers.js';
import type { OpcodeCase } from './opcode-case.js';
import type { Register } from './vector-kernel.js';

/** The bits of `a` as f16, rounded to nearest. */
function half(a: number): bigint {
  const rounded = finite(a) ? roundTo(F16, exact(a), 'rn') : a;
  const sign = isNegative(a) ? 0x8000 : 0;
  const magnitude = Math.abs(rounded);
  if (Number.isNaN(a)) return 0x7fffn;
  if (magnitude === Infinity) return BigInt(sign | 0x7c00);
  if (magnitude < 2 ** -14) return BigInt(sign | (magnitude * 2 ** 24));
  const exponent = Math.floor(Math.log2(magnitude));
  return BigInt(sign | ((exponent + 15) << 10) | ((magnitude / 2 ** exponent - 1) * 1024));
}

/** The number that the bits of an f16 stand for. */
function halfValue(bits: bigint): number {
  const [sign, exponent, fraction] = [bits >> 15n ? -1 : 1, Number((bits >> 10n) & 31n), Number(bits & 1023n)];
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

const halves =
  (reference: (...values: number[]) => number) =>
  (...operands: bigint[]) =>
    half(reference(...operands.map(halfValue)));

/** Rounded once, from the exact value. */
function halfFma(a: number, b: number, c: number): number {
  if (!finite(a, b, c)) return a * b + c;
  const sum = add(multiply(exact(a), exact(b)), exact(c));
  return sum.mantissa === 0n ? a * b + c : roundTo(F16, sum, 'rn');
}

const b16 = (count: number): Register[] => new Array(count).fill('b16');

export function halfCases(): OpcodeCase[] {
  return [
    { text: 'add.f16 {d}, {a}, {b};', result: 'b16', operands: b16(2), reference: halves((a, b) => a! + b!) },
    { text: 'sub.f16 {d}, {a}, {b};', result: 'b16', operands: b16(2), reference: halves((a, b) => a! - b!) },
    { text: 'mul.f16 {d}, {a}, {b};', result: 'b16', operands: b16(2), reference: halves((a, b) => a! * b!) },
    {
      text: 'fma.rn.f16 {d}, {a}, {b}, {c};',
      result: 'b16',
      operands: b16(3),
      reference: halves((a, b, c) => halfFma(a!, b!, c!)),
    },
    {
      text: 'setp.lt.f16 {d}, {a}, {b};',
      result: 'pred',
      operands: b16(2),
      reference: (a: bigint, b: bigint) => (halfValue(a) < halfValue(b) ? 1n : 0n),
    },
    { text: 'cvt.f32.f16 {d}, {a};', result: 'f32', operands: b16(1), reference: halfValue },
    {
      text: 'cvt.rni.s32.f16 {d}, {a};',
      result: 'b32',
      operands: b16(1),
      reference: (a: bigint) => clampTo(32n, true)(roundEven(halfValue(a))),
    },
    { text: 'cvt.ftz.f64.f32 {d}, {a};', result: 'f64', operands: f(1), reference: flush },
    {
      text: 'cvt.rmi.ftz.f32.f32 {d}, {a};',
      result: 'f32',
      operands: f(1),
      reference: (a: number) => Math.floor(flush(a)),
    },
    {
      text: 'rcp.approx.ftz.f64 {d}, {a};',
      result: 'f64',
      operands: ['f64'],
      tolerance: 2 ** -19,
      reference: (a: number) => 1 / a,
    },
  ];
}

export function conversionCases(): OpcodeCase[] {
  const cases: OpcodeCase[] = [
    { text: 'cvt.rn.f16.f32 {d}, {a};', result: 'b16', operands: f(1), reference: half },
    { text: 'cvt.f64.f32 {d}, {a};', result: 'f64', operands: f(1), reference: (a: number) => a },
    { text: 'cvt.rn.f32.f64 {d}, {a};', result: 'f32', operands: ['f64'], reference: fr },
    {
      text: 'cvt.sat.f32.f32 {d}, {a};',
      result: 'f32',
      operands: f(1),
      reference: (a: number) => Math.min(1, Math.max(0, a || 0)),
    },
    { text: 'cvt.rmi.f32.f32 {d}, {a};', result: 'f32', operands: f(1), reference: Math.floor },
    { text: 'cvt.rpi.f32.f32 {d}, {a};', result: 'f32', operands: f(1), reference: Math.ceil },
    { text: 'cvt.rzi.f32.f32 {d}, {a};', result: 'f32', operands: f(1), reference: Math.trunc },
    { text: 'cvt.rni.f32.f32 {d}, {a};', result: 'f32', operands: f(1), reference: roundEven },
    {
      text: 'cvt.rn.f32.s32 {d}, {a};',
      result: 'f32',
      operands: ['b32'],
      signed: true,
      reference: (a: bigint) => fr(Number(a)),
    },
    { text: 'cvt.rn.f32.u32 {d}, {a};', result: 'f32', operands: ['b32'], reference: (a: bigint) => fr(Number(a)) },
    {
      text: 'cvt.rn.f32.s64 {d}, {a};',
      result: 'f32',
      operands: ['b64'],
      signed: true,
      reference: (a: bigint) => roundTo(F32, { mantissa: a, exponent: 0 }, 'rn'),
    },
    { text: 'cvt.rn.f64.u64 {d}, {a};', result: 'f64', operands: ['b64'], reference: Number },
    { text: 'cvt.s64.s32 {d}, {a};', result: 'b64', operands: ['b32'], signed: true, reference: (a: bigint) => a },
    { text: 'cvt.u64.u32 {d}, {a};', result: 'b64', operands: ['b32'], reference: (a: bigint) => a },
    { text: 'cvt.u32.u64 {d}, {a};', result: 'b32', operands: ['b64'], reference: (a: bigint) => a },
    { text: 'cvt.s32.s8 {d}, {a};', result: 'b32', operands: ['b32'], reference: (a: bigint) => BigInt.asIntN(8, a) },
    { text: 'cvt.s32.s16 {d}, {a};', result: 'b32', operands: ['b32'], reference: (a: bigint) => BigInt.asIntN(16, a) },
    { text: 'cvt.u16.u32 {d}, {a};', result: 'b16', operands: ['b32'], reference: (a: bigint) => a },
    { text: 'cvt.u32.u8 {d}, {a};', result: 'b32', operands: ['b16'], reference: (a: bigint) => a & 255n },
  ];
  for (const [modifier, rounded] of [
    ['rzi', Math.trunc],
    ['rni', roundEven],
    ['rmi', Math.floor],
  ] as const) {
    for (const [type, bits, signed] of [
      ['s32', 32n, true],
      ['u32', 32n, false],
      ['s64', 64n, true],
    ] as const) {
      const reference = (a: number) => clampTo(bits, signed)(rounded(a));
      cases.push({
        text: `cvt.${modifier}.${type}.f32 {d}, {a};`,
        result: bits === 64n ? 'b64' : 'b32',
        operands: f(1),
        reference,
      });
    }
  }
  return cases;
}
