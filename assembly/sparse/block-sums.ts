// Sums of gradients per id in blocks. Not exported by the module.
//
// A chain of additions is off by as many roundings as it is long, and a slice can have an id in each of a million rows.
// So every 256th addition to the sum of an id moves it to a carry row of the id, and at the end the carry row is added
// to what came since. Only features with more than CHAIN_MAX ids in a call are summed so. src/memory/id-sums-layout.ts
// draws the scratch memory.
import { BLOCK_ADDITIONS, CARRIES, CARRY, CHAIN_MAX, ID_SUMS, TALLY, TALLY_BYTES } from "../generated/layouts";
import { addRow } from "../dense/loops";

/** Whether a feature with `count` ids in this call is summed in blocks. */
@inline
export function isInBlocks(scratch: usize, count: i64): bool {
  return scratch != 0 && count > CHAIN_MAX;
}

@inline
function tallyOf(scratch: usize, id: u32): usize {
  return <usize>load<u32>(scratch, ID_SUMS.tallies) + <usize>id * TALLY_BYTES;
}

/** Lays `scratch` out for at most `additions` of rows of `floats` floats to the sums of the `count` ids at `ids`. */
export function beginBlocks(scratch: usize, additions: i64, floats: i32, ids: usize, count: i32): void {
  const carryBytes = CARRY.sum + (<usize>((floats + 3) & ~3) << 2);
  const carries = scratch + CARRIES;
  store<u32>(scratch, <u32>(carries + <usize>(additions >> ctz(BLOCK_ADDITIONS)) * carryBytes), ID_SUMS.tallies);
  store<u32>(scratch, <u32>carries, ID_SUMS.next);
  store<u32>(scratch, <u32>carryBytes, ID_SUMS.carryBytes);
  store<u32>(scratch, floats, ID_SUMS.floats);
  for (const end = ids + (<usize>count << 2); ids < end; ids += 4) store<u64>(tallyOf(scratch, load<u32>(ids)), 0);
}

/** Notes that something was added to the sum of an id, which is at `sum`. */
@inline
export function noteAddition(scratch: usize, id: u32, sum: usize): void {
  const tally = tallyOf(scratch, id);
  const additions = load<u32>(tally, TALLY.additions) + 1;
  store<u32>(tally, additions, TALLY.additions);
  if ((additions & (BLOCK_ADDITIONS - 1)) == 0) carry(scratch, id, tally, sum);
}

function carry(scratch: usize, id: u32, tally: usize, sum: usize): void {
  const floats = load<i32>(scratch, ID_SUMS.floats);
  const bytes = <usize>floats << 2;
  const known = <usize>load<u32>(tally, TALLY.carry);
  if (known != 0) {
    addRow(sum, known + CARRY.sum, floats);
  } else {
    const row = <usize>load<u32>(scratch, ID_SUMS.next);
    store<u32>(scratch, <u32>row + load<u32>(scratch, ID_SUMS.carryBytes), ID_SUMS.next);
    store<u32>(tally, <u32>row, TALLY.carry);
    store<u32>(row, id, CARRY.id);
    memory.copy(row + CARRY.sum, sum, bytes);
  }
  memory.fill(sum, 0, bytes);
}

/** Adds the carry rows to the sums, of which there is one every `sumStep` bytes. */
export function endBlocks(scratch: usize, sums: usize, sumStep: usize): void {
  const step = <usize>load<u32>(scratch, ID_SUMS.carryBytes), floats = load<i32>(scratch, ID_SUMS.floats);
  const end = <usize>load<u32>(scratch, ID_SUMS.next);
  for (let row = scratch + CARRIES; row < end; row += step) {
    addRow(row + CARRY.sum, sums + <usize>load<u32>(row, CARRY.id) * sumStep, floats);
  }
}
