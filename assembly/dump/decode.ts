// Reads records of the usual shape into columns: ids, times, rows. Whatever is not exactly what encodeEntries would have
// written ends the call; the caller finds out whether it is damage or only another writer's order of fields.
import { crc32cBytes, masked, shifted, word } from "./crc";

const NEEDS_BYTES: u32 = 0;
const FULL: u32 = 1;
const UNUSUAL: u32 = 2;

/** Copies `count` floats from words 5 bytes apart to words that follow each other. */
// @ts-ignore: decorator
@inline function gatherFloats(from: usize, to: usize, count: u32): void {
  let left = count;
  for (; left >= 4; left -= 4, from += 20, to += 16) {
    const spread = v128.shuffle<i8>(
      v128.load(from), v128.load(from, 3), 0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 28, 29, 30, 31,
    );
    v128.store(to, spread);
  }
  for (; left > 0; left--, from += 5, to += 4) store<u32>(to, load<u32>(from));
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

/** Values of the runs into `row`. */
// @ts-ignore: decorator
@inline function gatherRuns(plan: usize, payload: usize, row: usize): void {
  const runs = plan + 96;
  const end = runs + (<usize>load<u32>(plan, 16) << 4);
  for (let run = runs; run < end; run += 16) {
    gatherFloats(payload + <usize>load<u32>(run, 8), row + <usize>load<u32>(run), load<u32>(run, 4));
  }
}

/**
 * Decodes the records of [bytes, end), at most `limit`: id, time and the words of a row of each, rows `rowStride` bytes
 * apart (0 = all into one place, for a check only). Up to 16 bytes beyond `end` are read. Returns how many there were;
 * progress[0] = where the next record begins, progress[1] = why it ended: 0 more bytes needed, 1 limit, 2 unusual.
 *
 * Payloads are not summed here. progress[2] is the checksum of the file up to `bytes`, and becomes the one up to
 * progress[0] if every record's stored one is right; the caller sums the bytes in one go, which processors have an
 * instruction for, and compares. A wrong byte changes that sum exactly when it changes its record's. Serving plans have no
 * fixed sizes to do this with: their records are summed here, and progress[2] stays.
 */
export function decodeEntries(
  plan: usize, bytes: usize, end: usize, limit: u32, ids: usize, times: usize, rows: usize, rowStride: usize,
  progress: usize,
): u32 {
  const t = <usize>load<u32>(plan);
  const fixed = <usize>load<u32>(plan, 4);
  const skips = load<u32>(plan, 28) != 0;
  let at = bytes, row = rows;
  let count: u32 = 0, why = FULL, expected = load<u32>(progress, 8);
  while (count < limit) {
    const left = end - at;
    if (left < 16) { why = NEEDS_BYTES; break; }
    const size = load<u64>(at);
    // Sizes that do not fit a u32 with a frame around them are no rows.
    if (size > 0x0fffffff || <usize>size <= fixed) { why = UNUSUAL; break; }
    const payload = at + 12;
    const last = payload + <usize>size;
    const timeBytes = <usize>size - fixed;
    if (!skips && timeBytes > 5) { why = UNUSUAL; break; }
    const sizeCrc = skips ? masked(crc32cBytes(t, at, 8, 0)) : load<u32>(plan + 28 + (timeBytes << 2));
    if (load<u32>(at, 8) != sizeCrc) { why = UNUSUAL; break; }
    if (left < <usize>size + 16) { why = NEEDS_BYTES; break; }
    if (!constantsMatch(plan, payload, fixed)) { why = UNUSUAL; break; }
    const stored = load<u32>(last);
    let p = payload + fixed;
    if (skips) {
      if (stored != masked(crc32cBytes(t, payload, <u32>size, 0))) { why = UNUSUAL; break; }
      p = skipField(p, last);
    }
    // A time of 32 bits takes at most five bytes; its last byte, and only that, is below 128.
    let time: u64 = 0;
    let shift: u64 = 0;
    let whole = false;
    for (; p < last && shift < 35; shift += 7) {
      const byte = load<u8>(p++);
      time |= <u64>(byte & 0x7f) << shift;
      if (byte < 0x80) { whole = true; break; }
    }
    if (!whole || p != last || time > 0xffffffff) { why = UNUSUAL; break; }
    if (!skips) expected = withRecord(plan, t, expected, stored, timeBytes);
    gatherRuns(plan, payload, row);
    store<u64>(ids + (<usize>count << 3), load<u64>(payload, 1));
    store<u32>(times + (<usize>count << 2), <u32>time);
    row += rowStride;
    count++;
    at = last + 4;
  }
  store<u32>(progress, <u32>at);
  store<u32>(progress, why, 4);
  store<u32>(progress, expected, 8);
  return count;
}

/** Checksum of what `crc` is that of and a record after it, whose payload has the `stored` checksum. */
// @ts-ignore: decorator
@inline function withRecord(plan: usize, t: usize, crc: u32, stored: u32, timeBytes: usize): u32 {
  const payloadCrc = rotl<u32>(stored - 0xa282ead8, 15);
  const framed = word(t, load<u32>(plan + 60 + (timeBytes << 2)) ^ payloadCrc) ^ ~word(t, ~stored);
  return shifted(<usize>load<u32>(plan, 52) + ((timeBytes - 1) << 12), crc) ^ framed;
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
