// Bytes of text: white space as JavaScript trims it, comparison with lists of texts, lower case.
import { DECODE_SCRATCH_BYTES, TEXT, TEXT_BYTES } from "../generated/layouts";

/** Bytes of the white space that begins at `at`, before `end`; 0 of none. */
function spaceAt(at: usize, end: usize): usize {
  const first = load<u8>(at);
  if (first <= 0x20) return first == 0x20 || (first >= 0x09 && first <= 0x0d) ? 1 : 0;
  if (first < 0xc2) return 0;
  if (first == 0xc2) return at + 1 < end && load<u8>(at + 1) == 0xa0 ? 2 : 0;
  if (first > 0xef || at + 2 >= end) return 0;
  const word = <u32>first << 16 | <u32>load<u8>(at + 1) << 8 | <u32>load<u8>(at + 2);
  if (word >= 0xe28080 && word <= 0xe2808a) return 3;
  const isWide = word == 0xe19a80 || word == 0xe280a8 || word == 0xe280a9 || word == 0xe280af || word == 0xe2819f ||
    word == 0xe38080 || word == 0xefbbbf;
  return isWide ? 3 : 0;
}

/** Where the text from `at` to `end` begins when it is trimmed. */
export function trimmedStart(at: usize, end: usize): usize {
  while (at < end) {
    const bytes = spaceAt(at, end);
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

/** Where it ends. */
export function trimmedEnd(at: usize, end: usize): usize {
  while (at < end) {
    if (spaceAt(end - 1, end) == 1) end -= 1;
    else if (end - at >= 2 && spaceAt(end - 2, end) == 2) end -= 2;
    else if (end - at >= 3 && spaceAt(end - 3, end) == 3) end -= 3;
    else break;
  }
  return end;
}

@inline
function isSame(a: usize, b: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i++) if (load<u8>(a + i) != load<u8>(b + i)) return false;
  return true;
}

/** Index of the text in a list, -1 where it has none such. */
export function indexOf(list: usize, at: usize, length: usize): i32 {
  const count = load<u32>(list);
  let text = list + 4;
  for (let index: u32 = 0; index < count; index++, text += TEXT_BYTES) {
    if (load<u32>(text, TEXT.bytes) == <u32>length && isSame(at, <usize>load<u32>(text, TEXT.address), length)) {
      return <i32>index;
    }
  }
  return -1;
}

/** Writes the text in lower case to `to`; false where it is too long or has letters of other alphabets. */
export function lower(at: usize, length: usize, to: usize): bool {
  if (length > DECODE_SCRATCH_BYTES) return false;
  for (let i: usize = 0; i < length; i++) {
    const byte = load<u8>(at + i);
    if (byte >= 0x80) return false;
    store<u8>(to + i, byte - 0x41 < 26 ? byte + 0x20 : byte);
  }
  return true;
}

const HIGH: u64 = 0x8080808080808080;

/** Whether the bytes are a text, UTF-8 as Unicode has it. Some bytes behind them are read. */
@inline
export function isText(at: usize, end: usize): bool {
  for (; at + 8 <= end; at += 8) if (load<u64>(at) & HIGH) return isUtf8(at, end);
  if (at == end || (load<u64>(at) << ((8 - <u64>(end - at)) << 3) & HIGH) == 0) return true;
  return isUtf8(at, end);
}

@inline
function isNext(at: usize): bool {
  return (load<u8>(at) & 0xc0) == 0x80;
}

function isUtf8(at: usize, end: usize): bool {
  while (at < end) {
    const first = <u32>load<u8>(at);
    if (first < 0x80) {
      at++;
      continue;
    }
    const second = <u32>load<u8>(at + 1);
    if (first >= 0xc2 && first <= 0xdf) {
      if (end - at < 2 || !isNext(at + 1)) return false;
      at += 2;
    } else if ((first & 0xf0) == 0xe0) {
      // Neither longer than need be nor one half of a pair.
      if (end - at < 3 || !isNext(at + 1) || !isNext(at + 2)) return false;
      if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return false;
      at += 3;
    } else if (first >= 0xf0 && first <= 0xf4) {
      if (end - at < 4 || !isNext(at + 1) || !isNext(at + 2) || !isNext(at + 3)) return false;
      if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return false;
      at += 4;
    } else return false;
  }
  return true;
}
