// The grammar of JSON over lines that end with a newline, which no value holds: nothing is read beyond it but slack.
import { DECODE, DECODE_LIST_MAX } from "../generated/layouts";
import { readNumber } from "./numbers";

export const QUOTE: u32 = 0x22, COMMA: u32 = 0x2c;
export const LIST: u32 = 0x5b, LIST_END: u32 = 0x5d;
const BACKSLASH: u32 = 0x5c;
/** Values in values; more of them is left to the slow way. */
const DEPTH_MAX: u32 = 64;
/** Bytes of a text without its escapes. */
const TEXT_MAX: usize = <usize>DECODE_LIST_MAX * 8;

/** Whether the string that `stringEnd` found has escapes. */
export let isEscaped: bool = false;
/** Whether the number that `numberEnd` found has neither point nor exponent, and how many digits are before them. */
export let isWhole: bool = false;
export let wholeDigits: u32 = 0;

@inline
export function skipSpace(at: usize): usize {
  let byte = <u32>load<u8>(at);
  while (byte == 0x20 || byte == 0x09 || byte == 0x0d) byte = <u32>load<u8>(++at);
  return at;
}

@inline
function hexOf(byte: u32): u32 {
  if (byte - 0x30 <= 9) return byte - 0x30;
  const letter = (byte | 0x20) - 0x61;
  return letter <= 5 ? letter + 10 : 0xffff;
}

/** The code of `XXXX`, of an escape; above 0xffff where one of them is no digit. */
function codeAt(at: usize): u32 {
  const high = hexOf(load<u8>(at)) << 12 | hexOf(load<u8>(at + 1)) << 8;
  return high | hexOf(load<u8>(at + 2)) << 4 | hexOf(load<u8>(at + 3));
}

/** What an escape of one letter stands for, 0 of none. */
function letterOf(byte: u32): u32 {
  if (byte == QUOTE || byte == BACKSLASH || byte == 0x2f) return byte;
  if (byte == 0x62) return 0x08;
  if (byte == 0x66) return 0x0c;
  if (byte == 0x6e) return 0x0a;
  if (byte == 0x72) return 0x0d;
  return byte == 0x74 ? 0x09 : 0;
}

/** Where the quote is that ends the string of which the first character is at `at`; 0 where it is no string. */
export function stringEnd(at: usize): usize {
  isEscaped = false;
  while (true) {
    const bytes = v128.load(at);
    const ends = v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c)));
    const mask = i8x16.bitmask(v128.or(ends, i8x16.lt_u(bytes, i8x16.splat(0x20))));
    if (mask == 0) {
      at += 16;
      continue;
    }
    at += <usize>ctz<i32>(mask);
    const byte = <u32>load<u8>(at);
    if (byte == QUOTE) break;
    if (byte != BACKSLASH) return 0;
    isEscaped = true;
    if (<u32>load<u8>(at + 1) == 0x75) {
      for (let digit: usize = 2; digit < 6; digit++) if (hexOf(load<u8>(at + digit)) > 15) return 0;
      at += 6;
    } else {
      if (letterOf(load<u8>(at + 1)) == 0) return 0;
      at += 2;
    }
  }
  return at;
}

/** Writes a string without its escapes to `to`; where it ends there, 0 where it is too long or half a character. */
export function unescape(at: usize, end: usize, to: usize): usize {
  if (end - at > TEXT_MAX) return 0;
  while (at < end) {
    const byte = <u32>load<u8>(at++);
    if (byte != BACKSLASH) {
      store<u8>(to++, <u8>byte);
      continue;
    }
    const letter = <u32>load<u8>(at++);
    if (letter != 0x75) {
      store<u8>(to++, <u8>letterOf(letter));
      continue;
    }
    let code = codeAt(at);
    at += 4;
    if (code - 0xd800 < 0x800) {
      // A pair of halves is one character.
      if (code >= 0xdc00 || at + 6 > end || load<u16>(at) != 0x755c) return 0;
      const low = codeAt(at + 2);
      if (low - 0xdc00 >= 0x400) return 0;
      code = 0x10000 + (code - 0xd800 << 10) + (low - 0xdc00);
      at += 6;
    }
    if (code < 0x80) store<u8>(to++, <u8>code);
    else {
      const count: u32 = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      const lead: u32 = 0xf0 << (3 - count);
      store<u8>(to++, <u8>(lead | code >> 6 * count));
      for (let left = count; left > 0; left--) store<u8>(to++, <u8>(0x80 | code >> 6 * (left - 1) & 0x3f));
    }
  }
  return to;
}

@inline
function isDigit(at: usize): bool {
  return <u32>load<u8>(at) - 0x30 <= 9;
}

/** Where the number ends that begins at `at`; 0 where it is none. */
export function numberEnd(at: usize): usize {
  if (<u32>load<u8>(at) == 0x2d) at++;
  const from = at;
  if (!isDigit(at)) return 0;
  if (<u32>load<u8>(at) == 0x30) at++;
  else while (isDigit(at)) at++;
  wholeDigits = <u32>(at - from);
  isWhole = true;
  if (<u32>load<u8>(at) == 0x2e) {
    if (!isDigit(++at)) return 0;
    while (isDigit(at)) at++;
    isWhole = false;
  }
  if ((<u32>load<u8>(at) | 0x20) == 0x65) {
    at++;
    const sign = <u32>load<u8>(at);
    if (sign == 0x2b || sign == 0x2d) at++;
    if (!isDigit(at)) return 0;
    while (isDigit(at)) at++;
    isWhole = false;
  }
  return at;
}

@inline
export function nullEnd(at: usize): usize {
  return load<u32>(at) == 0x6c6c756e ? at + 4 : 0;
}

@inline
export function trueEnd(at: usize): usize {
  return load<u32>(at) == 0x65757274 ? at + 4 : 0;
}

@inline
export function falseEnd(at: usize): usize {
  return load<u32>(at) == 0x736c6166 && <u32>load<u8>(at + 4) == 0x65 ? at + 5 : 0;
}

/** Where the value ends that begins at `at` and nobody wants; 0 where it is none. */
export function skipValue(at: usize, depth: u32): usize {
  const first = <u32>load<u8>(at);
  if (first == QUOTE) {
    const stop = stringEnd(at + 1);
    return stop == 0 ? 0 : stop + 1;
  }
  if (first == 0x5b || first == 0x7b) return depth == DEPTH_MAX ? 0 : skipMany(at + 1, first + 2, depth + 1);
  if (first == 0x6e) return nullEnd(at);
  if (first == 0x74) return trueEnd(at);
  return first == 0x66 ? falseEnd(at) : numberEnd(at);
}

/** Passes over a list or an object up to its `end`, a bracket. */
function skipMany(at: usize, end: u32, depth: u32): usize {
  at = skipSpace(at);
  if (<u32>load<u8>(at) == end) return at + 1;
  while (true) {
    if (end == 0x7d) {
      if (<u32>load<u8>(at) != QUOTE) return 0;
      at = stringEnd(at + 1);
      if (at == 0) return 0;
      at = skipSpace(at + 1);
      if (<u32>load<u8>(at) != 0x3a) return 0;
      at = skipSpace(at + 1);
    }
    at = skipValue(at, depth);
    if (at == 0) return 0;
    at = skipSpace(at);
    const next = <u32>load<u8>(at);
    if (next == end) break;
    if (next != 0x2c) return 0;
    at = skipSpace(at + 1);
  }
  return at + 1;
}

@inline
export function byteAt(at: usize): u32 {
  return <u32>load<u8>(at);
}

@inline
export function isNumber(byte: u32): bool {
  return byte - 0x30 <= 9 || byte == 0x2d;
}

/** Reads the number at hand, whatever it is, as a double. */
@inline
export function readFloat(plan: usize, at: usize, end: usize): bool {
  return readNumber(at, end, 0x2e, <usize>load<u32>(plan, DECODE.powers));
}

/** The text that `openText` found. */
export let textAt: usize = 0;
export let textEnd: usize = 0;

/** Finds the text whose quote is at `at`, without its escapes; where it ends in the line, 0 where it does not. */
@inline
export function openText(plan: usize, at: usize): usize {
  const stop = stringEnd(at + 1);
  if (stop == 0) return 0;
  textAt = at + 1;
  textEnd = stop;
  if (isEscaped) {
    const to = <usize>load<u32>(plan, DECODE.list);
    textEnd = unescape(at + 1, stop, to);
    if (textEnd == 0) return 0;
    textAt = to;
  }
  return stop + 1;
}
