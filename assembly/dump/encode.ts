// Writes rows as records. Rows are taken in chunks: all slots are touched, then all rows, so that their misses overlap.
// Checksums are made for 16 rows at a time (lane-crc.ts).
import { touchLines } from "../table/find";
import { masked, next } from "./crc";
import { advanceRows, advanceRows4, advanceWord, beginLanes, endLanes, SET_BYTES, wordsOf } from "./lane-crc";

/** src/memory/dump-layout.ts sizes scratch memory by the same numbers. */
const CHUNK: u32 = 128;
const LANES: u32 = 16;

/** Copies `count` floats from words that follow each other to words 5 bytes apart. */
// @ts-ignore: decorator
@inline function spreadFloats(from: usize, to: usize, count: u32): void {
  let left = count;
  for (; left >= 4; left -= 4, from += 16, to += 20) {
    store<u32>(to, load<u32>(from));
    store<u32>(to, load<u32>(from, 4), 5);
    store<u32>(to, load<u32>(from, 8), 10);
    store<u32>(to, load<u32>(from, 12), 15);
  }
  for (; left > 0; left--, from += 4, to += 5) store<u32>(to, load<u32>(from));
}

// @ts-ignore: decorator
@inline function idAt(slot: usize): usize {
  return 2 * slot - (slot & ~63);
}

/** Writes one record and returns where it ends. `delta` is what id and floats add to the checksum of the template. */
function encodeEntry(plan: usize, slot: usize, delta: u32, out: usize): usize {
  const t = <usize>load<u32>(plan);
  const fixed = <usize>load<u32>(plan, 4);
  const payload = out + 12;
  const template = <usize>load<u32>(plan, 8);
  for (let i: usize = 0; i < fixed; i += 16) v128.store(payload + i, v128.load(template + i));
  store<u64>(payload, load<u64>(idAt(slot)), 1);
  const row = <usize>load<u32>(slot, 32);
  const runs = plan + 96;
  const end = runs + (<usize>load<u32>(plan, 16) << 4);
  for (let run = runs; run < end; run += 16) {
    spreadFloats(row + <usize>load<u32>(run), payload + <usize>load<u32>(run, 8), load<u32>(run, 4));
  }
  let crc = load<u32>(plan, 24) ^ delta;
  let at = payload + fixed;
  let time = load<u32>(slot, 48);
  for (; time >= 0x80; time >>>= 7, at++) {
    store<u8>(at, time | 0x80);
    crc = next(t, crc, (time & 0x7f) | 0x80);
  }
  store<u8>(at++, time);
  crc = next(t, crc, time);
  const size = at - payload;
  store<u64>(out, size);
  store<u32>(out, load<u32>(plan + 28 + ((size - fixed) << 2)), 8);
  store<u32>(at, masked(~crc));
  return at + 4;
}

/** What ids and floats of 16 rows add to the checksum of the template; returns where the 16 words are. */
function sumRows(plan: usize, slots: usize, rows: usize, work: usize): usize {
  const idSet = <usize>load<u32>(plan, 56);
  const set = idSet + SET_BYTES;
  const words = wordsOf(work);
  beginLanes(work);
  for (let half: usize = 0; half < 8; half += 4) {
    for (let lane: usize = 0; lane < 64; lane += 4) {
      store<u32>(words + lane, load<u32>(idAt(<usize>load<u32>(slots + lane)) + half));
    }
    advanceWord(half == 0 ? idSet : set, work, words);
  }
  const runs = plan + 96;
  const end = runs + (<usize>load<u32>(plan, 16) << 4);
  let last = set + SET_BYTES;
  for (let run = runs; run < end; run += 16, last += SET_BYTES) {
    let offset = <usize>load<u32>(run);
    let left = load<u32>(run, 4);
    for (; left >= 4; left -= 4, offset += 16) advanceRows4(set, left == 4 ? last : set, work, rows, offset);
    for (; left > 0; left--, offset += 4) advanceRows(left == 1 ? last : set, work, rows, offset);
  }
  return endLanes(work);
}

/**
 * Records of the rows of slots[0..n) from `out` on, where n times the record's largest size and 16 bytes more are free.
 * Returns their bytes. `scratch` has 2048 bytes.
 */
export function encodeEntries(plan: usize, slots: usize, n: u32, out: usize, scratch: usize): u32 {
  const rowBytes = <usize>load<u32>(plan, 20);
  const work = scratch + (<usize>CHUNK << 3);
  const own = scratch + (<usize>CHUNK << 2);
  let at = out;
  for (let start: u32 = 0; start < n; start += CHUNK) {
    const count = min(CHUNK, n - start);
    const padded = (count + LANES - 1) & ~(LANES - 1);
    const chunk = slots + (<usize>start << 2);
    // Lanes without a row of their own take the last one.
    for (let i: u32 = 0; i < padded; i++) {
      const slot = load<u32>(chunk + (<usize>min(i, count - 1) << 2));
      store<u32>(own + (<usize>i << 2), slot);
      store<u32>(scratch + (<usize>i << 2), load<u32>(<usize>slot, 32));
    }
    touchLines(scratch, count, rowBytes, (rowBytes & 63) == 0);
    for (let group: u32 = 0; group < count; group += LANES) {
      const first = <usize>group << 2;
      const deltas = sumRows(plan, own + first, scratch + first, work);
      const end = <usize>min(LANES, count - group) << 2;
      for (let i: usize = 0; i < end; i += 4) {
        at = encodeEntry(plan, <usize>load<u32>(own + first + i), load<u32>(deltas + i), at);
      }
    }
  }
  return <u32>(at - out);
}
