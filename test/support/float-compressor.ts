/**
 * @file Float compressors: how the weights of a segment are kept for serving.
 *
 * Mirrors runtime/hash_table/compressor. Bytes and floats are in shared memory; the work is in assembly/compress.
 */
import { MonolithError } from '../../src/base/errors.js';
import { printMessage, valueOr } from '../../src/io/message.js';
import type { CompressKernels } from '../../src/runtime/backends/wasm/calls/compress.js';
import {
  FloatCompressorConfigMessage,
  type FloatCompressorMessage,
  OneBitMessage,
} from '../../src/sparse/config/config-messages.js';

export interface FloatCompressor {
  readonly dim: number;
  /** Bytes of an encoded segment. */
  readonly sizeBytes: number;
  /** For example `Fp16(D=8)`. */
  readonly name: string;
  /** Encodes `dim` floats at `src`. */
  encode(src: number, dst: number): void;
  decode(src: number, dst: number): void;
}

export interface CompressorMemory {
  readonly kernels: CompressKernels;
  /** All bytes of the memory the pointers are of. */
  readonly bytes: Uint8Array;
}

/** ML_COMPRESSOR when no type is set. */
export function makeCompressor(config: FloatCompressorMessage, dim: number, memory: CompressorMemory): FloatCompressor {
  const { kernels, bytes } = memory;
  const { fp32, fp16, fixedR8, oneBit } = config;
  if (fp32 !== undefined) {
    const copy = (src: number, dst: number) => void bytes.copyWithin(dst, src, src + dim * 4);
    return { dim, sizeBytes: dim * 4, name: `Fp32(D=${dim})`, encode: copy, decode: copy };
  }
  if (fp16 !== undefined) {
    return {
      dim,
      sizeBytes: dim * 2,
      name: `Fp16(D=${dim})`,
      encode: (src, dst) => kernels.encodeHalfF32(src, dst, dim),
      decode: (src, dst) => kernels.decodeHalfF32(src, dst, dim),
    };
  }
  if (fixedR8 !== undefined) {
    const r = fixedR8.r ?? 1;
    return {
      dim,
      sizeBytes: dim,
      name: `FixedR8(D=${dim})`,
      encode: (src, dst) => kernels.encodeFixedR8F32(src, dst, dim, r),
      decode: (src, dst) => kernels.decodeFixedR8F32(src, dst, dim, r),
    };
  }
  if (oneBit !== undefined) {
    const scale = valueOr(OneBitMessage, oneBit, 'initScale');
    const amplitude = valueOr(OneBitMessage, oneBit, 'amplitude');
    return {
      dim,
      sizeBytes: dim,
      name: `OneBit(D=${dim})`,
      encode: (src, dst) => kernels.encodeOneBitF32(src, dst, dim, scale, amplitude),
      decode: (src, dst) => kernels.decodeOneBitF32(src, dst, dim, amplitude),
    };
  }
  throw new MonolithError('ML_COMPRESSOR', { config: printMessage(FloatCompressorConfigMessage, config) });
}

/** Segments one after the other; floats beyond their dimensions are ignored. */
export function combineCompressors(parts: readonly FloatCompressor[]): FloatCompressor {
  const each = (visit: (part: FloatCompressor, float: number, byte: number) => void) => {
    let float = 0;
    let byte = 0;
    for (const part of parts) {
      visit(part, float, byte);
      float += part.dim * 4;
      byte += part.sizeBytes;
    }
  };
  return {
    dim: parts.reduce((sum, part) => sum + part.dim, 0),
    sizeBytes: parts.reduce((sum, part) => sum + part.sizeBytes, 0),
    name: parts.map((part) => part.name).join('|'),
    encode: (src, dst) => each((part, float, byte) => part.encode(src + float, dst + byte)),
    decode: (src, dst) => each((part, float, byte) => part.decode(src + byte, dst + float)),
  };
}
