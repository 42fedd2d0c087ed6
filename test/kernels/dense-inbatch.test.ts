import t from 'tap';
import { forShapes, putMatrix, randomFloats, runBoth, stream, within } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

t.test('the softmax over the batch equals its reference slice by slice, with large scores too', async () => {
  forShapes(h, 120, (shape, begin) => {
    const { rows: count, cols: dim, seed, acc } = shape;
    const next = stream(seed);
    const [first, rest] = [Math.abs(seed % 3), Math.abs(seed % 4)];
    const rows = first + count + rest;
    const far = next() < 0.2 ? 4 : 0.5;
    const others = h.putF32(Float32Array.from({ length: rows * dim }, () => ((next() - 0.5) * far) / Math.sqrt(dim)));
    const x = putMatrix(h, shape, 0, next);
    const [loss, sums] = [h.alloc(count * 4 + 4), h.alloc(count * 4 + 4)];
    const near = within(64, 2e-3);
    runBoth(h, begin, 'inbatchSoftmaxF32', [others, rows, first, count, dim, x.at, x.stride, loss, 1, sums, 1], near);
    const grads = h.putF32(randomFloats(next, rows));
    // Sums that no score is far above, as those of a forward pass.
    const totals = h.putF32(Float32Array.from({ length: rows }, () => 3 * far + next()));
    const dx = putMatrix(h, shape, 1, next);
    for (const byOther of [0, 1]) {
      runBoth(
        h,
        begin,
        'inbatchSoftmaxGradF32',
        [others, grads, totals, rows, first, count, dim, byOther, x.at, x.stride, dx.at, dx.stride, acc],
        near,
      );
    }
  });
});
