/**
 * @file Plain TypeScript twins of assembly/ops/layout: rows of features pooled and written side by side.
 *
 * Float results are the bits of the WASM version: one f32 rounding per operation, in the same order.
 */
import { POOLING_TYPE } from '../../../../memory/kinds.js';
import type { Views } from '../../../../memory/views.js';

const { fround } = Math;

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

/** A place of an embedding: its sample, its number among the ids of the sample, how many those are, its first float. */
interface Place {
  readonly sample: number;
  readonly k: number;
  readonly count: number;
  readonly from: number;
}

/** What both directions do: go through the places in order, where `side` has a row for each sample. */
interface Sides {
  readonly dim: number;
  readonly pooling: number;
  readonly side: number;
  readonly rowStride: number;
  readonly positionStride: number;
}

/** A walk over all places in order, as both directions are called. */
function walk<More extends readonly number[]>(visit: (m: Views, at: Place, sides: Sides, ...more: More) => void) {
  // biome-ignore format: the words of both kernels
  return (
    m: Views, rows: number, samples: number, batch: number, shared: number, start: number, dim: number,
    pooling: number, limit: number, side: number, rowStride: number, positionStride: number, ...more: More
  ): void => {
    const sides = { dim, pooling, side: side / 4, rowStride, positionStride };
    for (let b = 0; b < batch; b++) {
      const sample = samples / 4 + (shared ? 0 : b);
      const first = m.i32[sample]!;
      const count = m.i32[sample + 1]! - first;
      const used = pooling === POOLING_TYPE.FIRSTN ? Math.min(count, limit) : count;
      for (let k = 0; k < used; k++) {
        visit(m, { sample: b, k, count, from: m.u32[rows / 4 + first + k]! / 4 + start }, sides, ...more);
      }
    }
  };
}

/** Where a place is on the other side; with FIRSTN side by side with those of other ids. */
function across({ sample, k }: Place, { side, pooling, rowStride, positionStride }: Sides): number {
  return side + sample * rowStride + (pooling === POOLING_TYPE.FIRSTN ? k * positionStride : 0);
}

/** out[b, :] += the pooled columns of sample b; with FIRSTN the columns of its first ids, side by side. */
export const layoutForwardF32 = walk((m, at, sides) => {
  const to = across(at, sides);
  for (let c = 0; c < sides.dim; c++) {
    const x = m.f32[at.from + c]!;
    if (sides.pooling === POOLING_TYPE.FIRSTN) m.f32[to + c] = x;
    else m.f32[to + c] = m.f32[to + c]! + (sides.pooling === POOLING_TYPE.MEAN ? fround(x / at.count) : x);
  }
});

/** The rows get scale * the gradient of the places they went to; divided by the count with MEAN. */
export const layoutBackwardF32 = walk((m, at, sides, scale: number) => {
  const from = across(at, sides);
  for (let c = 0; c < sides.dim; c++) {
    const g = fround(fround(scale) * m.f32[from + c]!);
    const to = at.from + c;
    m.f32[to] = m.f32[to]! + (sides.pooling === POOLING_TYPE.MEAN ? fround(g / at.count) : g);
  }
});
