// Rows of one fused vector, for several outputs at once, and reductions of several inputs into slices.
import { WORD } from "../units";
import { GATHER_OUTPUT, RECORD_BYTES } from "../generated/layouts";

/**
 * For each of `count` outputs copies rows of `dim` floats from fused[offset]; they are GATHER_OUTPUT records.
 */
export function fusedGatherF32(outputs: usize, count: i32, fused: usize): void {
  for (let m: i32 = 0; m < count; m++, outputs += RECORD_BYTES) {
    let q = <usize>load<u32>(outputs, GATHER_OUTPUT.offsets);
    const end = q + (<usize>load<u32>(outputs, GATHER_OUTPUT.rows) << 2);
    const dim = load<i32>(outputs, GATHER_OUTPUT.dim);
    let to = <usize>load<u32>(outputs, GATHER_OUTPUT.to);
    for (; q < end; q += 4) {
      let from = fused + (<usize>load<u32>(q) << 2);
      let c: i32 = 0;
      for (; c + 4 <= dim; c += 4, from += 16, to += 16) v128.store(to, v128.load(from));
      for (; c < dim; c++, from += 4, to += 4) store<f32>(to, load<f32>(from));
    }
  }
}

/** fused[offset] += scale * row, for the same outputs, in order; the last word of each is its gradient. */
export function fusedGatherGradF32(outputs: usize, count: i32, fused: usize, scale: f32): void {
  const scale4 = f32x4.splat(scale);
  for (let m: i32 = 0; m < count; m++, outputs += RECORD_BYTES) {
    let q = <usize>load<u32>(outputs, GATHER_OUTPUT.offsets);
    const end = q + (<usize>load<u32>(outputs, GATHER_OUTPUT.rows) << 2);
    const dim = load<i32>(outputs, GATHER_OUTPUT.dim);
    let from = <usize>load<u32>(outputs, GATHER_OUTPUT.to);
    for (; q < end; q += 4) {
      let to = fused + (<usize>load<u32>(q) << 2);
      let c: i32 = 0;
      for (; c + 4 <= dim; c += 4, from += 16, to += 16) {
        v128.store(to, f32x4.add(v128.load(to), f32x4.mul(scale4, v128.load(from))));
      }
      for (; c < dim; c++, from += 4, to += 4) store<f32>(to, load<f32>(to) + scale * load<f32>(from));
    }
  }
}

/**
 * One slice of the row sums of one input: out[r, :] = sum over the rows splits[r]..splits[r + 1) of values of the `dim`
 * columns from `start`. Strides are in floats, splits are i32.
 */
export function reduceSliceF32(
  values: usize, stride: u32, splits: usize, rows: i32, start: u32, dim: i32, out: usize,
): void {
  const step = <usize>stride << 2;
  const column = <usize>start << 2;
  for (let r: i32 = 0; r < rows; r++, splits += 4) {
    const begin = values + <usize>load<u32>(splits) * step + column;
    const end = values + <usize>load<u32>(splits, WORD) * step + column;
    let c: i32 = 0;
    let from = begin;
    for (; c + 4 <= dim; c += 4, from += 16, out += 16) {
      let a = f32x4.splat(0);
      const over = end + (<usize>c << 2);
      for (let q = from; q < over; q += step) a = f32x4.add(a, v128.load(q));
      v128.store(out, a);
    }
    for (; c < dim; c++, from += 4, out += 4) {
      let a: f32 = 0;
      const over = end + (<usize>c << 2);
      for (let q = from; q < over; q += step) a += load<f32>(q);
      store<f32>(out, a);
    }
  }
}

/** Gradient of reduceSliceF32: the columns of every row get a copy of the gradient of the row they were summed into. */
export function reduceSliceGradF32(
  grad: usize, splits: usize, rows: i32, start: u32, dim: i32, values: usize, stride: u32,
): void {
  const step = <usize>stride << 2;
  const column = <usize>start << 2;
  for (let r: i32 = 0; r < rows; r++, splits += 4, grad += <usize>dim << 2) {
    let row = values + <usize>load<u32>(splits) * step + column;
    const end = values + <usize>load<u32>(splits, WORD) * step + column;
    for (; row < end; row += step) {
      let c: i32 = 0;
      let from = grad;
      let to = row;
      for (; c + 4 <= dim; c += 4, from += 16, to += 16) v128.store(to, v128.load(from));
      for (; c < dim; c++, from += 4, to += 4) store<f32>(to, load<f32>(from));
    }
  }
}
