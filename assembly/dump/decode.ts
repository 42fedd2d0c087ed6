// Reads records of the usual shape into columns: ids, times, rows. Whatever is not exactly what encodeEntries would
// have written ends the call; the caller finds out whether it is damage or only another writer's order of fields.
import {
  CRC_SHIFT_BYTES, DECODE_END, DECODE_PROGRESS, DUMP_HEADER_CRCS, DUMP_PLAN, DUMP_PLAN_RUNS, DUMP_RUN, DUMP_RUN_BYTES,
  DUMP_SIZE_CRCS, ENTRY_ID, RECORD_FRAME, TAGGED_FLOAT_BYTES, TIME_BYTES_MAX,
} from "../generated/layouts";
import { crc32cBytes, masked, shifted, word } from "./crc";

/** Copies `count` floats from words 5 bytes apart to words that follow each other. */
@inline
function gatherFloats(from: usize, to: usize, count: u32): void {
  // Three of four words by one swizzle, whose indexes stay in a register; a shuffle of two vectors would make them
  // anew.
  const three = i8x16(0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 0, 0, 0, 0);
  let left = count;
  for (; left >= 4; left -= 4, from += 4 * TAGGED_FLOAT_BYTES, to += 16) {
    v128.store(to, v128.load_lane<u32>(from, v128.swizzle(v128.load(from), three), 3, 3 * TAGGED_FLOAT_BYTES));
  }
  for (; left > 0; left--, from += TAGGED_FLOAT_BYTES, to += 4) store<u32>(to, load<u32>(from));
}

/** Bits of 16 bytes that are constant and differ from the template. */
@inline
function differing(template: usize, mask: usize, payload: usize): v128 {
  return v128.and(v128.load(mask), v128.xor(v128.load(payload), v128.load(template)));
}

/** True when every constant byte of the message is as in the template. Both are padded to 64 bytes. */
@inline
function constantsMatch(template: usize, mask: usize, payload: usize, fixed: usize): bool {
  let wrong = i32x4.splat(0);
  for (let i: usize = 0; i < fixed; i += 64) {
    const first = v128.or(
      differing(template + i, mask + i, payload + i),
      differing(template + i + 16, mask + i + 16, payload + i + 16),
    );
    const second = v128.or(
      differing(template + i + 32, mask + i + 32, payload + i + 32),
      differing(template + i + 48, mask + i + 48, payload + i + 48),
    );
    wrong = v128.or(wrong, v128.or(first, second));
  }
  return !v128.any_true(wrong);
}

/** Values of the runs into `row`. */
@inline
function gatherRuns(runs: usize, end: usize, payload: usize, row: usize): void {
  for (let run = runs; run < end; run += DUMP_RUN_BYTES) {
    gatherFloats(
      payload + <usize>load<u32>(run, DUMP_RUN.message), row + <usize>load<u32>(run, DUMP_RUN.row),
      load<u32>(run, DUMP_RUN.count),
    );
  }
}

/** No time has this value. */
const NO_TIME: u64 = 0xffffffffffffffff;

/**
 * The varint that [p, last) is, or NO_TIME: of 32 bits, it takes at most five bytes, of which only the last is below
 * 128.
 */
@inline
function timeOf(p: usize, last: usize): u64 {
  const bytes = load<u64>(p);
  let time: u64 = NO_TIME;
  if (last - p == 5) {
    // As the seconds of these decades are: all five at once.
    if ((bytes & 0x8080808080) == 0x80808080) {
      time = (bytes & 0x7f) | ((bytes >> 1) & 0x3f80) | ((bytes >> 2) & 0x1fc000) | ((bytes >> 3) & 0xfe00000) |
        ((bytes >> 4) & 0x7f0000000);
    }
  } else if (last - p < 5) {
    time = shortTime(p, last);
  }
  return time > 0xffffffff ? NO_TIME : time;
}

/** The varint that [p, last) is, or NO_TIME. */
function shortTime(p: usize, last: usize): u64 {
  let time: u64 = 0;
  let shift: u64 = 0;
  while (p < last) {
    const byte = load<u8>(p++);
    time |= <u64>(byte & 0x7f) << shift;
    if (byte < 0x80) return p == last ? time : NO_TIME;
    shift += 7;
  }
  return NO_TIME;
}

/**
 * Decodes the records of [bytes, end), at most `limit`: id, time and the words of a row of each, rows `rowStride` bytes
 * apart (0 = all into one place, for a check only). Up to 64 bytes beyond `end` are read. Returns how many there were;
 * progress[0] = where the next record begins, progress[1] = why it ended: 0 more bytes needed, 1 limit, 2 unusual.
 *
 * Payloads are not summed here. progress[2] is the checksum of the file up to `bytes`, and becomes the one up to
 * progress[0] if every record's stored one is right; the caller sums the bytes in one go, which processors have an
 * instruction for, and compares. A wrong byte changes that sum exactly when it changes its record's. Serving plans have
 * no fixed sizes to do this with: their records are summed here, and progress[2] stays.
 */
export function decodeEntries(
  plan: usize, bytes: usize, end: usize, limit: u32, ids: usize, times: usize, rows: usize, rowStride: usize,
  progress: usize,
): u32 {
  const t = <usize>load<u32>(plan, DUMP_PLAN.tables);
  const fixed = <usize>load<u32>(plan, DUMP_PLAN.fixedBytes);
  const template = <usize>load<u32>(plan, DUMP_PLAN.template), mask = <usize>load<u32>(plan, DUMP_PLAN.mask);
  const runs = plan + DUMP_PLAN_RUNS;
  const runsEnd = runs + <usize>load<u32>(plan, DUMP_PLAN.runs) * DUMP_RUN_BYTES;
  const shifts = <usize>load<u32>(plan, DUMP_PLAN.shifts);
  const skips = load<u32>(plan, DUMP_PLAN.skips) != 0;
  let at = bytes, row = rows;
  let count: u32 = 0, why = DECODE_END.full, expected = load<u32>(progress, DECODE_PROGRESS.crc);
  while (count < limit) {
    const left = end - at;
    if (left < 16) { why = DECODE_END.needsBytes; break; }
    const size = load<u64>(at, RECORD_FRAME.size);
    // Sizes that do not fit a u32 with a frame around them are no rows.
    if (size > 0x0fffffff || <usize>size <= fixed) { why = DECODE_END.unusual; break; }
    const payload = at + RECORD_FRAME.payload;
    const last = payload + <usize>size;
    const timeBytes = <usize>size - fixed;
    if (!skips && timeBytes > TIME_BYTES_MAX) { why = DECODE_END.unusual; break; }
    const sizeCrc = skips ? masked(crc32cBytes(t, at, 8, 0)) : load<u32>(plan + DUMP_SIZE_CRCS + (timeBytes << 2));
    if (load<u32>(at, RECORD_FRAME.sizeCrc) != sizeCrc) { why = DECODE_END.unusual; break; }
    if (left < <usize>size + 16) { why = DECODE_END.needsBytes; break; }
    if (!constantsMatch(template, mask, payload, fixed)) { why = DECODE_END.unusual; break; }
    const stored = load<u32>(last);
    let p = payload + fixed;
    if (skips) {
      if (stored != masked(crc32cBytes(t, payload, <u32>size, 0))) { why = DECODE_END.unusual; break; }
      p = skipField(p, last);
    }
    const time = timeOf(p, last);
    if (time == NO_TIME) { why = DECODE_END.unusual; break; }
    if (!skips) {
      const framed = framedCrc(t, load<u32>(plan + DUMP_HEADER_CRCS + (timeBytes << 2)), stored);
      expected = shifted(shifts + (timeBytes - 1) * CRC_SHIFT_BYTES, expected) ^ framed;
    }
    gatherRuns(runs, runsEnd, payload, row);
    store<u64>(ids + (<usize>count << 3), load<u64>(payload, ENTRY_ID));
    store<u32>(times + (<usize>count << 2), <u32>time);
    row += rowStride;
    count++;
    at = last + 4;
  }
  store<u32>(progress, <u32>at, DECODE_PROGRESS.next);
  store<u32>(progress, why, DECODE_PROGRESS.why);
  store<u32>(progress, expected, DECODE_PROGRESS.crc);
  return count;
}

/**
 * What a record adds to the checksum of the bytes before it: `header` is that of its header moved on by its payload,
 * which has the `stored` checksum. Both pass the four bytes of the footer, and so do these, all as one word.
 */
@inline
function framedCrc(t: usize, header: u32, stored: u32): u32 {
  const payloadCrc = rotl<u32>(stored - 0xa282ead8, 15);
  return ~word(t, header ^ payloadCrc ^ ~stored);
}

/**
 * Where the value of the time begins, past an optimizer field that a serving row does not keep; `last` when it is not
 * as usual.
 */
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
