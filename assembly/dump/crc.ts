// CRC-32C by tables, T(k)[b] = what byte b becomes with k zero bytes after it, from a state of 0.
import { CRC_TABLE_BYTES } from "../generated/layouts";
import { WORD } from "../units";

const POLYNOMIAL: u32 = 0x82f63b78;
const TABLES: u32 = 8;

/** Fills the 8 tables of 1 KiB each at `tables`. */
export function crc32cTables(tables: usize): void {
  for (let b: u32 = 0; b < 256; b++) {
    let crc = b;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    store<u32>(tables + (<usize>b << 2), crc);
  }
  for (let k: u32 = 1; k < TABLES; k++) {
    const at = tables + <usize>k * CRC_TABLE_BYTES;
    for (let b: usize = 0; b < 256; b++) {
      store<u32>(at + (b << 2), next(tables, load<u32>(at + (b << 2) - CRC_TABLE_BYTES), 0));
    }
  }
}

/** The state after one more byte. */
@inline
export function next(tables: usize, state: u32, byte: u32): u32 {
  return load<u32>(tables + (<usize>((state ^ byte) & 0xff) << 2)) ^ (state >>> 8);
}

// Where in a table the entry of a byte of `word` is.
@inline
function b0(tables: usize, word: u32): usize {
  return tables + <usize>((word << 2) & 0x3fc);
}

@inline
function b1(tables: usize, word: u32): usize {
  return tables + <usize>((word >>> 6) & 0x3fc);
}

@inline
function b2(tables: usize, word: u32): usize {
  return tables + <usize>((word >>> 14) & 0x3fc);
}

@inline
function b3(tables: usize, word: u32): usize {
  return tables + <usize>((word >>> 22) & 0x3fc);
}

/** What a state of 0 becomes with the four bytes of `bytes`, or a state of `bytes` with four of zero. */
@inline
export function word(t: usize, bytes: u32): u32 {
  return (load<u32>(b0(t, bytes), 3 * CRC_TABLE_BYTES) ^ load<u32>(b1(t, bytes), 2 * CRC_TABLE_BYTES)) ^
    (load<u32>(b2(t, bytes), CRC_TABLE_BYTES) ^ load<u32>(b3(t, bytes)));
}

/** What a state becomes with a number of bytes of zero, for which crc32cShift made the tables. */
@inline
export function shifted(shift: usize, state: u32): u32 {
  return (load<u32>(b0(shift, state)) ^ load<u32>(b1(shift, state), CRC_TABLE_BYTES)) ^
    (load<u32>(b2(shift, state), 2 * CRC_TABLE_BYTES) ^ load<u32>(b3(shift, state), 3 * CRC_TABLE_BYTES));
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
function zeros(t: usize, state: u32, count: u32): u32 {
  let crc = state;
  for (let left = count; left > 0; left--) crc = next(t, crc, 0);
  return crc;
}

/** Checksum of `n` bytes; `previous` continues a finished one. */
export function crc32cBytes(tables: usize, bytes: usize, n: u32, previous: u32): u32 {
  let crc = ~previous;
  let left = n;
  const t = tables;
  for (; left >= 8; left -= 8, bytes += 8) {
    const v = load<u32>(bytes) ^ crc, w = load<u32>(bytes, WORD);
    crc = load<u32>(b0(t, v), 7 * CRC_TABLE_BYTES) ^ load<u32>(b1(t, v), 6 * CRC_TABLE_BYTES) ^
      load<u32>(b2(t, v), 5 * CRC_TABLE_BYTES) ^ load<u32>(b3(t, v), 4 * CRC_TABLE_BYTES) ^
      load<u32>(b0(t, w), 3 * CRC_TABLE_BYTES) ^ load<u32>(b1(t, w), 2 * CRC_TABLE_BYTES) ^
      load<u32>(b2(t, w), CRC_TABLE_BYTES) ^ load<u32>(b3(t, w));
  }
  for (; left > 0; left--, bytes++) crc = next(t, crc, load<u8>(bytes));
  return ~crc;
}

/** As checksums are stored. */
@inline
export function masked(crc: u32): u32 {
  return rotr<u32>(crc, 15) + 0xa282ead8;
}
