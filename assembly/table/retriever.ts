// What a lookup shows of a row, and what that does to the gradient: retrievers of training rows, compressors of serving
// rows. src/sparse/config/retriever.ts and float-compressor.ts say why there are any.
import {
  decodeFixedR8F32, decodeHalfF32, decodeOneBitF32, encodeFixedR8F32, encodeHalfF32, encodeOneBitF32, hashNetBackwardF32,
  hashNetForwardF32, quantizeFixedR8F32,
} from "../compress";

const RETRIEVE_FIXED_R8: u32 = 1;
export const RETRIEVE_ONE_BIT: u32 = 2;
const FP16: u32 = 1;
const FIXED_R8: u32 = 2;
const ONE_BIT: u32 = 3;
const SERVING: u32 = 1;

// @ts-ignore: decorator
@inline export function isServing(table: usize): bool {
  return (load<u32>(table, 36) & SERVING) != 0;
}

/** Gives a one_bit segment its scale for the global step, at multiples of its step size; other segments have none. */
export function renewScale(segment: usize): void {
  if (load<u32>(segment, 32) != RETRIEVE_ONE_BIT) return;
  const step = load<i64>(segment, 96);
  const stepSize = <i64>load<u32>(segment, 52);
  if (stepSize == 0 || step % stepSize != 0) return;
  const grown = <f64>load<f32>(segment, 44) * sqrt<f64>(1 + 0.005 * <f64>step);
  store<f32>(segment, <f32>min<f64>(grown, <f64>load<f32>(segment, 48)), 40);
}

/** Changes the gradient of a segment's weights as its retriever asks; fixed_r8 lets it pass. */
export function backward(segment: usize, w: usize, gradient: usize): void {
  if (load<u32>(segment, 32) != RETRIEVE_ONE_BIT) return;
  hashNetBackwardF32(w, gradient, load<i32>(segment), load<f32>(segment, 40), load<f32>(segment, 36));
}

/** out[0..n) = floats of the encoded bytes at `body`. */
export function decodeFloats(segment: usize, body: usize, out: usize, n: i32): void {
  const compressor = load<u32>(segment, 56);
  const amplitude = load<f32>(segment, 36);
  if (compressor == FP16) decodeHalfF32(body, out, n);
  else if (compressor == FIXED_R8) decodeFixedR8F32(body, out, n, amplitude);
  else if (compressor == ONE_BIT) decodeOneBitF32(body, out, n, amplitude);
  else memory.copy(out, body, <usize>n << 2);
}

export function encodeFloats(segment: usize, values: usize, body: usize, n: i32): void {
  const compressor = load<u32>(segment, 56);
  const amplitude = load<f32>(segment, 36);
  if (compressor == FP16) encodeHalfF32(values, body, n);
  else if (compressor == FIXED_R8) encodeFixedR8F32(values, body, n, amplitude);
  else if (compressor == ONE_BIT) encodeOneBitF32(values, body, n, load<f32>(segment, 44), amplitude);
  else memory.copy(body, values, <usize>n << 2);
}

/** Bytes of an encoded float. */
export function encodedBytes(segment: usize): usize {
  const compressor = load<u32>(segment, 56);
  return compressor == FP16 ? 2 : compressor == FIXED_R8 || compressor == ONE_BIT ? 1 : 4;
}

/** The body of a serving row of zeros. One_bit has no zero: it counts as below 0. */
export function encodeZeros(table: usize, row: usize): void {
  memory.fill(row, 0, <usize>load<u32>(table, 12));
  const segments = load<u32>(table, 16);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = table + 64 + (<usize>s << 7);
    if (load<u32>(segment, 56) == ONE_BIT) memory.fill(row + <usize>load<u32>(segment, 60), 0xff, load<u32>(segment));
  }
}

/** out[0..dim) = what a lookup shows of a row. */
export function showRow(table: usize, row: usize, out: usize): void {
  const serving = isServing(table);
  const segments = load<u32>(table, 16);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = table + 64 + (<usize>s << 7);
    const dim = load<i32>(segment);
    const offset = <usize>load<u32>(segment, 4) << 2;
    const retriever = load<u32>(segment, 32);
    const amplitude = load<f32>(segment, 36);
    if (serving) decodeFloats(segment, row + <usize>load<u32>(segment, 60), out + offset, dim);
    else if (retriever == RETRIEVE_FIXED_R8) quantizeFixedR8F32(row + offset, out + offset, dim, amplitude);
    else if (retriever == RETRIEVE_ONE_BIT) hashNetForwardF32(row + offset, out + offset, dim, load<f32>(segment, 40), amplitude);
    else memory.copy(out + offset, row + offset, <usize>dim << 2);
  }
}
