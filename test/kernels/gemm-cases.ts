/** @file Matrix products for tests: sizes, layouts and alignments of operands, laid out in a harness. */
import fc from 'fast-check';
import { randomFloats, stream } from './both.js';
import type { KernelHarness } from './harness.js';

export const gemmSizes = fc.record({
  m: fc.oneof(fc.integer({ min: 0, max: 21 }), fc.constantFrom(1, 64, 193)),
  n: fc.oneof(fc.integer({ min: 0, max: 35 }), fc.constantFrom(1, 2, 8, 16, 40)),
  k: fc.oneof(fc.integer({ min: 0, max: 19 }), fc.constantFrom(1, 64)),
  pads: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }),
  skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 4, maxLength: 4 }),
  /** How A and B lie: row-major, column-major, or every element apart from the next. */
  layouts: fc.tuple(fc.constantFrom('rows', 'columns', 'apart'), fc.constantFrom('rows', 'columns', 'apart')),
  acc: fc.integer({ min: 0, max: 1 }),
  /** Small whole numbers, whose sums of products are exact. */
  integers: fc.boolean(),
  seed: fc.integer(),
});
export type GemmSize = typeof gemmSizes extends fc.Arbitrary<infer T> ? T : never;

/** Sizes that end every kind of block and panel, for each layout of one transposed operand at the most. */
export function* blockSizes(): Generator<GemmSize> {
  for (const layouts of [
    ['rows', 'rows'],
    ['columns', 'rows'],
    ['rows', 'columns'],
  ] as GemmSize['layouts'][]) {
    const plain: GemmSize = {
      ...{ m: 5, n: 5, k: 5, pads: [0, 1, 2], skews: [4, 0, 8, 12], layouts },
      ...{ acc: 0, integers: false, seed: 11 },
    };
    yield { ...plain, m: 389, k: 31 };
    yield { ...plain, n: 1033, k: 19 };
    yield { ...plain, n: 1025, acc: 1 };
    yield { ...plain, k: 1100, n: 9, acc: 1 };
    yield { ...plain, k: 513, m: 18, n: 1 };
    yield { ...plain, k: 700, m: 2, n: 37, acc: 1 };
  }
}

export interface GemmOperands {
  readonly begin: number;
  readonly args: Parameters<KernelHarness['wasm']['gemmF32']>;
  /** Throws if the kernel wrote beyond its scratch. */
  checkScratch(): void;
}

function strides(layout: string, rows: number, cols: number, pad: number): [row: number, column: number] {
  if (layout === 'rows') return [cols + pad, 1];
  if (layout === 'columns') return [1, rows + pad];
  return [2 * cols + pad, 2];
}

/** Writes random operands; the scratch lies behind what the arena counts as taken. */
export function layOut(h: KernelHarness, size: GemmSize): GemmOperands {
  const { m, n, k, pads, skews, layouts, acc } = size;
  const next = stream(size.seed);
  const begin = h.arena.mark();
  const [aRow, aCol] = strides(layouts[0], m, k, pads[0]!);
  const [bRow, bCol] = strides(layouts[1], k, n, pads[1]!);
  const values = (count: number) =>
    size.integers ? Float32Array.from({ length: count }, () => Math.floor(next() * 17) - 8) : randomFloats(next, count);
  const a = h.putF32(values(m * aRow + k * aCol), skews[0]);
  const b = h.putF32(values(k * bRow + n * bCol), skews[1]);
  const cStride = n + pads[2]!;
  const c = h.putF32(values(m * cStride), skews[2]);
  const end = h.arena.mark();
  // The scratch lies outside the compared region: only the WASM kernel uses it. Its end is guarded by hand.
  const bytes = h.wasm.gemmScratchBytes(m, n, k) >>> 0;
  const scratch = h.alloc(bytes, skews[3]);
  h.arena.release(end);
  const checkScratch = () => {
    const guard = h.views.u8.subarray(scratch + bytes, scratch + bytes + 64);
    if (guard.some((byte) => byte !== 0)) throw new Error(`gemmF32 wrote past its ${bytes} bytes of scratch`);
  };
  return { begin, args: [a, aRow, aCol, b, bRow, bCol, c, cStride, m, n, k, acc, scratch], checkScratch };
}
