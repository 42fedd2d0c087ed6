// What a lookup shows of a row, and what that does to the gradient: retrievers of training rows, compressors of serving
// rows. src/sparse/config/retriever.ts and float-compressor.ts say why there are any.
import { segmentAt } from "./index";
import { COMPRESSOR, PARAMETER_BLOCK, RETRIEVER, SEGMENT, TABLE, TABLE_FLAG } from "../generated/layouts";
import { copyFloats } from "../sparse/rows";
import {
  decodeFixedR8F32, decodeHalfF32, decodeOneBitF32, encodeFixedR8F32, encodeHalfF32, encodeOneBitF32,
  hashNetBackwardF32,
  hashNetForwardF32, quantizeFixedR8F32,
} from "../compress";

@inline
export function isServing(table: usize): bool {
  return (load<u32>(table, TABLE.flags) & TABLE_FLAG.serving) != 0;
}

/** Gives a one_bit segment its scale for the global step, at multiples of its step size; other segments have none. */
export function renewScale(segment: usize): void {
  if (load<u32>(segment, SEGMENT.retriever) != RETRIEVER.oneBit) return;
  const step = load<i64>(segment, SEGMENT.parameters + PARAMETER_BLOCK.globalStep);
  const stepSize = <i64>load<u32>(segment, SEGMENT.stepSize);
  if (stepSize == 0 || step % stepSize != 0) return;
  const grown = <f64>load<f32>(segment, SEGMENT.initScale) * sqrt<f64>(1 + 0.005 * <f64>step);
  store<f32>(segment, <f32>min<f64>(grown, <f64>load<f32>(segment, SEGMENT.maxScale)), SEGMENT.scale);
}

/** Changes the gradient of a segment's weights as its retriever asks; fixed_r8 lets it pass. */
export function backward(segment: usize, w: usize, gradient: usize): void {
  if (load<u32>(segment, SEGMENT.retriever) != RETRIEVER.oneBit) return;
  hashNetBackwardF32(
    w, gradient, load<i32>(segment, SEGMENT.dim), load<f32>(segment, SEGMENT.scale),
    load<f32>(segment, SEGMENT.amplitude),
  );
}

/** out[0..n) = floats of the encoded bytes at `body`. */
export function decodeFloats(segment: usize, body: usize, out: usize, n: i32): void {
  const compressor = load<u32>(segment, SEGMENT.compressor);
  const amplitude = load<f32>(segment, SEGMENT.amplitude);
  if (compressor == COMPRESSOR.fp16) decodeHalfF32(body, out, n);
  else if (compressor == COMPRESSOR.fixedR8) decodeFixedR8F32(body, out, n, amplitude);
  else if (compressor == COMPRESSOR.oneBit) decodeOneBitF32(body, out, n, amplitude);
  else memory.copy(out, body, <usize>n << 2);
}

export function encodeFloats(segment: usize, values: usize, body: usize, n: i32): void {
  const compressor = load<u32>(segment, SEGMENT.compressor);
  const amplitude = load<f32>(segment, SEGMENT.amplitude);
  if (compressor == COMPRESSOR.fp16) encodeHalfF32(values, body, n);
  else if (compressor == COMPRESSOR.fixedR8) encodeFixedR8F32(values, body, n, amplitude);
  else if (compressor == COMPRESSOR.oneBit) {
    encodeOneBitF32(values, body, n, load<f32>(segment, SEGMENT.initScale), amplitude);
  }
  else memory.copy(body, values, <usize>n << 2);
}

/** Bytes of an encoded float. */
export function encodedBytes(segment: usize): usize {
  const compressor = load<u32>(segment, SEGMENT.compressor);
  return compressor == COMPRESSOR.fp16
    ? 2
    : compressor == COMPRESSOR.fixedR8 || compressor == COMPRESSOR.oneBit ? 1 : 4;
}

/** The body of a serving row of zeros. One_bit has no zero: it counts as below 0. */
export function encodeZeros(table: usize, row: usize): void {
  memory.fill(row, 0, <usize>load<u32>(table, TABLE.rowBytes));
  const segments = load<u32>(table, TABLE.segments);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = segmentAt(table, s);
    if (load<u32>(segment, SEGMENT.compressor) == COMPRESSOR.oneBit) {
      memory.fill(row + <usize>load<u32>(segment, SEGMENT.bodyOffset), 0xff, load<u32>(segment, SEGMENT.dim));
    }
  }
}

/** out[0..dim) = what a lookup shows of a row. */
export function showRow(table: usize, row: usize, out: usize): void {
  const serving = isServing(table);
  const segments = load<u32>(table, TABLE.segments);
  for (let s: u32 = 0; s < segments; s++) {
    const segment = segmentAt(table, s);
    const dim = load<i32>(segment, SEGMENT.dim);
    const offset = <usize>load<u32>(segment, SEGMENT.weightOffset) << 2;
    const retriever = load<u32>(segment, SEGMENT.retriever);
    const amplitude = load<f32>(segment, SEGMENT.amplitude);
    if (serving) decodeFloats(segment, row + <usize>load<u32>(segment, SEGMENT.bodyOffset), out + offset, dim);
    else if (retriever == RETRIEVER.fixedR8) quantizeFixedR8F32(row + offset, out + offset, dim, amplitude);
    else if (retriever == RETRIEVER.oneBit) {
      hashNetForwardF32(row + offset, out + offset, dim, load<f32>(segment, SEGMENT.scale), amplitude);
    }
    else copyFloats(row + offset, out + offset, <usize>dim << 2);
  }
}
