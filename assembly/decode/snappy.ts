// Raw blocks of snappy, decoded. Twin: src/io/snappy.ts.

const CHUNK: usize = 16;

/** Writes the block from `from` to `end` to `to`, no further than `limit`; the end of what it is, 0 of no block. */
export function decodeSnappy(from: usize, end: usize, to: usize, limit: usize): usize {
  let size: u64 = 0;
  for (let shift: u64 = 0; ; shift += 7) {
    if (from >= end || shift > 28) return 0;
    const byte = <u64>load<u8>(from++);
    size |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (size > <u64>(limit - to)) return 0;
  const begin = to;
  const stop = to + <usize>size;
  while (from < end) {
    const tag = <u32>load<u8>(from++);
    let length: usize;
    let back: usize;
    if ((tag & 3) == 0) {
      length = <usize>(tag >> 2);
      if (length >= 60) {
        const extra = length - 59;
        if (extra > end - from) return 0;
        length = 0;
        for (let i: usize = 0; i < extra; i++) length |= <usize>load<u8>(from + i) << (i << 3);
        from += extra;
      }
      if (length >= end - from || length >= stop - to) return 0;
      length++;
      if (length <= CHUNK && end - from >= CHUNK && stop - to >= CHUNK) v128.store(to, v128.load(from));
      else memory.copy(to, from, length);
      from += length;
      to += length;
      continue;
    }
    if ((tag & 3) == 1) {
      if (from == end) return 0;
      length = <usize>(tag >> 2 & 7) + 4;
      back = <usize>(tag >> 5) << 8 | <usize>load<u8>(from++);
    } else {
      const bytes: usize = (tag & 3) == 2 ? 2 : 4;
      if (end - from < bytes) return 0;
      length = <usize>(tag >> 2) + 1;
      back = bytes == 2 ? <usize>load<u16>(from) : <usize>load<u32>(from);
      from += bytes;
    }
    if (back == 0 || back > to - begin || length > stop - to) return 0;
    copyBack(to, back, length, stop);
    to += length;
  }
  return to == stop ? stop : 0;
}

/** Copies what stands `back` before: where both overlap it is repeated. */
@inline
function copyBack(to: usize, back: usize, length: usize, stop: usize): void {
  const source = to - back;
  if (back >= CHUNK && stop - to >= length + CHUNK) {
    for (let i: usize = 0; i < length; i += CHUNK) v128.store(to + i, v128.load(source + i));
  } else if (back >= 8 && stop - to >= length + 8) {
    for (let i: usize = 0; i < length; i += 8) store<u64>(to + i, load<u64>(source + i));
  } else for (let i: usize = 0; i < length; i++) store<u8>(to + i, load<u8>(source + i));
}
