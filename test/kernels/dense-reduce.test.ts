import t from 'tap';
import { forShapes, putMatrix, randomFloats, runBoth, stream } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

t.test('rowDotF32 sums in the documented order, so it equals its reference', async () => {
  forShapes(h, 300, (shape, begin) => {
    const next = stream(shape.seed);
    const a = putMatrix(h, shape, 0, next);
    const b = putMatrix(h, shape, 1, next);
    const { rows, cols, acc } = shape;
    const outStride = 1 + shape.pads[2]!;
    const out = h.putF32(randomFloats(next, rows * outStride), shape.skews[2]);
    runBoth(h, begin, 'rowDotF32', [a.at, a.stride, b.at, b.stride, out, outStride, rows, cols, acc]);
  });
});

t.test('sumRowsF32 adds rows in order', async () => {
  forShapes(h, 200, (shape, begin) => {
    const next = stream(shape.seed);
    const src = putMatrix(h, shape, 0, next);
    const dst = h.putF32(randomFloats(next, shape.cols), shape.skews[1]);
    runBoth(h, begin, 'sumRowsF32', [src.at, src.stride, dst, shape.rows, shape.cols, shape.acc]);
  });
});

t.test('sumF32 equals its reference', async () => {
  forShapes(h, 150, (shape, begin) => {
    const src = putMatrix(h, shape, 0, stream(shape.seed));
    const dst = h.putF32([7], shape.skews[1]);
    runBoth(h, begin, 'sumF32', [src.at, src.stride, shape.rows, shape.cols, dst, 1 / 3]);
  });
});

t.test('sumF32 keeps small terms beside large ones', async (t) => {
  h.scope(() => {
    const values = Array.from({ length: 1001 }, (_, i) => (i === 0 ? 2 ** 24 : 1));
    const src = h.putF32(values);
    const dst = h.alloc(4);
    h.wasm.sumF32(src, 1, values.length, 1, dst, 1);
    t.equal(h.f32(dst, 1)[0], 2 ** 24 + 1000, 'an f32 accumulator would stay at 2^24');
  });
});

t.test('reduceSlicesF32 adds slices in order', async (t) => {
  forShapes(h, 200, (shape, begin) => {
    const src = putMatrix(h, shape, 0, stream(shape.seed));
    const dst = h.putF32(new Float32Array(shape.cols).fill(3), shape.skews[1]);
    runBoth(h, begin, 'reduceSlicesF32', [src.at, src.stride, shape.rows, dst, shape.cols]);
  });
  h.scope(() => {
    const dst = h.putF32([1, 2, 3]);
    h.wasm.reduceSlicesF32(dst, 3, 0, dst, 3);
    t.same([...h.f32(dst, 3)], [0, 0, 0], 'no slices sum to 0');
  });
});
