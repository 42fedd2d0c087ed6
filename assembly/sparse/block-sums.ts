// Sums of gradients per id in blocks. Not exported by the module.
//
// A chain of additions is off by as many roundings as it is long, and a slice can have an id in each of a million rows. So every
// 256th addition to the sum of an id moves it to a carry row of the id, and at the end the carry row is added to what came
// since. Only features with more than CHAIN_MAX ids in a call are summed so: up to there a chain is good enough, and faster.
//
// Scratch: | 0 address of the tallies | 1 end of the carry rows | 2 bytes of one | 3 floats of a sum |
//          | carry rows, one for each 256 additions | tallies |
// Carry row: | 0 id | 1-3 - | floats of the sum |   Tally of an id: | 0 additions | 1 address of its carry row |
import { addRow } from "../dense/loops";

const CHAIN_MAX: i64 = 4096;
const BLOCK_MASK: u32 = 255;
const HEADER_BYTES: usize = 16;

/** Whether a feature with `count` ids in this call is summed in blocks. */
@inline
export function isInBlocks(scratch: usize, count: i64): bool {
  return scratch != 0 && count > CHAIN_MAX;
}

@inline
function tallyOf(scratch: usize, id: u32): usize {
  return <usize>load<u32>(scratch) + (<usize>id << 3);
}

/** Lays `scratch` out for at most `additions` of rows of `floats` floats to the sums of the `count` ids at `ids`. */
export function beginBlocks(scratch: usize, additions: i64, floats: i32, ids: usize, count: i32): void {
  const carryBytes = HEADER_BYTES + (<usize>((floats + 3) & ~3) << 2);
  const carries = scratch + HEADER_BYTES;
  store<u32>(scratch, <u32>(carries + <usize>(additions >> 8) * carryBytes));
  store<u32>(scratch, <u32>carries, 4);
  store<u32>(scratch, <u32>carryBytes, 8);
  store<u32>(scratch, floats, 12);
  for (const end = ids + (<usize>count << 2); ids < end; ids += 4) store<u64>(tallyOf(scratch, load<u32>(ids)), 0);
}

/** Notes that something was added to the sum of an id, which is at `sum`. */
@inline
export function noteAddition(scratch: usize, id: u32, sum: usize): void {
  const tally = tallyOf(scratch, id);
  const additions = load<u32>(tally) + 1;
  store<u32>(tally, additions);
  if ((additions & BLOCK_MASK) == 0) carry(scratch, id, tally, sum);
}

function carry(scratch: usize, id: u32, tally: usize, sum: usize): void {
  const floats = load<i32>(scratch, 12);
  const bytes = <usize>floats << 2;
  const known = <usize>load<u32>(tally, 4);
  if (known != 0) {
    addRow(sum, known + HEADER_BYTES, floats);
  } else {
    const row = <usize>load<u32>(scratch, 4);
    store<u32>(scratch, <u32>row + load<u32>(scratch, 8), 4);
    store<u32>(tally, <u32>row, 4);
    store<u32>(row, id);
    memory.copy(row + HEADER_BYTES, sum, bytes);
  }
  memory.fill(sum, 0, bytes);
}

/** Adds the carry rows to the sums, of which there is one every `sumStep` bytes. */
export function endBlocks(scratch: usize, sums: usize, sumStep: usize): void {
  const step = <usize>load<u32>(scratch, 8), floats = load<i32>(scratch, 12);
  const end = <usize>load<u32>(scratch, 4);
  for (let row = scratch + HEADER_BYTES; row < end; row += step) {
    addRow(row + HEADER_BYTES, sums + <usize>load<u32>(row) * sumStep, floats);
  }
}
