/** @file Integer instructions, with references in whole numbers of any size. */
import type { OpcodeCase } from './opcode-case.js';
import type { Register } from './vector-kernel.js';

type Whole = (...operands: bigint[]) => bigint;

/** Integer instructions of 32 and 64 bits, signed or not; results are cut to the register. */
export function integerCases(): OpcodeCase[] {
  const cases: OpcodeCase[] = [];
  for (const bits of [32, 64] as const) {
    const type: Register = bits === 32 ? 'b32' : 'b64';
    const top = BigInt(bits);
    const put = (
      text: string,
      operands: number,
      signed: boolean,
      reference: Whole,
      limits: Readonly<Record<number, bigint>> = {},
    ) => {
      const registers = Array.from(
        { length: operands },
        (_, k) => (limits[k] === undefined ? type : 'b32') as Register,
      );
      cases.push({
        text: text.replaceAll('#', String(bits)),
        result: type,
        operands: registers,
        signed,
        limits,
        reference,
      });
    };
    for (const [s, signed] of [
      ['s', true],
      ['u', false],
    ] as const) {
      put(`add.${s}# {d}, {a}, {b};`, 2, signed, (a, b) => a! + b!);
      put(`sub.${s}# {d}, {a}, {b};`, 2, signed, (a, b) => a! - b!);
      put(`mul.lo.${s}# {d}, {a}, {b};`, 2, signed, (a, b) => a! * b!);
      put(`mul.hi.${s}# {d}, {a}, {b};`, 2, signed, (a, b) => (a! * b!) >> top);
      put(`mad.lo.${s}# {d}, {a}, {b}, {c};`, 3, signed, (a, b, c) => a! * b! + c!);
      put(`mad.hi.${s}# {d}, {a}, {b}, {c};`, 3, signed, (a, b, c) => ((a! * b!) >> top) + c!);
      put(`div.${s}# {d}, {a}, {b};`, 2, signed, (a, b) => (b === 0n ? -1n : a! / b!));
      put(`rem.${s}# {d}, {a}, {b};`, 2, signed, (a, b) => (b === 0n ? a! : a! % b!));
      put(`min.${s}# {d}, {a}, {b};`, 2, signed, (a, b) => (a! < b! ? a! : b!));
      put(`max.${s}# {d}, {a}, {b};`, 2, signed, (a, b) => (a! > b! ? a! : b!));
      put(`shr.${s}# {d}, {a}, {b};`, 2, signed, (a, n) => a! >> (n! & 0xffffffffn), { 1: 80n });
      const field: Whole = (a, position, length) => {
        const [p, n] = [position! & 255n, length! & 255n];
        if (n === 0n) return 0n;
        const wide = signed ? a! : BigInt.asUintN(bits, a!);
        return signed ? BigInt.asIntN(Number(n), BigInt.asIntN(bits, wide) >> p) : BigInt.asUintN(Number(n), wide >> p);
      };
      put(`bfe.${s}# {d}, {a}, {b}, {c};`, 3, signed, field, { 1: 40n, 2: 40n });
    }
    put('and.b# {d}, {a}, {b};', 2, false, (a, b) => a! & b!);
    put('or.b# {d}, {a}, {b};', 2, false, (a, b) => a! | b!);
    put('xor.b# {d}, {a}, {b};', 2, false, (a, b) => a! ^ b!);
    put('not.b# {d}, {a};', 1, false, (a) => ~a!);
    put('neg.s# {d}, {a};', 1, true, (a) => -a!);
    put('abs.s# {d}, {a};', 1, true, (a) => (a! < 0n ? -a! : a!));
    put('shl.b# {d}, {a}, {b};', 2, false, (a, n) => a! << n!, { 1: 80n });
    put('brev.b# {d}, {a};', 1, false, (a) =>
      BigInt(`0b${[...a!.toString(2).padStart(bits, '0')].reverse().join('')}`),
    );
    const insert: Whole = (a, b, position, length) => {
      const [p, n] = [position! & 255n, length! & 255n];
      const ones = BigInt.asUintN(bits, ((1n << n) - 1n) << p);
      return (b! & ~ones) | ((a! << p) & ones);
    };
    put('bfi.b# {d}, {a}, {b}, {c}, {e};', 4, false, insert, { 2: 70n, 3: 40n });
    for (const [name, count] of [
      ['popc', (a: bigint) => [...a.toString(2)].filter((d) => d === '1').length],
      ['clz', (a: bigint) => bits - (a === 0n ? 0 : a.toString(2).length)],
    ] as const) {
      cases.push({
        text: `${name}.b${bits} {d}, {a};`,
        result: 'b32',
        operands: [type],
        reference: (a: bigint) => BigInt(count(a)),
      });
    }
    const find = (a: bigint) => (a === 0n ? -1n : BigInt(a.toString(2).length - 1));
    cases.push(
      { text: `bfind.u${bits} {d}, {a};`, result: 'b32', operands: [type], reference: find },
      {
        text: `bfind.s${bits} {d}, {a};`,
        result: 'b32',
        operands: [type],
        signed: true,
        reference: (a: bigint) => find(a < 0n ? ~a : a),
      },
      {
        text: `bfind.shiftamt.u${bits} {d}, {a};`,
        result: 'b32',
        operands: [type],
        reference: (a: bigint) => (a === 0n ? -1n : top - 1n - find(a)),
      },
    );
  }
  const pair: Register[] = ['b32', 'b32'];
  const permute: Whole = (a, b, selector) => {
    const bytes = (b! << 32n) | a!;
    return [0n, 1n, 2n, 3n].reduce((word, k) => {
      const pick = (selector! >> (4n * k)) & 15n;
      const byte = (bytes >> (8n * (pick & 7n))) & 255n;
      return word | ((pick & 8n ? (byte & 128n ? 255n : 0n) : byte) << (8n * k));
    }, 0n);
  };
  cases.push(
    {
      text: 'mul.wide.s32 {d}, {a}, {b};',
      result: 'b64',
      operands: pair,
      signed: true,
      reference: (a: bigint, b: bigint) => a * b,
    },
    { text: 'mul.wide.u32 {d}, {a}, {b};', result: 'b64', operands: pair, reference: (a: bigint, b: bigint) => a * b },
    {
      text: 'mad.wide.u32 {d}, {a}, {b}, {c};',
      result: 'b64',
      operands: [...pair, 'b64'],
      reference: (a: bigint, b: bigint, c: bigint) => a * b + c,
    },
    {
      text: 'mul.wide.s16 {d}, {a}, {b};',
      result: 'b32',
      operands: ['b16', 'b16'],
      signed: true,
      reference: (a: bigint, b: bigint) => a * b,
    },
    {
      text: 'add.s16 {d}, {a}, {b};',
      result: 'b16',
      operands: ['b16', 'b16'],
      reference: (a: bigint, b: bigint) => a + b,
    },
    {
      text: 'mul.lo.s16 {d}, {a}, {b};',
      result: 'b16',
      operands: ['b16', 'b16'],
      reference: (a: bigint, b: bigint) => a * b,
    },
    { text: 'prmt.b32 {d}, {a}, {b}, {c};', result: 'b32', operands: ['b32', 'b32', 'b32'], reference: permute },
    {
      text: 'shf.l.wrap.b32 {d}, {a}, {b}, {c};',
      result: 'b32',
      operands: ['b32', 'b32', 'b32'],
      reference: (a: bigint, b: bigint, n: bigint) => (((b << 32n) | a) << (n & 31n)) >> 32n,
    },
    {
      text: 'shf.r.clamp.b32 {d}, {a}, {b}, {c};',
      result: 'b32',
      operands: ['b32', 'b32', 'b32'],
      limits: { 2: 40n },
      reference: (a: bigint, b: bigint, n: bigint) => ((b << 32n) | a) >> (n > 32n ? 32n : n),
    },
    {
      text: 'lop3.b32 {d}, {a}, {b}, {c}, 0x96;',
      result: 'b32',
      operands: ['b32', 'b32', 'b32'],
      reference: (a: bigint, b: bigint, c: bigint) => a ^ b ^ c,
    },
    {
      text: 'lop3.b32 {d}, {a}, {b}, {c}, 0xca;',
      result: 'b32',
      operands: ['b32', 'b32', 'b32'],
      reference: (a: bigint, b: bigint, c: bigint) => (a & b) | (~a & c),
    },
    {
      text: 'setp.lt.s32 {d}, {a}, {b};',
      result: 'pred',
      operands: pair,
      signed: true,
      reference: (a: bigint, b: bigint) => (a < b ? 1n : 0n),
    },
    {
      text: 'setp.hi.u32 {d}, {a}, {b};',
      result: 'pred',
      operands: pair,
      reference: (a: bigint, b: bigint) => (a > b ? 1n : 0n),
    },
    {
      text: 'setp.ge.u64 {d}, {a}, {b};',
      result: 'pred',
      operands: ['b64', 'b64'],
      reference: (a: bigint, b: bigint) => (a >= b ? 1n : 0n),
    },
  );
  return cases;
}
