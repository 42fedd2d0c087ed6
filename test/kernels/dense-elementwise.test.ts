import t from 'tap';
import { forShapes, putMatrix, randomFloats, runBoth, stream } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

for (const name of ['subF32', 'mulF32'] as const) {
  t.test(`${name} equals its reference for any shape, stride and alignment`, async () => {
    forShapes(h, 150, (shape, begin) => {
      const next = stream(shape.seed);
      const a = putMatrix(h, shape, 0, next, true);
      const b = putMatrix(h, shape, 1, next, true);
      const dst = putMatrix(h, shape, 2, next);
      const { rows, cols, acc } = shape;
      runBoth(h, begin, name, [a.at, a.stride, b.at, b.stride, dst.at, dst.stride, rows, cols, acc]);
      runBoth(h, begin, name, [a.at, a.stride, b.at, b.stride, a.at, a.stride, rows, cols, acc]);
    });
  });
}

t.test('addBiasF32 adds one bias to every row', async () => {
  forShapes(h, 150, (shape, begin) => {
    const next = stream(shape.seed);
    const x = putMatrix(h, shape, 0, next);
    const dst = putMatrix(h, shape, 1, next);
    const bias = h.putF32(randomFloats(next, shape.cols), shape.skews[2]);
    runBoth(h, begin, 'addBiasF32', [x.at, x.stride, bias, dst.at, dst.stride, shape.rows, shape.cols]);
  });
});

t.test('scaleF32, scaleRowsF32 and broadcastScalarF32 equal their references', async () => {
  forShapes(h, 150, (shape, begin) => {
    const next = stream(shape.seed);
    const src = putMatrix(h, shape, 0, next, true);
    const dst = putMatrix(h, shape, 1, next);
    const { rows, cols, acc } = shape;
    const scaleStride = 1 + shape.pads[2]!;
    const scale = h.putF32(randomFloats(next, rows * scaleStride), shape.skews[2]);
    runBoth(h, begin, 'scaleF32', [src.at, src.stride, dst.at, dst.stride, rows, cols, 0.3, acc]);
    runBoth(h, begin, 'scaleRowsF32', [scale, scaleStride, src.at, src.stride, dst.at, dst.stride, rows, cols, acc]);
    const one = h.putF32([1.7], shape.skews[3]);
    runBoth(h, begin, 'broadcastScalarF32', [one, dst.at, dst.stride, rows, cols, 1 / 3, acc]);
  });
});

t.test('copyRowsF32 copies or adds, short rows and long ones', async () => {
  forShapes(h, 150, (shape, begin) => {
    const next = stream(shape.seed);
    const src = putMatrix(h, shape, 0, next, true);
    const dst = putMatrix(h, shape, 1, next);
    runBoth(h, begin, 'copyRowsF32', [src.at, src.stride, dst.at, dst.stride, shape.rows, shape.cols, shape.acc]);
  });
});
