/** @file Instructions against the rules of IEEE 754 and the PTX ISA, over corner cases and random operands. */
import t from 'tap';
import { conversionCases, halfCases } from './conversion-opcodes.js';
import { floatCases } from './float-opcodes.js';
import { integerCases } from './integer-opcodes.js';
import type { Value } from './opcode-case.js';
import { withSimulated } from './simulated.js';
import { type Register, runVector, type Vector, vectorModule } from './vector-kernel.js';

/** Elements of a vector: not a multiple of 32, so that masks are partial too. */
const COUNT = 250;

let state = 12345;
const random32 = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state ^ (state >>> 15)) >>> 0;
};

// biome-ignore format: a list
const CORNERS_F32 = [
  0, -0, 1, -1, 1.5, 2 ** -149, -(2 ** -149), 2 ** -126, 2 ** -127, 3.4028234663852886e38, Infinity, -Infinity, NaN,
  2 ** 24 + 2, 0.1, 1e-38, -2147483648, 2147483520, 4294967296, 0.5, 2.5, -3.5,
];
const CORNERS_INT = [
  0n,
  1n,
  2n,
  31n,
  32n,
  33n,
  63n,
  64n,
  255n,
  0x7fffffffn,
  0x80000000n,
  0xffffffffn,
  0x7fffffffffffffffn,
  0x8000000000000000n,
  0xffffffffffffffffn,
];

function float32(): number {
  const pick = random32() % 4;
  if (pick === 0) return CORNERS_F32[random32() % CORNERS_F32.length]!;
  if (pick === 1) return new Float32Array(new Uint32Array([random32()]).buffer)[0]!;
  return Math.fround((random32() / 2 ** 31 - 1) * 2 ** ((random32() % 40) - 20));
}

function integer(): bigint {
  if (random32() % 3 === 0) return CORNERS_INT[random32() % CORNERS_INT.length]!;
  return (BigInt(random32()) << 32n) | BigInt(random32());
}

function operand(type: Register, limit?: bigint): Vector {
  const list = Array.from({ length: COUNT });
  const bits = () => (limit === undefined ? integer() : integer() % limit);
  if (type === 'f32') return Float32Array.from(list, float32);
  if (type === 'f64') return Float64Array.from(list, () => float32() * (random32() / 2 ** 32 + 1));
  if (type === 'b64') return BigUint64Array.from(list, () => BigInt.asUintN(64, bits()));
  if (type === 'b32') return Uint32Array.from(list, () => Number(BigInt.asUintN(32, bits())));
  return Uint16Array.from(list, () => Number(BigInt.asUintN(16, bits())));
}

const WIDTH: Readonly<Record<Register, number>> = { b16: 16, b32: 32, b64: 64, f32: 0, f64: 0, pred: 1 };

function read(vector: Vector, index: number, type: Register, signed: boolean): Value {
  const value = vector[index]!;
  if (type === 'f32' || type === 'f64') return value;
  return signed ? BigInt.asIntN(WIDTH[type], BigInt(value)) : BigInt(value);
}

function agrees(found: Value, expected: Value, type: Register, tolerance: number): boolean {
  if (type !== 'f32' && type !== 'f64')
    return BigInt(found) === BigInt.asUintN(type === 'pred' ? 32 : WIDTH[type], BigInt(expected));
  const [a, b] = [Number(found), Number(expected)];
  if (Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b))) return true;
  return tolerance > 0 && Math.abs(a - b) <= tolerance * Math.abs(b) + 2 ** -126;
}

for (const [title, make] of [
  ['floating point rounds as IEEE 754 says', floatCases],
  ['halves are rounded once', halfCases],
  ['conversions round, clamp and extend as the ISA says', conversionCases],
  ['integers wrap, shift and count as the ISA says', integerCases],
] as const) {
  t.test(title, (t) =>
    withSimulated<typeof t>(async (t, driver) => {
      const cases = make();
      const module = vectorModule(driver, cases);
      for (const [index, one] of cases.entries()) {
        const operands = one.operands.map((type, k) => operand(type, one.limits?.[k]));
        const found = runVector(driver, module, index, one, operands);
        const wrong: string[] = [];
        for (let i = 0; i < COUNT; i++) {
          const values = operands.map((vector, k) =>
            read(vector, i, one.operands[k]!, one.signed === true && one.limits?.[k] === undefined),
          );
          const expected = one.reference(...(values as never[]));
          if (!agrees(found[i]!, expected, one.result, one.tolerance ?? 0))
            wrong.push(`(${values}) gave ${found[i]}, not ${expected}`);
        }
        t.same(wrong.slice(0, 3), [], one.text);
      }
    })(t),
  );
}
