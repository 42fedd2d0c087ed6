// Writes rows as records. Rows are taken in chunks: all slots are touched, then all rows, so that their misses overlap.
// Checksums are made for 16 rows at a time (lane-crc.ts).
import { WORD } from "../units";
import {
  DUMP_PLAN, DUMP_PLAN_RUNS, DUMP_RUN, DUMP_RUN_BYTES, DUMP_SIZE_CRCS, ENCODE_CHUNK, ENTRY_ID, LANE_SET_BYTES,
  RECORD_FRAME, SLOT, TAGGED_FLOAT_BYTES,
} from "../generated/layouts";
import { touchLines } from "../table/find";
import { masked, next } from "./crc";
import { advanceRows, advanceRows4, advanceWord, beginLanes, endLanes, wordsOf } from "./lane-crc";

const LANES: u32 = 16;

/** Copies `count` floats from words that follow each other to words 5 bytes apart. */
@inline
function spreadFloats(from: usize, to: usize, count: u32): void {
  let left = count;
  for (; left >= 4; left -= 4, from += 16, to += 4 * TAGGED_FLOAT_BYTES) {
    store<u32>(to, load<u32>(from));
    store<u32>(to, load<u32>(from, WORD), TAGGED_FLOAT_BYTES);
    store<u32>(to, load<u32>(from, 2 * WORD), 2 * TAGGED_FLOAT_BYTES);
    store<u32>(to, load<u32>(from, 3 * WORD), 3 * TAGGED_FLOAT_BYTES);
  }
  for (; left > 0; left--, from += 4, to += TAGGED_FLOAT_BYTES) store<u32>(to, load<u32>(from));
}

@inline
function idAt(slot: usize): usize {
  return 2 * slot - (slot & ~63);
}

/** Writes one record and returns where it ends. `delta` is what id and floats add to the checksum of the template. */
function encodeEntry(plan: usize, slot: usize, delta: u32, out: usize): usize {
  const t = <usize>load<u32>(plan, DUMP_PLAN.tables);
  const fixed = <usize>load<u32>(plan, DUMP_PLAN.fixedBytes);
  const payload = out + RECORD_FRAME.payload;
  const template = <usize>load<u32>(plan, DUMP_PLAN.template);
  for (let i: usize = 0; i < fixed; i += 16) v128.store(payload + i, v128.load(template + i));
  store<u64>(payload, load<u64>(idAt(slot)), ENTRY_ID);
  const row = <usize>load<u32>(slot, SLOT.row);
  const runs = plan + DUMP_PLAN_RUNS;
  const end = runs + <usize>load<u32>(plan, DUMP_PLAN.runs) * DUMP_RUN_BYTES;
  for (let run = runs; run < end; run += DUMP_RUN_BYTES) {
    spreadFloats(
      row + <usize>load<u32>(run, DUMP_RUN.row), payload + <usize>load<u32>(run, DUMP_RUN.message),
      load<u32>(run, DUMP_RUN.count),
    );
  }
  let crc = load<u32>(plan, DUMP_PLAN.templateCrc) ^ delta;
  let at = payload + fixed;
  let time = load<u32>(slot, SLOT.time);
  for (; time >= 0x80; time >>>= 7, at++) {
    store<u8>(at, time | 0x80);
    crc = next(t, crc, (time & 0x7f) | 0x80);
  }
  store<u8>(at++, time);
  crc = next(t, crc, time);
  const size = at - payload;
  store<u64>(out, size, RECORD_FRAME.size);
  store<u32>(out, load<u32>(plan + DUMP_SIZE_CRCS + ((size - fixed) << 2)), RECORD_FRAME.sizeCrc);
  store<u32>(at, masked(~crc));
  return at + 4;
}

/** What ids and floats of 16 rows add to the checksum of the template; returns where the 16 words are. */
function sumRows(plan: usize, slots: usize, rows: usize, work: usize): usize {
  const idSet = <usize>load<u32>(plan, DUMP_PLAN.laneSets);
  const set = idSet + LANE_SET_BYTES;
  const words = wordsOf(work);
  beginLanes(work);
  for (let half: usize = 0; half < 8; half += 4) {
    for (let lane: usize = 0; lane < 64; lane += 4) {
      store<u32>(words + lane, load<u32>(idAt(<usize>load<u32>(slots + lane)) + half));
    }
    advanceWord(half == 0 ? idSet : set, work, words);
  }
  const runs = plan + DUMP_PLAN_RUNS;
  const end = runs + <usize>load<u32>(plan, DUMP_PLAN.runs) * DUMP_RUN_BYTES;
  let last = set + LANE_SET_BYTES;
  for (let run = runs; run < end; run += DUMP_RUN_BYTES, last += LANE_SET_BYTES) {
    let offset = <usize>load<u32>(run, DUMP_RUN.row);
    let left = load<u32>(run, DUMP_RUN.count);
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
  const rowBytes = <usize>load<u32>(plan, DUMP_PLAN.rowBytes);
  const work = scratch + (<usize>ENCODE_CHUNK << 3);
  const own = scratch + (<usize>ENCODE_CHUNK << 2);
  let at = out;
  for (let start: u32 = 0; start < n; start += ENCODE_CHUNK) {
    const count = min(ENCODE_CHUNK, n - start);
    const padded = (count + LANES - 1) & ~(LANES - 1);
    const chunk = slots + (<usize>start << 2);
    // Lanes without a row of their own take the last one.
    for (let i: u32 = 0; i < padded; i++) {
      const slot = load<u32>(chunk + (<usize>min(i, count - 1) << 2));
      store<u32>(own + (<usize>i << 2), slot);
      store<u32>(scratch + (<usize>i << 2), load<u32>(<usize>slot, SLOT.row));
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
