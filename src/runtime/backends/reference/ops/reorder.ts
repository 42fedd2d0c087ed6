/**
 * @file Plain TypeScript twins of assembly/ops/reorder: unique ids of many inputs, in the order of servers.
 */
import { RECORD_WORDS, REORDER_INPUT } from '../../../../memory/record-layout.js';
import type { Views } from '../../../../memory/views.js';
import { uniqueI64 } from '../sparse.js';

/** Unique ids of `count` inputs ordered by shard, input, first sight; see the kernel for the arrays. */
export function fusedReorderI64(
  m: Views,
  inputs: number,
  count: number,
  shards: number,
  skipFirst: number,
  table: number,
  tableMask: number,
  generation: number,
  uids: number,
  shardOfUid: number,
  floatOfUid: number,
  uniqueEnds: number,
  cells: number,
  cursors: number,
  output: number,
): number {
  const input = (k: number, word: keyof typeof REORDER_INPUT) =>
    m.u32[inputs / 4 + k * RECORD_WORDS + REORDER_INPUT[word]]!;
  const modulus = BigInt(shards - skipFirst);
  m.i32.fill(0, cells / 4, cells / 4 + shards * count);
  m.i32[uniqueEnds / 4] = 0;
  let total = 0;
  for (let k = 0; k < count; k++) {
    const before = total;
    total = uniqueI64(
      m,
      input(k, 'ids'),
      input(k, 'length'),
      table,
      tableMask,
      (generation + k) >>> 0,
      total,
      uids,
      input(k, 'offsets'),
    );
    if (total < 0) return -1;
    m.i32[uniqueEnds / 4 + k + 1] = total;
    for (let u = before; u < total; u++) {
      const rest = m.i64[uids / 8 + u]! % modulus;
      const shard = Number(rest < 0n ? rest + modulus : rest) + skipFirst;
      m.i32[shardOfUid / 4 + u] = shard;
      const cell = cells / 4 + shard * count + k;
      m.i32[cell] = m.i32[cell]! + 1;
    }
  }
  for (let k = 0; k < count; k++) {
    let ids = 0;
    let floats = 0;
    for (let cell = 0; cell < shards * count; cell++) {
      const size = m.i32[cells / 4 + cell]!;
      if (cell % count === k) {
        const shard = (cell - k) / count;
        m.i32[cursors / 4 + shard * 2] = ids;
        m.i32[cursors / 4 + shard * 2 + 1] = floats;
      }
      ids += size;
      floats += size * input(cell % count, 'dim');
    }
    for (let u = m.i32[uniqueEnds / 4 + k]!; u < m.i32[uniqueEnds / 4 + k + 1]!; u++) {
      const cursor = cursors / 4 + m.i32[shardOfUid / 4 + u]! * 2;
      m.i64[output / 8 + m.i32[cursor]!] = m.i64[uids / 8 + u]!;
      m.i32[floatOfUid / 4 + u] = m.i32[cursor + 1]!;
      m.i32[cursor] = m.i32[cursor]! + 1;
      m.i32[cursor + 1] = m.i32[cursor + 1]! + input(k, 'dim');
    }
    for (let i = 0; i < input(k, 'length'); i++) {
      const at = input(k, 'offsets') / 4 + i;
      m.i32[at] = m.i32[floatOfUid / 4 + m.i32[at]!]!;
    }
  }
  return total;
}

/** Unique keys per row and the float offsets of their occurrences; see the kernel for the arrays. */
export function uniqueKeyOffsetsI64(
  m: Views,
  keys: number,
  splits: number,
  rows: number,
  dims: number,
  table: number,
  tableMask: number,
  generation: number,
  uids: number,
  uniqueSplits: number,
  offsetSplits: number,
  offsets: number,
  inverse: number,
): number {
  const split = (r: number) => m.i32[splits / 4 + r]!;
  let total = 0;
  m.i32[uniqueSplits / 4] = 0;
  for (let r = 0; r < rows; r++) {
    const [from, n] = [split(r), split(r + 1) - split(r)];
    total = uniqueI64(m, keys + from * 8, n, table, tableMask, (generation + r) >>> 0, total, uids, inverse + from * 4);
    if (total < 0) return -1;
    m.i32[uniqueSplits / 4 + r + 1] = total;
  }
  const at = offsetSplits / 4;
  const keyOf = (i: number) => m.i32[inverse / 4 + i]!;
  m.i32.fill(0, at, at + total + 2);
  for (let i = 0; i < split(rows); i++) m.i32[at + keyOf(i) + 2] = m.i32[at + keyOf(i) + 2]! + 1;
  for (let u = 2; u < total + 2; u++) m.i32[at + u] = m.i32[at + u]! + m.i32[at + u - 1]!;
  let float = 0;
  for (let r = 0; r < rows; r++) {
    for (let i = split(r); i < split(r + 1); i++, float += m.i32[dims / 4 + r]!) {
      const cursor = at + keyOf(i) + 1;
      m.i32[offsets / 4 + m.i32[cursor]!] = float;
      m.i32[cursor] = m.i32[cursor]! + 1;
    }
  }
  return total;
}
