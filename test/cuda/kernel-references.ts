/** @file What kernels of test/fixtures/cuda answer, in plain TypeScript. */

export const ulpOf = (x: number) => 2 ** (Math.floor(Math.log2(Math.abs(x))) - 23);

/** By the series near zero and the continued fraction far out. */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (a < 3) {
    let [sum, term] = [a, a];
    for (let n = 1; n < 80; n++) {
      term *= (-a * a) / n;
      sum += term / (2 * n + 1);
    }
    return Math.sign(x) * (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (a + fraction);
  return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + fraction));
}

/** What the kernel of that name answers. */
export function votes(input: Int32Array): number[] {
  const bits = (first: number, holds: (value: number) => boolean) =>
    [...input.slice(first, first + 32)].reduce((mask, value, lane) => mask | (holds(value) ? 1 << lane : 0), 0);
  const odd = input.filter((value) => value & 1).length;
  const rows: number[][] = [[], [], [], [], [], []];
  for (let i = 0; i < 64; i++) {
    const [first, lane] = [i - (i % 32), i % 32];
    rows[0]!.push(bits(first, (value) => (value & 1) === 1));
    rows[1]!.push((bits(first, (value) => value === 5) === 0 ? 0 : 1) + 2);
    rows[2]!.push(bits(first, (value) => (value & 3) === (input[i]! & 3)));
    rows[3]!.push(odd);
    const from = lane < 16 ? ((lane % 8) + 3 < 8 ? i + 3 : i) : first + 20;
    rows[4]!.push(input[from]!);
    rows[5]!.push(1);
  }
  return rows.flat();
}

/** What the kernel of that name answers for one input. */
export function integers(x: number): number {
  const weights = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3];
  const digits = new Array<number>(10).fill(0);
  let rest = x;
  for (let k = 0; k < 10; k++) {
    digits[(k * 7) % 10] = rest % 10;
    rest = Math.floor(rest / 10);
  }
  let sum = 0;
  for (let k = 0; k < 10; k++) sum += digits[(x + k) % 10]! * weights[k]!;
  const wide = BigInt(x);
  const signed = x | 0;
  const bytes = [0, 1, 2, 3].map((k) => (x >>> (8 * k)) & 255).concat([0, 1, 2, 3].map((k) => (sum >>> (8 * k)) & 255));
  const permuted = [1, 4, 5, 2].reduce((word, pick, k) => word + bytes[pick]! * 2 ** (8 * k), 0);
  const reversed = Number.parseInt(x.toString(2).padStart(32, '0').split('').reverse().join(''), 2);
  const terms = [
    sum,
    x.toString(2).replaceAll('0', '').length,
    Math.clz32(x) * 3,
    (x === 0 ? 0 : 32 - Math.clz32(x & -x)) * 5,
    reversed,
    permuted,
    Math.imul((x << 24) >> 24, ((x >>> 3) << 16) >> 16),
    Number((wide * 0x9e3779b9n) >> 32n),
    Number((BigInt(signed) * 12345n) >> 32n),
    Number(((((BigInt(sum) << 32n) | wide) << 7n) >> 32n) & 0xffffffffn),
    signed >> 5,
    Math.trunc(signed / 7),
    signed % 13,
    Math.min(x, 1000),
    Math.max(signed, -5),
    7,
  ];
  return Number(
    BigInt.asUintN(
      32,
      terms.reduce((total, term) => total + BigInt(term), 0n),
    ),
  );
}
