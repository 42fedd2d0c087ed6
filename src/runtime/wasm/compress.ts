/** @file Exports of assembly/compress and assembly/initialize. `src` and `dst` may have any alignment. */
type Transform = (src: number, dst: number, n: number) => void;
type RangeTransform = (src: number, dst: number, n: number, r: number) => void;

export interface CompressKernels {
  readonly encodeHalfF32: Transform;
  readonly decodeHalfF32: Transform;
  readonly encodeFixedR8F32: RangeTransform;
  readonly decodeFixedR8F32: RangeTransform;
  readonly quantizeFixedR8F32: RangeTransform;
  encodeOneBitF32(src: number, dst: number, n: number, scale: number, amplitude: number): void;
  decodeOneBitF32(src: number, dst: number, n: number, amplitude: number): void;
  hashNetForwardF32(src: number, dst: number, n: number, scale: number, amplitude: number): void;
  hashNetBackwardF32(w: number, g: number, n: number, scale: number, amplitude: number): void;

  /** Seeds the 2500 bytes of a generator. */
  seedMt(generator: number, seed: number): void;
  nextMt(generator: number): number;
  fillUniformMtF32(generator: number, dst: number, n: number, minval: number, maxval: number): void;
}
