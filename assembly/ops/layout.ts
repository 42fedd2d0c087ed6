// Embeddings to layouts and back. Sums run per column in the order of the ids, whatever the vector width.
import { V1, WORD } from "../units";
import { LAYOUT_SOURCE, POOLING_TYPE, RECORD_BYTES } from "../generated/layouts";

/**
 * rows[i] = address of the row of id i for i in begin..end: fidOffset (u64) names a source in its high word and a place
 * in the low one. `sources` are LAYOUT_SOURCE records. Returns the first id whose row of
 * `dim` floats does not lie in its source, or -1.
 */
export function layoutResolve(
  fidOffset: usize, begin: i32, end: i32, sources: usize, sourceCount: u32, dim: u32, rows: usize,
): i32 {
  for (let i = begin; i < end; i++) {
    const word = load<u64>(fidOffset + (<usize>i << 3));
    const index = <u32>(word >> 32);
    if (index >= sourceCount) return i;
    const source = sources + <usize>index * RECORD_BYTES;
    const at = (word & 0xffffffff) * <u64>load<u32>(source, LAYOUT_SOURCE.unit);
    if (at + <u64>dim > <u64>load<u32>(source, LAYOUT_SOURCE.floats)) return i;
    store<u32>(rows + (<usize>i << 2), load<u32>(source, LAYOUT_SOURCE.address) + (<u32>at << 2));
  }
  return -1;
}

/**
 * out[b, :] += the pooled columns of sample b, or with FIRSTN = the columns of its first ids, positionStride apart.
 * `samples` (i32) holds the first id of each sample and the end of the last; a shared feature has one for all rows.
 * start and the strides are in floats.
 */
export function layoutForwardF32(
  rows: usize, samples: usize, batch: i32, shared: i32, start: u32, dim: i32, pooling: i32, limit: i32,
  out: usize, rowStride: u32, positionStride: u32,
): void {
  const step: usize = shared ? 0 : 4;
  const column = <usize>start << 2;
  const stride = <usize>rowStride << 2;
  for (let b: i32 = 0; b < batch; b++, samples += step, out += stride) {
    const first = load<i32>(samples);
    const count = load<i32>(samples, WORD) - first;
    const q = rows + (<usize>first << 2);
    if (pooling == POOLING_TYPE.FIRSTN) copyFirst(q, min(count, limit), column, dim, out, <usize>positionStride << 2);
    else if (pooling == POOLING_TYPE.MEAN) addPooled(q, count, column, dim, out, true);
    else addPooled(q, count, column, dim, out, false);
  }
}

@inline
function addPooled(rows: usize, count: i32, column: usize, dim: i32, out: usize, mean: bool): void {
  const n = <f32>count;
  const n4 = f32x4.splat(n);
  const end = rows + (<usize>count << 2);
  let c: i32 = 0;
  for (; c + 8 <= dim; c += 8, column += 32, out += 32) {
    let a = v128.load(out);
    let b = v128.load(out, V1);
    for (let q = rows; q < end; q += 4) {
      const row = <usize>load<u32>(q) + column;
      if (mean) {
        a = f32x4.add(a, f32x4.div(v128.load(row), n4));
        b = f32x4.add(b, f32x4.div(v128.load(row, V1), n4));
      } else {
        a = f32x4.add(a, v128.load(row));
        b = f32x4.add(b, v128.load(row, V1));
      }
    }
    v128.store(out, a);
    v128.store(out, b, V1);
  }
  for (; c + 4 <= dim; c += 4, column += 16, out += 16) {
    let a = v128.load(out);
    for (let q = rows; q < end; q += 4) {
      const x = v128.load(<usize>load<u32>(q) + column);
      a = f32x4.add(a, mean ? f32x4.div(x, n4) : x);
    }
    v128.store(out, a);
  }
  for (; c < dim; c++, column += 4, out += 4) {
    let a = load<f32>(out);
    for (let q = rows; q < end; q += 4) {
      const x = load<f32>(<usize>load<u32>(q) + column);
      a += mean ? x / n : x;
    }
    store<f32>(out, a);
  }
}

function copyFirst(rows: usize, used: i32, column: usize, dim: i32, out: usize, stride: usize): void {
  for (let k: i32 = 0; k < used; k++, rows += 4, out += stride) {
    let from = <usize>load<u32>(rows) + column;
    let to = out;
    let c: i32 = 0;
    for (; c + 4 <= dim; c += 4, from += 16, to += 16) v128.store(to, v128.load(from));
    for (; c < dim; c++, from += 4, to += 4) store<f32>(to, load<f32>(from));
  }
}

/** The rows (of gradients) get scale * the gradient of the places they went to; divided by the count with MEAN. */
export function layoutBackwardF32(
  rows: usize, samples: usize, batch: i32, shared: i32, start: u32, dim: i32, pooling: i32, limit: i32,
  grad: usize, rowStride: u32, positionStride: u32, scale: f32,
): void {
  const step: usize = shared ? 0 : 4;
  const column = <usize>start << 2;
  const stride = <usize>rowStride << 2;
  for (let b: i32 = 0; b < batch; b++, samples += step, grad += stride) {
    const first = load<i32>(samples);
    const count = load<i32>(samples, WORD) - first;
    const q = rows + (<usize>first << 2);
    if (pooling == POOLING_TYPE.FIRSTN) {
      addGradient(q, min(count, limit), column, dim, grad, <usize>positionStride << 2, scale, 1, false);
    }
    else if (pooling == POOLING_TYPE.MEAN) addGradient(q, count, column, dim, grad, 0, scale, <f32>count, true);
    else addGradient(q, count, column, dim, grad, 0, scale, 1, false);
  }
}

@inline
function addGradient(
  rows: usize, used: i32, column: usize, dim: i32, grad: usize, stride: usize, scale: f32, n: f32, mean: bool,
): void {
  const scale4 = f32x4.splat(scale);
  const n4 = f32x4.splat(n);
  for (let k: i32 = 0; k < used; k++, rows += 4, grad += stride) {
    let to = <usize>load<u32>(rows) + column;
    let from = grad;
    let c: i32 = 0;
    for (; c + 4 <= dim; c += 4, from += 16, to += 16) {
      let g = f32x4.mul(scale4, v128.load(from));
      if (mean) g = f32x4.div(g, n4);
      v128.store(to, f32x4.add(v128.load(to), g));
    }
    for (; c < dim; c++, from += 4, to += 4) {
      let g: f32 = scale * load<f32>(from);
      if (mean) g = g / n;
      store<f32>(to, load<f32>(to) + g);
    }
  }
}
