/** @file Plain twin of assembly/table/retriever.ts and retrieve.ts: what a lookup shows of a row. */
import { PARAMETER_BLOCK } from '../../../memory/optimizer-layout.js';
import {
  COMPRESSOR,
  RETRIEVER,
  SEGMENT,
  SEGMENT_WORDS,
  SEGMENTS,
  TABLE,
  TABLE_FLAG,
} from '../../../memory/table-layout.js';
import type { Views } from '../../../memory/views.js';
import { KERNEL } from '../../kernels/kernels.js';
import {
  decodeFixedR8F32,
  decodeHalfF32,
  decodeOneBitF32,
  encodeFixedR8F32,
  encodeHalfF32,
  encodeOneBitF32,
  hashNetBackwardF32,
  hashNetForwardF32,
  quantizeFixedR8F32,
} from './compress.js';
import { findSlot, ROW } from './table-index.js';
import { twin } from './twin.js';

/** Word index of each segment. */
export function* segmentsOf(m: Views, table: number): Generator<number> {
  const count = m.u32[table / 4 + TABLE.segments]!;
  for (let s = 0; s < count; s++) yield table / 4 + SEGMENTS + s * SEGMENT_WORDS;
}

export function isServing(m: Views, table: number): boolean {
  return (m.u32[table / 4 + TABLE.flags]! & TABLE_FLAG.serving) !== 0;
}

/** The retriever's part of a step: a new scale when it is due, then the gradient. */
export function backward(m: Views, segment: number, w: number, gradient: number): void {
  if (m.u32[segment + SEGMENT.retriever] !== RETRIEVER.oneBit) return;
  const step = m.i64[((segment + SEGMENT.parameters) * 4 + PARAMETER_BLOCK.globalStep) / 8]!;
  const stepSize = BigInt(m.u32[segment + SEGMENT.stepSize]!);
  if (stepSize !== 0n && step % stepSize === 0n) {
    const grown = m.f32[segment + SEGMENT.initScale]! * Math.sqrt(1 + 0.005 * Number(step));
    m.f32[segment + SEGMENT.scale] = Math.min(grown, m.f32[segment + SEGMENT.maxScale]!);
  }
  const scale = m.f32[segment + SEGMENT.scale]!;
  hashNetBackwardF32(m, w, gradient, m.u32[segment + SEGMENT.dim]!, scale, m.f32[segment + SEGMENT.amplitude]!);
}

export function decodeFloats(m: Views, segment: number, body: number, out: number, n: number): void {
  const amplitude = m.f32[segment + SEGMENT.amplitude]!;
  const compressor = m.u32[segment + SEGMENT.compressor];
  if (compressor === COMPRESSOR.fp16) decodeHalfF32(m, body, out, n);
  else if (compressor === COMPRESSOR.fixedR8) decodeFixedR8F32(m, body, out, n, amplitude);
  else if (compressor === COMPRESSOR.oneBit) decodeOneBitF32(m, body, out, n, amplitude);
  else m.u8.copyWithin(out, body, body + n * 4);
}

export function encodeFloats(m: Views, segment: number, values: number, body: number, n: number): void {
  const amplitude = m.f32[segment + SEGMENT.amplitude]!;
  const compressor = m.u32[segment + SEGMENT.compressor];
  const scale = m.f32[segment + SEGMENT.initScale]!;
  if (compressor === COMPRESSOR.fp16) encodeHalfF32(m, values, body, n);
  else if (compressor === COMPRESSOR.fixedR8) encodeFixedR8F32(m, values, body, n, amplitude);
  else if (compressor === COMPRESSOR.oneBit) encodeOneBitF32(m, values, body, n, scale, amplitude);
  else m.u8.copyWithin(body, values, values + n * 4);
}

/** Bytes of an encoded float. */
export function encodedBytes(m: Views, segment: number): number {
  const compressor = m.u32[segment + SEGMENT.compressor];
  return compressor === COMPRESSOR.fp32 ? 4 : compressor === COMPRESSOR.fp16 ? 2 : 1;
}

export function encodeZeros(m: Views, table: number, row: number): void {
  m.u8.fill(0, row, row + m.u32[table / 4 + TABLE.rowBytes]!);
  for (const segment of segmentsOf(m, table)) {
    const body = row + m.u32[segment + SEGMENT.bodyOffset]!;
    const isOneBit = m.u32[segment + SEGMENT.compressor] === COMPRESSOR.oneBit;
    if (isOneBit) m.u8.fill(0xff, body, body + m.u32[segment + SEGMENT.dim]!);
  }
}

/** Writes what a lookup shows of the row at `row`. */
export function showRow(m: Views, table: number, row: number, out: number): void {
  for (const segment of segmentsOf(m, table)) {
    const dim = m.u32[segment + SEGMENT.dim]!;
    const offset = m.u32[segment + SEGMENT.weightOffset]! * 4;
    const [weights, to] = [row + offset, out + offset];
    const retriever = m.u32[segment + SEGMENT.retriever];
    const amplitude = m.f32[segment + SEGMENT.amplitude]!;
    if (isServing(m, table)) decodeFloats(m, segment, row + m.u32[segment + SEGMENT.bodyOffset]!, to, dim);
    else if (retriever === RETRIEVER.fixedR8) quantizeFixedR8F32(m, weights, to, dim, amplitude);
    else if (retriever === RETRIEVER.oneBit) {
      hashNetForwardF32(m, weights, to, dim, m.f32[segment + SEGMENT.scale]!, amplitude);
    } else m.u8.copyWithin(to, weights, weights + dim * 4);
  }
}

/** Shows the row of `id`, or zeros; true when there is one. */
export function showId(m: Views, table: number, id: bigint, out: number): boolean {
  const slot = findSlot(m, table, id);
  if (slot !== 0) showRow(m, table, m.u32[slot / 4 + ROW]!, out);
  else m.f32.fill(0, out / 4, out / 4 + m.u32[table / 4 + TABLE.dim]!);
  return slot !== 0;
}

export const tableRetrieve = twin(KERNEL.tableRetrieve, (m, { table, ids, n, out, outStride }) => {
  let found = 0;
  for (let i = 0; i < n; i++) if (showId(m, table, m.i64[ids / 8 + i]!, out + i * outStride * 4)) found++;
  return found;
});
