// CRC-32C by tables, T(k)[b] = what byte b becomes with k zero bytes after it, from a state of 0.
//
// The checksum is linear: that of a message is that of its constant bytes xor that of its values with zeros in place of
// the constants. So only values are looked up, and constants between them cost nothing but the choice of tables: four
// floats with a tag byte after each are one group of 20 bytes and 16 lookups.
const POLYNOMIAL: u32 = 0x82f63b78;
const TABLES: u32 = 20;

/** Fills the 20 tables of 1 KiB each at `tables`. */
export function crc32cTables(tables: usize): void {
  for (let b: u32 = 0; b < 256; b++) {
    let crc = b;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    store<u32>(tables + (<usize>b << 2), crc);
  }
  for (let k: u32 = 1; k < TABLES; k++) {
    const at = tables + (<usize>k << 10);
    for (let b: usize = 0; b < 256; b++) store<u32>(at + (b << 2), next(tables, load<u32>(at + (b << 2) - 1024), 0));
  }
}

/** The state after one more byte. */
// @ts-ignore: decorator
@inline export function next(tables: usize, state: u32, byte: u32): u32 {
  return load<u32>(tables + (<usize>((state ^ byte) & 0xff) << 2)) ^ (state >>> 8);
}

// Where in a table the entry of a byte of `word` is.
// @ts-ignore: decorator
@inline function b0(tables: usize, word: u32): usize {
  return tables + <usize>((word << 2) & 0x3fc);
}
// @ts-ignore: decorator
@inline function b1(tables: usize, word: u32): usize {
  return tables + <usize>((word >>> 6) & 0x3fc);
}
// @ts-ignore: decorator
@inline function b2(tables: usize, word: u32): usize {
  return tables + <usize>((word >>> 14) & 0x3fc);
}
// @ts-ignore: decorator
@inline function b3(tables: usize, word: u32): usize {
  return tables + <usize>((word >>> 22) & 0x3fc);
}

/** State after 4 words of 4 bytes, each followed by a byte of zero. */
// @ts-ignore: decorator
@inline export function spaced4(t: usize, state: u32, w: u32, x: u32, y: u32, z: u32): u32 {
  const v = w ^ state;
  const later =
    load<u32>(b0(t, x), 14336) ^ load<u32>(b1(t, x), 13312) ^ load<u32>(b2(t, x), 12288) ^ load<u32>(b3(t, x), 11264) ^
    load<u32>(b0(t, y), 9216) ^ load<u32>(b1(t, y), 8192) ^ load<u32>(b2(t, y), 7168) ^ load<u32>(b3(t, y), 6144) ^
    load<u32>(b0(t, z), 4096) ^ load<u32>(b1(t, z), 3072) ^ load<u32>(b2(t, z), 2048) ^ load<u32>(b3(t, z), 1024);
  // The state joins last: all other lookups can run before the group in front is done.
  return later ^
    ((load<u32>(b0(t, v), 19456) ^ load<u32>(b1(t, v), 18432)) ^ (load<u32>(b2(t, v), 17408) ^ load<u32>(b3(t, v), 16384)));
}

/** State after 4 bytes followed by a byte of zero. */
// @ts-ignore: decorator
@inline export function spaced1(t: usize, state: u32, w: u32): u32 {
  const v = w ^ state;
  return (load<u32>(b0(t, v), 4096) ^ load<u32>(b1(t, v), 3072)) ^ (load<u32>(b2(t, v), 2048) ^ load<u32>(b3(t, v), 1024));
}

/** State after 8 bytes, low word first, followed by a byte of zero; from a state of 0. */
// @ts-ignore: decorator
@inline export function spaced8(t: usize, id: u64): u32 {
  const low = <u32>id, high = <u32>(id >> 32);
  return load<u32>(b0(t, low), 8192) ^ load<u32>(b1(t, low), 7168) ^ load<u32>(b2(t, low), 6144) ^ load<u32>(b3(t, low), 5120) ^
    load<u32>(b0(t, high), 4096) ^ load<u32>(b1(t, high), 3072) ^ load<u32>(b2(t, high), 2048) ^ load<u32>(b3(t, high), 1024);
}

/** What a state of 0 becomes with the four bytes of `bytes`, or a state of `bytes` with four of zero. */
// @ts-ignore: decorator
@inline export function word(t: usize, bytes: u32): u32 {
  return (load<u32>(b0(t, bytes), 3072) ^ load<u32>(b1(t, bytes), 2048)) ^ (load<u32>(b2(t, bytes), 1024) ^ load<u32>(b3(t, bytes)));
}

/** What a state becomes with a number of bytes of zero, for which crc32cShift made the tables. */
// @ts-ignore: decorator
@inline export function shifted(shift: usize, state: u32): u32 {
  return (load<u32>(b0(shift, state)) ^ load<u32>(b1(shift, state), 1024)) ^
    (load<u32>(b2(shift, state), 2048) ^ load<u32>(b3(shift, state), 3072));
}

/** Fills the four tables of 1 KiB by which `bytes` more bytes of zero are one step. */
export function crc32cShift(tables: usize, shift: usize, bytes: u32): void {
  for (let position: u32 = 0; position < 4; position++) {
    for (let b: u32 = 0; b < 256; b++) {
      store<u32>(shift + (<usize>(position * 256 + b) << 2), zeros(tables, b << (position << 3), bytes));
    }
  }
}

/** State after `count` bytes of zero. */
// @ts-ignore: decorator
@inline export function zeros(t: usize, state: u32, count: u32): u32 {
  let crc = state;
  let left = count;
  while (left >= 4) {
    const bytes = min(left, TABLES);
    const at = t + (<usize>(bytes - 4) << 10);
    crc = (load<u32>(b0(at, crc), 3072) ^ load<u32>(b1(at, crc), 2048)) ^ (load<u32>(b2(at, crc), 1024) ^ load<u32>(b3(at, crc)));
    left -= bytes;
  }
  for (; left > 0; left--) crc = next(t, crc, 0);
  return crc;
}

/** Checksum of `n` bytes; `previous` continues a finished one. */
export function crc32cBytes(tables: usize, bytes: usize, n: u32, previous: u32): u32 {
  let crc = ~previous;
  let left = n;
  const t = tables;
  for (; left >= 8; left -= 8, bytes += 8) {
    const v = load<u32>(bytes) ^ crc, w = load<u32>(bytes, 4);
    crc = load<u32>(b0(t, v), 7168) ^ load<u32>(b1(t, v), 6144) ^ load<u32>(b2(t, v), 5120) ^ load<u32>(b3(t, v), 4096) ^
      load<u32>(b0(t, w), 3072) ^ load<u32>(b1(t, w), 2048) ^ load<u32>(b2(t, w), 1024) ^ load<u32>(b3(t, w));
  }
  for (; left > 0; left--, bytes++) crc = next(t, crc, load<u8>(bytes));
  return ~crc;
}

/** As checksums are stored. */
// @ts-ignore: decorator
@inline export function masked(crc: u32): u32 {
  return rotr<u32>(crc, 15) + 0xa282ead8;
}
