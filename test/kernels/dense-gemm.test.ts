import fc from 'fast-check';
import t from 'tap';
import { randomFloats, runBoth, stream } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

const sizes = fc.record({
  m: fc.oneof(fc.integer({ min: 0, max: 21 }), fc.constantFrom(1, 64, 193)),
  n: fc.oneof(fc.integer({ min: 0, max: 27 }), fc.constantFrom(1, 2, 8, 40)),
  k: fc.oneof(fc.integer({ min: 0, max: 19 }), fc.constantFrom(1, 64)),
  pads: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }),
  skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 4, maxLength: 4 }),
  /** How A and B lie: row-major, column-major, or every element apart from the next. */
  layouts: fc.tuple(fc.constantFrom('rows', 'columns', 'apart'), fc.constantFrom('rows', 'columns', 'apart')),
  acc: fc.integer({ min: 0, max: 1 }),
  integers: fc.boolean(),
  seed: fc.integer(),
});
type Size = typeof sizes extends fc.Arbitrary<infer T> ? T : never;
type Layouts = Size['layouts'];

function strides(layout: string, rows: number, cols: number, pad: number): [row: number, column: number] {
  if (layout === 'rows') return [cols + pad, 1];
  if (layout === 'columns') return [1, rows + pad];
  return [2 * cols + pad, 2];
}

/** Lays the operands out, runs both versions, and returns where C is. */
function multiply(size: Size) {
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
  runBoth(h, begin, 'gemmF32', [a, aRow, aCol, b, bRow, bCol, c, cStride, m, n, k, acc, scratch]);
  const guard = h.views.u8.subarray(scratch + bytes, scratch + bytes + 64);
  if (guard.some((byte) => byte !== 0)) throw new Error(`gemmF32 wrote past its ${bytes} bytes of scratch`);
  return { a, aRow, aCol, b, bRow, bCol, c, cStride };
}

t.test('gemmF32 equals the triple loop bit for bit, for any size, layout and alignment', async () => {
  fc.assert(
    fc.property(sizes, (size) =>
      h.scope(() => {
        multiply(size);
      }),
    ),
    { numRuns: 400 },
  );
});

t.test('blocks of rows, columns and k leave no trace in the result', async () => {
  const plain: Size = {
    ...{ m: 5, n: 5, k: 5, pads: [0, 1, 2], skews: [4, 0, 8, 12], layouts: ['rows', 'rows'] },
    ...{ acc: 0, integers: false, seed: 11 },
  };
  for (const layouts of [
    ['rows', 'rows'],
    ['columns', 'rows'],
    ['rows', 'columns'],
  ] as Layouts[]) {
    h.scope(() => multiply({ ...plain, layouts, m: 389, k: 31 }));
    h.scope(() => multiply({ ...plain, layouts, n: 1033, k: 19 }));
    h.scope(() => multiply({ ...plain, layouts, n: 1025, acc: 1 }));
    h.scope(() => multiply({ ...plain, layouts, k: 1100, n: 9, acc: 1 }));
    h.scope(() => multiply({ ...plain, layouts, k: 513, m: 18, n: 1 }));
  }
});

t.test('products of small integers are exact', async (t) => {
  h.scope(() => {
    const size: Size = {
      ...{ m: 37, n: 21, k: 600, pads: [0, 0, 0], skews: [0, 0, 0, 0], layouts: ['rows', 'columns'] },
      ...{ acc: 0, integers: true, seed: 5 },
    };
    const { a, aRow, aCol, b, bRow, bCol, c, cStride } = multiply(size);
    const { f32 } = h.views;
    let wrong = 0;
    for (let i = 0; i < size.m; i++) {
      for (let j = 0; j < size.n; j++) {
        let sum = 0;
        for (let p = 0; p < size.k; p++) {
          sum += f32[(a >>> 2) + i * aRow + p * aCol]! * f32[(b >>> 2) + p * bRow + j * bCol]!;
        }
        if (f32[(c >>> 2) + i * cStride + j] !== sum) wrong++;
      }
    }
    t.equal(wrong, 0);
  });
});

t.test('NaN and infinity of one row do not leak into its neighbours in the tile', async (t) => {
  h.scope(() => {
    const a = h.putF32([Number.NaN, 1, 2, 3, Number.POSITIVE_INFINITY]);
    const b = h.putF32([1, 2, 3]);
    const c = h.alloc(15 * 4);
    h.wasm.gemmF32(a, 1, 1, b, 3, 1, c, 3, 5, 3, 1, 0, h.alloc(h.wasm.gemmScratchBytes(5, 3, 1)));
    const inf = Number.POSITIVE_INFINITY;
    t.same([...h.f32(c, 15)].slice(3), [1, 2, 3, 2, 4, 6, 3, 6, 9, inf, inf, inf]);
  });
});
