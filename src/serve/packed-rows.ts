/**
 * @file Columns of a segment as a tensor file has them: floats, halves, a byte each, or a sign each.
 *
 * What is read back is what a serving table of that compressor shows of the same floats, so that it makes no difference
 * to a prediction whether rows were packed in the file, in memory, or in both.
 */
import type { SafeDtype } from '../io/safetensors.js';
import type { PortableSegment } from '../portable/portable-tables.js';
import { halfFromF32, halfToF32 } from '../runtime/backends/reference/half.js';

type Packed = Float32Array | Uint16Array | Int8Array;

const KINDS = {
  fp32: { dtype: 'F32', make: (length: number) => new Float32Array(length) },
  fp16: { dtype: 'F16', make: (length: number) => new Uint16Array(length) },
  fixed_r8: { dtype: 'I8', make: (length: number) => new Int8Array(length) },
  one_bit: { dtype: 'I8', make: (length: number) => new Int8Array(length) },
} as const satisfies Record<PortableSegment['compressor'], { dtype: SafeDtype; make(length: number): Packed }>;

export const dtypeOf = ({ compressor }: PortableSegment): SafeDtype => KINDS[compressor].dtype;

/** An array for `rows` rows of the segment. */
export const packedArray = ({ compressor, dim }: PortableSegment, rows: number): Packed =>
  KINDS[compressor].make(rows * dim);

/** Puts the floats of a row into `packed`. */
export function packRow(segment: PortableSegment, floats: Float32Array, packed: Packed, row: number): void {
  const at = row * segment.dim;
  if (segment.compressor === 'fp32') {
    packed.set(floats, at);
    return;
  }
  const pack = packerOf(segment);
  for (let i = 0; i < segment.dim; i++) packed[at + i] = pack(floats[i]!);
}

function packerOf({ compressor, range = 1 }: PortableSegment): (value: number) => number {
  if (compressor === 'fp16') return halfFromF32;
  if (compressor === 'one_bit') return (value) => (value > 0 ? 1 : -1);
  const step = stepOf(range);
  const half = Math.fround(step / 2);
  return (value) => {
    if (Number.isNaN(value)) return 0;
    const away = Math.fround(value + (value >= 0 ? half : -half));
    return Math.min(127, Math.max(-128, Math.trunc(Math.fround(away / step))));
  };
}

const stepOf = (range: number): number => Math.fround(Math.fround(range) / 128);

/** The floats of packed columns, put into rows of `stride` floats from the column `first` on. */
export function unpackInto(
  segment: PortableSegment,
  packed: Packed,
  out: Float32Array,
  { first, stride }: { readonly first: number; readonly stride: number },
): void {
  const { dim } = segment;
  const unpack = unpackerOf(segment);
  const rows = packed.length / dim;
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < dim; i++) out[row * stride + first + i] = unpack(packed[row * dim + i]!);
  }
}

function unpackerOf({ compressor, range = 1, amplitude = 1 }: PortableSegment): (value: number) => number {
  if (compressor === 'fp32') return (value) => value;
  if (compressor === 'fp16') return halfToF32;
  const step = compressor === 'one_bit' ? amplitude : stepOf(range);
  return (value) => value * step;
}
