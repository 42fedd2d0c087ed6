/**
 * @file Runs a kernel and its reference on the same memory image and compares everything they left behind.
 *
 * The whole allocated region is compared, not only the output: a store beside the output or into an operand is a
 * difference too.
 */
import fc from 'fast-check';
import type { Views } from '../../src/memory/views.js';
import * as reference from '../../src/runtime/backends/reference/dense.js';
import type { DenseKernels } from '../../src/runtime/backends/wasm/calls/dense.js';
import type { KernelHarness } from './harness.js';

export type DenseReference = {
  readonly [K in keyof DenseKernels]: (m: Views, ...args: Parameters<DenseKernels[K]>) => ReturnType<DenseKernels[K]>;
};

/** The reference kernels, held by the compiler to the signatures of the WASM ones. */
export const denseReference: DenseReference = reference;

/** True when two floats may stand for the same result. */
export type Same = (wasm: number, plain: number) => boolean;

/** The same value bit for bit; any NaN equals any NaN. */
export const identical: Same = Object.is;

/** Within `ulps` units in the last place of the reference, or `floor` absolutely. */
export function within(ulps: number, floor = 0): Same {
  return (wasm, plain) =>
    Object.is(wasm, plain) || Math.abs(wasm - plain) <= Math.max(floor, ulps * ulpOf(plain)) || wasm === plain;
}

/** Distance from |x| to the next f32 above it. */
export function ulpOf(x: number): number {
  const exponent = Math.max(-126, Math.floor(Math.log2(Math.abs(x) || 2 ** -126)));
  return 2 ** (exponent - 23);
}

/** Runs kernel `name` both ways over what was allocated since `begin`; throws with place and values on a difference. */
export function runBoth<K extends keyof DenseKernels>(
  h: KernelHarness,
  begin: number,
  name: K,
  args: Parameters<DenseKernels[K]>,
  same: Same = identical,
): Float32Array {
  const image = h.views.u8.slice(begin, h.arena.mark());
  const count = image.length >>> 2;
  (h.wasm[name] as (...args: number[]) => unknown)(...args);
  const wasm = h.f32(begin, count);
  h.views.u8.set(image, begin);
  (denseReference[name] as (m: Views, ...args: number[]) => unknown)(h.views, ...args);
  const plain = h.f32(begin, count);
  for (let i = 0; i < count; i++) {
    if (!same(wasm[i]!, plain[i]!)) {
      throw new Error(`${name}(${args}): at byte ${begin + i * 4} wasm has ${wasm[i]}, the reference ${plain[i]}`);
    }
  }
  return wasm;
}

/** Small repeatable stream of numbers in [0, 1). */
export function stream(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SPECIALS = [0, -0, 1, -1, 1e-40, -3e38, Number.POSITIVE_INFINITY, Number.NaN] as const;

/** Floats of mixed size, about one in forty of them special when `specials` is set. */
export function randomFloats(next: () => number, count: number, specials = false): Float32Array {
  return Float32Array.from({ length: count }, () => {
    if (specials && next() < 0.025) return SPECIALS[Math.floor(next() * SPECIALS.length)]!;
    return (next() - 0.5) * 2 ** Math.floor(next() * 12 - 6);
  });
}

export interface Shape {
  readonly rows: number;
  readonly cols: number;
  /** Added to `cols` to make the stride of operand 0, 1, 2. */
  readonly pads: readonly number[];
  /** Bytes operands are moved off their alignment. */
  readonly skews: readonly number[];
  readonly acc: number;
  readonly seed: number;
}

/** Odd shapes, empty ones among them, dense and strided, aligned and not. */
export const shapes: fc.Arbitrary<Shape> = fc.record({
  rows: fc.oneof(fc.integer({ min: 0, max: 11 }), fc.constant(33)),
  cols: fc.oneof(fc.integer({ min: 0, max: 39 }), fc.constantFrom(1, 16, 64, 300)),
  pads: fc.oneof(fc.constant([0, 0, 0, 0]), fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 4, maxLength: 4 })),
  skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 4, maxLength: 4 }),
  acc: fc.integer({ min: 0, max: 1 }),
  seed: fc.integer(),
});

/** Lays operand `index` of `shape` out: pointer and stride. */
export function putMatrix(h: KernelHarness, shape: Shape, index: number, next: () => number, specials = false) {
  const stride = shape.cols + shape.pads[index]!;
  const at = h.putF32(randomFloats(next, shape.rows * stride, specials), shape.skews[index]!);
  return { at, stride };
}

/** Runs `body` over `runs` shapes, each in memory of its own. */
export function forShapes(h: KernelHarness, runs: number, body: (shape: Shape, begin: number) => void): void {
  fc.assert(
    fc.property(shapes, (shape) => h.scope(() => body(shape, h.arena.mark()))),
    { numRuns: runs },
  );
}
