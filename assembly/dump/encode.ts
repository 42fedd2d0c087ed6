// Writes rows as records. Rows are taken in chunks: all slots are touched, then all rows, so that their misses overlap.
import { touchLines } from "../table/find";
import { masked, next, spaced1, spaced4, spaced8, zeros } from "./crc";

/** src/memory/dump-layout.ts sizes scratch memory by the same number. */
const CHUNK: u32 = 128;

/** Copies `count` floats from words that follow each other to words 5 bytes apart; returns the state after them. */
function encodeRun(t: usize, state: u32, from: usize, to: usize, count: u32): u32 {
  let crc = state;
  let left = count;
  for (; left >= 4; left -= 4, from += 16, to += 20) {
    const w = load<u32>(from), x = load<u32>(from, 4), y = load<u32>(from, 8), z = load<u32>(from, 12);
    store<u32>(to, w);
    store<u32>(to, x, 5);
    store<u32>(to, y, 10);
    store<u32>(to, z, 15);
    crc = spaced4(t, crc, w, x, y, z);
  }
  for (; left > 0; left--, from += 4, to += 5) {
    const w = load<u32>(from);
    store<u32>(to, w);
    crc = spaced1(t, crc, w);
  }
  return crc;
}

/** Writes one record and returns where it ends. */
function encodeEntry(plan: usize, slot: usize, out: usize): usize {
  const t = <usize>load<u32>(plan);
  const fixed = <usize>load<u32>(plan, 4);
  const payload = out + 12;
  const template = <usize>load<u32>(plan, 8);
  for (let i: usize = 0; i < fixed; i += 16) v128.store(payload + i, v128.load(template + i));
  const id = load<u64>(2 * slot - (slot & ~63));
  store<u64>(payload, id, 1);
  const row = <usize>load<u32>(slot, 32);
  let delta = spaced8(t, id);
  const runs = plan + 96;
  const end = runs + (<usize>load<u32>(plan, 16) << 4);
  for (let run = runs; run < end; run += 16) {
    delta = encodeRun(t, delta, row + <usize>load<u32>(run), payload + <usize>load<u32>(run, 8), load<u32>(run, 4));
    delta = zeros(t, delta, load<u32>(run, 12));
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

/**
 * Records of the rows of slots[0..n) from `out` on, where n times the record's largest size and 16 bytes more are free.
 * Returns their bytes. `scratch` has 512 bytes.
 */
export function encodeEntries(plan: usize, slots: usize, n: u32, out: usize, scratch: usize): u32 {
  const rowBytes = <usize>load<u32>(plan, 20);
  let at = out;
  for (let start: u32 = 0; start < n; start += CHUNK) {
    const count = min(CHUNK, n - start);
    const chunk = slots + (<usize>start << 2);
    for (let i: usize = 0; i < <usize>count << 2; i += 4) {
      store<u32>(scratch + i, load<u32>(<usize>load<u32>(chunk + i), 32));
    }
    touchLines(scratch, count, rowBytes, (rowBytes & 63) == 0);
    for (let i: usize = 0; i < <usize>count << 2; i += 4) at = encodeEntry(plan, <usize>load<u32>(chunk + i), at);
  }
  return <u32>(at - out);
}
