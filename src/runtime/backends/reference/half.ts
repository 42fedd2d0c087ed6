/** @file IEEE half precision by arithmetic: exact in f64, and nothing like the bit tricks of assembly/half.ts. */

/** Spacing of halves at the magnitude of `size`. */
function quantumOf(size: number): number {
  let quantum = 2 ** -24;
  for (let top = 2 ** -13; top <= size && quantum < 32; top *= 2) quantum *= 2;
  return quantum;
}

function bitsOf(size: number): number {
  if (size > 65504) return 0x7c00;
  const quantum = quantumOf(size);
  // Below 2^-14 the exponent field is 0 and the halves count quanta; above, each exponent adds 1024 codes.
  const exponent = Math.log2(quantum) + 24;
  return exponent * 1024 + size / quantum;
}

function nearestEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  if (rest !== 0.5) return rest < 0.5 ? low : low + 1;
  return low % 2 === 0 ? low : low + 1;
}

/** The half nearest to x, ties to even, as 16 bits. */
export function halfFromF32(x: number): number {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  if (Number.isNaN(x)) return 0x7e00;
  const size = Math.abs(x);
  if (size >= 65520) return sign | 0x7c00;
  const quantum = quantumOf(size);
  return sign | bitsOf(nearestEven(size / quantum) * quantum);
}

/** The value of a half. */
export function halfToF32(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The halves around x, towards minus and plus infinity. */
export function halfNeighbours(x: number): { down: number; up: number } {
  if (x < 0) {
    const { down, up } = halfNeighbours(-x);
    return { down: -up, up: -down };
  }
  if (x === Number.POSITIVE_INFINITY) return { down: x, up: x };
  const quantum = quantumOf(Math.min(x, 65504));
  const down = Math.min(Math.floor(x / quantum) * quantum, 65504);
  return { down, up: down === x ? x : halfToF32(bitsOf(down) + 1) };
}
