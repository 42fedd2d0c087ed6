// Reads records of the usual shape into columns: ids, times, rows. Whatever is not exactly what encodeEntries would have
// written ends the call; the caller finds out whether it is damage or only another writer's order of fields.
import { crc32cBytes, masked, next, spaced1, spaced4, spaced8, zeros } from "./crc";

const NEEDS_BYTES: u32 = 0;
const FULL: u32 = 1;
const UNUSUAL: u32 = 2;

/** Copies `count` floats from words 5 bytes apart to words that follow each other; returns the state after them. */
function decodeRun(t: usize, state: u32, from: usize, to: usize, count: u32): u32 {
  let crc = state;
  let left = count;
  for (; left >= 4; left -= 4, from += 20, to += 16) {
    const w = load<u32>(from), x = load<u32>(from, 5), y = load<u32>(from, 10), z = load<u32>(from, 15);
    store<u32>(to, w);
    store<u32>(to, x, 4);
    store<u32>(to, y, 8);
    store<u32>(to, z, 12);
    crc = spaced4(t, crc, w, x, y, z);
  }
  for (; left > 0; left--, from += 5, to += 4) {
    const w = load<u32>(from);
    store<u32>(to, w);
    crc = spaced1(t, crc, w);
  }
  return crc;
}

/** True when every constant byte of the message is as in the template. */
// @ts-ignore: decorator
@inline function constantsMatch(plan: usize, payload: usize, fixed: usize): bool {
  const template = <usize>load<u32>(plan, 8), mask = <usize>load<u32>(plan, 12);
  let wrong = i32x4.splat(0);
  for (let i: usize = 0; i < fixed; i += 16) {
    wrong = v128.or(wrong, v128.and(v128.load(mask + i), v128.xor(v128.load(payload + i), v128.load(template + i))));
  }
  return !v128.any_true(wrong);
}

/** Values of the runs into `row`; returns the unfinished checksum of the fixed part. */
// @ts-ignore: decorator
@inline function decodeRuns(plan: usize, payload: usize, row: usize): u32 {
  const t = <usize>load<u32>(plan);
  let delta = spaced8(t, load<u64>(payload, 1));
  const runs = plan + 64;
  const end = runs + (<usize>load<u32>(plan, 16) << 4);
  for (let run = runs; run < end; run += 16) {
    delta = decodeRun(t, delta, payload + <usize>load<u32>(run, 8), row + <usize>load<u32>(run), load<u32>(run, 4));
    delta = zeros(t, delta, load<u32>(run, 12));
  }
  return load<u32>(plan, 24) ^ delta;
}

/**
 * Decodes the records of [bytes, end), at most `limit`: id, time and the words of a row of each, rows `rowStride` bytes
 * apart (0 = all into one place, for a check only). Up to 16 bytes beyond `end` are read. Returns how many there were;
 * progress[0] = where the next record begins, progress[1] = why it ended: 0 more bytes needed, 1 limit, 2 unusual.
 */
export function decodeEntries(
  plan: usize, bytes: usize, end: usize, limit: u32, ids: usize, times: usize, rows: usize, rowStride: usize,
  progress: usize,
): u32 {
  const t = <usize>load<u32>(plan);
  const fixed = <usize>load<u32>(plan, 4);
  const skips = load<u32>(plan, 28) != 0;
  let at = bytes, row = rows;
  let count: u32 = 0, why = FULL;
  while (count < limit) {
    const left = end - at;
    if (left < 16) { why = NEEDS_BYTES; break; }
    const size = load<u64>(at);
    // Sizes that do not fit a u32 with a frame around them are no rows.
    if (size > 0x0fffffff || <usize>size <= fixed) { why = UNUSUAL; break; }
    const payload = at + 12;
    const last = payload + <usize>size;
    const timeBytes = <usize>size - fixed;
    const sizeCrc = skips || timeBytes > 5 ? masked(crc32cBytes(t, at, 8, 0)) : load<u32>(plan + 28 + (timeBytes << 2));
    if (load<u32>(at, 8) != sizeCrc) { why = UNUSUAL; break; }
    if (left < <usize>size + 16) { why = NEEDS_BYTES; break; }
    if (!constantsMatch(plan, payload, fixed)) { why = UNUSUAL; break; }
    let crc = decodeRuns(plan, payload, row);
    let p = payload + fixed;
    if (skips) {
      crc = ~crc32cBytes(t, payload, <u32>size, 0);
      p = skipField(p, last);
    }
    // A time of 32 bits takes at most five bytes; its last byte, and only that, is below 128.
    let time: u64 = 0;
    let shift: u64 = 0;
    let whole = false;
    for (; p < last && shift < 35; shift += 7) {
      const byte = load<u8>(p++);
      time |= <u64>(byte & 0x7f) << shift;
      if (!skips) crc = next(t, crc, byte);
      if (byte < 0x80) { whole = true; break; }
    }
    if (!whole || p != last || time > 0xffffffff || load<u32>(last) != masked(~crc)) { why = UNUSUAL; break; }
    store<u64>(ids + (<usize>count << 3), load<u64>(payload, 1));
    store<u32>(times + (<usize>count << 2), <u32>time);
    row += rowStride;
    count++;
    at = last + 4;
  }
  store<u32>(progress, <u32>at);
  store<u32>(progress, why, 4);
  return count;
}

/** Where the value of the time begins, past an optimizer field that a serving row does not keep; `last` when it is not as usual. */
function skipField(from: usize, last: usize): usize {
  let p = from;
  if (load<u8>(p) == 0x1a) {
    p++;
    let length: u64 = 0;
    let whole = false;
    for (let shift: u64 = 0; p < last && shift < 28; shift += 7) {
      const byte = load<u8>(p++);
      length |= <u64>(byte & 0x7f) << shift;
      if (byte < 0x80) { whole = true; break; }
    }
    if (!whole || length >= <u64>(last - p)) return last;
    p += <usize>length;
  }
  return p < last && load<u8>(p) == 0x20 ? p + 1 : last;
}
