/**
 * @file Plain TypeScript twins of assembly/ops: the meaning of each kernel, over the same pointers.
 *
 * Float results are the bits of the WASM version: one f32 rounding per operation, in the same order.
 */

import { POOLING_TYPE } from '../../../memory/kinds.js';
import { RECORD_WORDS, REORDER_INPUT, SHARD_SERVER } from '../../../memory/record-layout.js';
import type { Views } from '../../../memory/views.js';
import { uniqueI64 } from './sparse.js';

const { fround } = Math;

/** Server (unsigned id mod servers, high word) and position there (low word) of each id; counts per server. */
export function shardCountI64(m: Views, ids: number, n: number, servers: number, places: number, counts: number): void {
  m.u32.fill(0, counts / 4, counts / 4 + servers);
  for (let i = 0; i < n; i++) {
    const server = Number(m.u64[ids / 8 + i]! % BigInt(servers));
    m.u32[places / 4 + 2 * i] = m.u32[counts / 4 + server]!;
    m.u32[places / 4 + 2 * i + 1] = server;
    m.u32[counts / 4 + server] = m.u32[counts / 4 + server]! + 1;
  }
}

/** Stores ids at their positions of their servers' lists; out = server's high word, low word + position * scale. */
export function shardPlaceI64(
  m: Views,
  ids: number,
  n: number,
  places: number,
  servers: number,
  scale: number,
  out: number,
): void {
  for (let i = 0; i < n; i++) {
    const position = m.u32[places / 4 + 2 * i]!;
    const server = servers / 4 + m.u32[places / 4 + 2 * i + 1]! * RECORD_WORDS;
    m.i64[m.u32[server + SHARD_SERVER.list]! / 8 + position] = m.i64[ids / 8 + i]!;
    m.u32[out / 4 + 2 * i] = m.u32[server + SHARD_SERVER.low]! + position * scale;
    m.u32[out / 4 + 2 * i + 1] = m.u32[server + SHARD_SERVER.high]!;
  }
}

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

/** Rows of `dim` floats from fused[offset], for several outputs {offsets, rows, dim, out}. */
export function fusedGatherF32(m: Views, outputs: number, count: number, fused: number): void {
  forEachGathered(m, outputs, count, fused, (row, at) => {
    m.f32[row] = m.f32[at]!;
  });
}

/** fused[offset] += scale * row, for the same outputs. */
export function fusedGatherGradF32(m: Views, outputs: number, count: number, fused: number, scale: number): void {
  const factor = fround(scale);
  forEachGathered(m, outputs, count, fused, (row, at) => {
    m.f32[at] = m.f32[at]! + fround(factor * m.f32[row]!);
  });
}

function forEachGathered(
  m: Views,
  outputs: number,
  count: number,
  fused: number,
  visit: (row: number, at: number) => void,
): void {
  for (let k = 0; k < count; k++) {
    const record = outputs / 4 + k * RECORD_WORDS;
    const [offsets, rows, dim, out] = [...m.u32.subarray(record, record + 4)] as [number, number, number, number];
    for (let r = 0; r < rows; r++) {
      const at = fused / 4 + m.u32[offsets / 4 + r]!;
      for (let c = 0; c < dim; c++) visit(out / 4 + r * dim + c, at + c);
    }
  }
}

/** out[r, :] = sum over the rows of values from splits[r] to splits[r + 1], columns start .. start + dim. */
export function reduceSliceF32(
  m: Views,
  values: number,
  stride: number,
  splits: number,
  rows: number,
  start: number,
  dim: number,
  out: number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < dim; c++) {
      let sum = 0;
      for (let i = m.i32[splits / 4 + r]!; i < m.i32[splits / 4 + r + 1]!; i++) {
        sum = fround(sum + m.f32[values / 4 + i * stride + start + c]!);
      }
      m.f32[out / 4 + r * dim + c] = sum;
    }
  }
}

/** Gradient of reduceSliceF32: a copy of the gradient of its row for every value row. */
export function reduceSliceGradF32(
  m: Views,
  grad: number,
  splits: number,
  rows: number,
  start: number,
  dim: number,
  values: number,
  stride: number,
): void {
  for (let r = 0; r < rows; r++) {
    for (let i = m.i32[splits / 4 + r]!; i < m.i32[splits / 4 + r + 1]!; i++) {
      for (let c = 0; c < dim; c++) m.f32[values / 4 + i * stride + start + c] = m.f32[grad / 4 + r * dim + c]!;
    }
  }
}

/** Addresses of the rows of ids begin..end; the first id whose row is not in its source, or -1. */
export function layoutResolve(
  m: Views,
  fidOffset: number,
  begin: number,
  end: number,
  sources: number,
  sourceCount: number,
  dim: number,
  rows: number,
): number {
  for (let i = begin; i < end; i++) {
    const index = m.u32[fidOffset / 4 + 2 * i + 1]!;
    if (index >= sourceCount) return i;
    const source = sources / 4 + index * 4;
    const at = m.u32[fidOffset / 4 + 2 * i]! * m.u32[source + 2]!;
    if (at + dim > m.u32[source + 1]!) return i;
    m.u32[rows / 4 + i] = m.u32[source]! + at * 4;
  }
  return -1;
}

/** out[b, :] += the pooled columns of sample b; with FIRSTN the columns of its first ids, side by side. */
export function layoutForwardF32(
  m: Views,
  rows: number,
  samples: number,
  batch: number,
  shared: number,
  start: number,
  dim: number,
  pooling: number,
  limit: number,
  out: number,
  rowStride: number,
  positionStride: number,
): void {
  forEachPlace(m, rows, samples, batch, shared, pooling, limit, (b, k, count, row) => {
    const to = out / 4 + b * rowStride;
    for (let c = 0; c < dim; c++) {
      const x = m.f32[row / 4 + start + c]!;
      if (pooling === POOLING_TYPE.FIRSTN) m.f32[to + k * positionStride + c] = x;
      else m.f32[to + c] = m.f32[to + c]! + (pooling === POOLING_TYPE.MEAN ? fround(x / count) : x);
    }
  });
}

/** The rows get scale * the gradient of the places they went to; divided by the count with MEAN. */
export function layoutBackwardF32(
  m: Views,
  rows: number,
  samples: number,
  batch: number,
  shared: number,
  start: number,
  dim: number,
  pooling: number,
  limit: number,
  grad: number,
  rowStride: number,
  positionStride: number,
  scale: number,
): void {
  forEachPlace(m, rows, samples, batch, shared, pooling, limit, (b, k, count, row) => {
    const from = grad / 4 + b * rowStride + (pooling === POOLING_TYPE.FIRSTN ? k * positionStride : 0);
    for (let c = 0; c < dim; c++) {
      const g = fround(fround(scale) * m.f32[from + c]!);
      const at = row / 4 + start + c;
      m.f32[at] = m.f32[at]! + (pooling === POOLING_TYPE.MEAN ? fround(g / count) : g);
    }
  });
}

/** Calls `visit` with the row, position in it, count of ids and address of the embedding, in order. */
function forEachPlace(
  m: Views,
  rows: number,
  samples: number,
  batch: number,
  shared: number,
  pooling: number,
  limit: number,
  visit: (b: number, k: number, count: number, row: number) => void,
): void {
  for (let b = 0; b < batch; b++) {
    const sample = samples / 4 + (shared ? 0 : b);
    const first = m.i32[sample]!;
    const count = m.i32[sample + 1]! - first;
    const used = pooling === POOLING_TYPE.FIRSTN ? Math.min(count, limit) : count;
    for (let k = 0; k < used; k++) visit(b, k, count, m.u32[rows / 4 + first + k]!);
  }
}
