// Numbers in text. Only what is exact in one operation is read here; for everything else the caller has a slower way.

/** What a number turned out to be, until the next is read. */
export let numberIs: f64 = 0;
export let wholeIs: i64 = 0;

@inline
function digitAt(at: usize): u32 {
  return <u32>load<u8>(at) - 0x30;
}

/**
 * Reads the number that is all of the text from `at` to `end`: sign, digits, a point, an exponent, as JavaScript has
 * them. False where it is none, or where its digits and exponent need more than one rounding.
 */
export function readNumber(at: usize, end: usize, point: u32, powers: usize): bool {
  let isNegative = false;
  if (at < end) {
    const sign = load<u8>(at);
    if (sign == 0x2d || sign == 0x2b) {
      isNegative = sign == 0x2d;
      at++;
    }
  }
  let mantissa: u64 = 0;
  let exponent: i32 = 0;
  let from = at;
  for (; at < end; at++) {
    const digit = digitAt(at);
    if (digit > 9) break;
    mantissa = mantissa * 10 + <u64>digit;
  }
  let digits = at - from;
  if (at < end && <u32>load<u8>(at) == point) {
    at++;
    from = at;
    for (; at < end; at++) {
      const digit = digitAt(at);
      if (digit > 9) break;
      mantissa = mantissa * 10 + <u64>digit;
    }
    exponent = -<i32>(at - from);
    digits += at - from;
  }
  // 19 digits fit 64 bits; leading zeros count, which costs nothing but a slower way.
  if (digits == 0 || digits > 19) return false;
  if (at < end) {
    if ((load<u8>(at) | 0x20) != 0x65) return false;
    at++;
    let sign: u8 = 0;
    if (at < end) {
      sign = load<u8>(at);
      if (sign == 0x2d || sign == 0x2b) at++;
    }
    if (at == end || end - at > 4) return false;
    let written: i32 = 0;
    for (; at < end; at++) {
      const digit = digitAt(at);
      if (digit > 9) return false;
      written = written * 10 + <i32>digit;
    }
    exponent += sign == 0x2d ? -written : written;
  }
  let value = <f64>mantissa;
  if (exponent != 0 && mantissa != 0) {
    // Both numbers are exact, so their product or quotient is rounded once.
    if (mantissa > 1 << 53 || exponent < -22 || exponent > 22) return false;
    const power = load<f64>(powers + (<usize>abs(exponent) << 3));
    value = exponent < 0 ? value / power : value * power;
  }
  numberIs = isNegative ? -value : value;
  return true;
}

const ZEROS: u64 = 0x3030303030303030;

/** Eight characters: the `length` at `at`, from 1 to 8 of them, behind as many zeros. Eight bytes are read. */
@inline
export function eightFrom(at: usize, length: usize): u64 {
  const shift = <u64>(8 - length) << 3;
  return load<u64>(at) << shift | ZEROS & ((<u64>1 << shift) - 1);
}

@inline
export function areDigits(eight: u64): bool {
  const high: u64 = 0xf0f0f0f0f0f0f0f0;
  return (eight & high | (eight + 0x0606060606060606 & high) >> 4) == 0x3333333333333333;
}

/** The number that eight digits are. */
@inline
export function digitsOf(eight: u64): u64 {
  const ones = eight - ZEROS;
  const pairs = ones * 10 + (ones >> 8);
  const mask: u64 = 0x000000ff000000ff;
  return (pairs & mask) * 0x000f424000000064 + (pairs >> 16 & mask) * 0x0000271000000001 >> 32;
}

/** Reads a whole number of 64 bits as ids are written: no sign but minus, no zero before other digits. */
export function readWhole(at: usize, end: usize): bool {
  let length = end - at;
  if (length == 0 || length > 20) return false;
  const isNegative = load<u8>(at) == 0x2d;
  if (isNegative) {
    at++;
    length--;
  }
  const first = digitAt(at);
  if (length == 0 || first > 9) return false;
  if (first == 0) {
    wholeIs = 0;
    return length == 1 && !isNegative;
  }
  // Twenty digits may be too many: the slow way knows.
  if (length > 19) return false;
  let value: u64 = 0;
  for (; at < end; at++) {
    const digit = digitAt(at);
    if (digit > 9) return false;
    value = value * 10 + <u64>digit;
  }
  if (isNegative && value > 1 << 63) return false;
  wholeIs = isNegative ? -<i64>value : <i64>value;
  return true;
}

/** Whether a text of digits is beyond `readWhole`, and may be a number of 64 bits still. */
export function isLongWhole(at: usize, end: usize): bool {
  const length = end - at;
  if (length != 20 && length != 21) return false;
  for (let i = at + <usize>(load<u8>(at) == 0x2d); i < end; i++) if (digitAt(i) > 9) return false;
  return true;
}
