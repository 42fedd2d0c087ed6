import t from 'tap';
import { forShapes, putMatrix, randomFloats, runBoth, stream } from './both.js';
import { KernelHarness } from './harness.js';

t.test('kernels work above 2 GiB, where a pointer has its top bit set', async () => {
  // Pages cost nothing until written, so the lower part is only skipped.
  const h = await KernelHarness.create(2 ** 31 + 2 ** 26);
  h.arena.alloc(2 ** 31 - 2 ** 16 - 2 ** 11, 'skipped');
  forShapes(h, 40, (shape, begin) => {
    const next = stream(shape.seed);
    const { rows, cols, acc } = shape;
    const a = putMatrix(h, shape, 0, next);
    const b = putMatrix(h, shape, 1, next);
    const c = putMatrix(h, shape, 2, next);
    const column = h.putF32(randomFloats(next, rows), shape.skews[3]);
    const square = h.putF32(randomFloats(next, rows * rows));
    const end = h.arena.mark();
    const scratch = h.alloc(h.wasm.gemmScratchBytes(rows, rows, cols) >>> 0);
    h.arena.release(end);
    runBoth(h, begin, 'subF32', [a.at, a.stride, b.at, b.stride, c.at, c.stride, rows, cols, acc]);
    runBoth(h, begin, 'copyRowsF32', [a.at, a.stride, c.at, c.stride, rows, cols, acc]);
    runBoth(h, begin, 'rowDotF32', [a.at, a.stride, b.at, b.stride, column, 1, rows, cols, acc]);
    runBoth(h, begin, 'sumRowsF32', [a.at, a.stride, c.at, rows, Math.min(cols, rows * c.stride), acc]);
    // square (+)= A * B transposed.
    const { at, stride } = a;
    runBoth(h, begin, 'gemmF32', [at, stride, 1, b.at, 1, b.stride, square, rows, rows, rows, cols, acc, scratch]);
  });
});
