// Unique ids with the places their embeddings go to.
import { WORD } from "../units";
import { RECORD_BYTES, REORDER_INPUT } from "../generated/layouts";
import { uniqueI64 } from "../sparse/unique";

/** floorMod of the signed id, or with `skip` of the shards but the first. */
@inline
function shardOf(id: i64, shards: i64, skip: i32): i32 {
  const rest = id % shards;
  return <i32>(rest < 0 ? rest + shards : rest) + skip;
}

/**
 * Unique ids of `count` inputs ordered by shard, then input, then first sight; inputs are REORDER_INPUT
 * records.
 * uids, shardOfUid (i32) and floatOfUid (i32) hold as many entries as there are ids in all inputs, uniqueEnds (i32)
 * count + 1, cells (i32) shards * count, cursors (i32) shards * 2. cells becomes the ids per (shard, input), output the
 * ordered ids, offsets the float at which the embedding of each position starts. Generations generation.. +count-1 of
 * the table are used up. Returns the number of unique ids, or -1 when the table is too small.
 */
export function fusedReorderI64(
  inputs: usize, count: i32, shards: i32, skipFirst: i32, table: usize, tableMask: u32, generation: u32,
  uids: usize, shardOfUid: usize, floatOfUid: usize, uniqueEnds: usize, cells: usize, cursors: usize, output: usize,
): i32 {
  memory.fill(cells, 0, <usize>(shards * count) << 2);
  const modulus = <i64>(shards - skipFirst);
  let total: i32 = 0;
  store<i32>(uniqueEnds, 0);
  for (let m: i32 = 0; m < count; m++) {
    const input = inputs + <usize>m * RECORD_BYTES;
    const before = total;
    total = uniqueI64(
      <usize>load<u32>(input, REORDER_INPUT.ids), load<i32>(input, REORDER_INPUT.length), table, tableMask,
      generation + m, total, uids, <usize>load<u32>(input, REORDER_INPUT.offsets),
    );
    if (total < 0) return -1;
    store<i32>(uniqueEnds + (<usize>(m + 1) << 2), total);
    for (let u = before; u < total; u++) {
      const shard = shardOf(load<i64>(uids + (<usize>u << 3)), modulus, skipFirst);
      store<i32>(shardOfUid + (<usize>u << 2), shard);
      const cell = cells + (<usize>(shard * count + m) << 2);
      store<i32>(cell, load<i32>(cell) + 1);
    }
  }
  placeUnique(inputs, count, shards, uids, shardOfUid, floatOfUid, uniqueEnds, cells, cursors, output);
  return total;
}

/**
 * Positions and floats from the cell sizes; the two cursors of a shard are the next id and the next float of its cell.
 */
function placeUnique(
  inputs: usize, count: i32, shards: i32, uids: usize, shardOfUid: usize, floatOfUid: usize, uniqueEnds: usize,
  cells: usize, cursors: usize, output: usize,
): void {
  for (let m: i32 = 0; m < count; m++) {
    const input = inputs + <usize>m * RECORD_BYTES;
    const dim = load<i32>(input, REORDER_INPUT.dim);
    // Walk all cells once per input: the floats before a cell depend on the widths of every input.
    let ids: i32 = 0;
    let floats: i32 = 0;
    for (let shard: i32 = 0; shard < shards; shard++) {
      for (let other: i32 = 0; other < count; other++) {
        const cell = <usize>(shard * count + other) << 2;
        const size = load<i32>(cells + cell);
        if (other == m) {
          store<i32>(cursors + (<usize>shard << 3), ids);
          store<i32>(cursors + (<usize>shard << 3), floats, WORD);
        }
        ids += size;
        floats += size * load<i32>(inputs + <usize>other * RECORD_BYTES, REORDER_INPUT.dim);
      }
    }
    const end = load<i32>(uniqueEnds + (<usize>(m + 1) << 2));
    for (let u = load<i32>(uniqueEnds + (<usize>m << 2)); u < end; u++) {
      const cursor = cursors + (<usize>load<i32>(shardOfUid + (<usize>u << 2)) << 3);
      const at = load<i32>(cursor);
      const float = load<i32>(cursor, WORD);
      store<i64>(output + (<usize>at << 3), load<i64>(uids + (<usize>u << 3)));
      store<i32>(floatOfUid + (<usize>u << 2), float);
      store<i32>(cursor, at + 1);
      store<i32>(cursor, float + dim, WORD);
    }
    const offsets = <usize>load<u32>(input, REORDER_INPUT.offsets);
    const last = offsets + (<usize>load<u32>(input, REORDER_INPUT.length) << 2);
    for (let q = offsets; q < last; q += 4) store<i32>(q, load<i32>(floatOfUid + (<usize>load<u32>(q) << 2)));
  }
}

/**
 * Unique keys per row, and for each the float offsets of its occurrences. Row r has keys splits[r]..splits[r + 1) (i32,
 * from 0) and values of width dims[r]. uniqueSplits (i32) gets rows + 1 entries, offsetSplits (i32) one more than there
 * are unique keys; it needs room for one entry more than that. offsets (i32) and inverse (i32, scratch) hold an entry
 * per key. Generations generation.. +rows-1 are used up. Returns the number of unique keys, or -1 when the table is too
 * small.
 */
export function uniqueKeyOffsetsI64(
  keys: usize, splits: usize, rows: i32, dims: usize, table: usize, tableMask: u32, generation: u32,
  uids: usize, uniqueSplits: usize, offsetSplits: usize, offsets: usize, inverse: usize,
): i32 {
  let total: i32 = 0;
  store<i32>(uniqueSplits, 0);
  for (let r: i32 = 0; r < rows; r++) {
    const begin = load<i32>(splits + (<usize>r << 2));
    const n = load<i32>(splits + (<usize>r << 2), WORD) - begin;
    total = uniqueI64(
      keys + (<usize>begin << 3), n, table, tableMask, generation + r, total, uids, inverse + (<usize>begin << 2),
    );
    if (total < 0) return -1;
    store<i32>(uniqueSplits + (<usize>(r + 1) << 2), total);
  }
  const count = load<i32>(splits + (<usize>rows << 2));
  // Counts two entries ahead, so that after the sums entry u + 1 is the cursor of key u and ends as the split after it.
  memory.fill(offsetSplits, 0, <usize>(total + 2) << 2);
  for (let i: i32 = 0; i < count; i++) {
    const at = offsetSplits + (<usize>load<u32>(inverse + (<usize>i << 2)) << 2);
    store<i32>(at, load<i32>(at, 2 * WORD) + 1, 2 * WORD);
  }
  for (let u: i32 = 2; u < total + 2; u++) {
    const at = offsetSplits + (<usize>u << 2);
    store<i32>(at, load<i32>(at) + load<i32>(at - 4));
  }
  let float: i32 = 0;
  for (let r: i32 = 0; r < rows; r++) {
    const dim = load<i32>(dims + (<usize>r << 2));
    const end = load<i32>(splits + (<usize>r << 2), WORD);
    for (let i = load<i32>(splits + (<usize>r << 2)); i < end; i++, float += dim) {
      const cursor = offsetSplits + (<usize>load<u32>(inverse + (<usize>i << 2)) << 2);
      const at = load<i32>(cursor, WORD);
      store<i32>(offsets + (<usize>at << 2), float);
      store<i32>(cursor, at + 1, WORD);
    }
  }
  return total;
}
