/**
 * @file Sums of gradients per id where a feature has many ids: blocks of WASM and of the reference are the same blocks.
 */
import t from 'tap';
import { idSumsScratchBytes } from '../../src/memory/id-sums-layout.js';
import * as reference from '../../src/runtime/backends/reference/sparse.js';
import { randomFloats, stream } from './both.js';
import { KernelHarness } from './harness.js';
import { type Kernel, runPair } from './pair.js';

const h = await KernelHarness.create(64 << 20);
/** Outside of what is compared, which ends where the arena does; what was there before must not matter. */
const SCRATCH = 48 << 20;
const UNIQUE = 700;

/** `count` ids: three come 255, 256 and 257 times, one in every third place that is left, others seldom. */
function idsOf(next: () => number, count: number): number[] {
  const ids = [255, 256, 257].flatMap((times, id) => new Array<number>(times).fill(id));
  while (ids.length < count) ids.push(ids.length % 3 === 0 ? 3 : 4 + Math.floor(next() * (UNIQUE - 4)));
  for (let i = ids.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [ids[i], ids[j]] = [ids[j]!, ids[i]!];
  }
  return ids.slice(0, count);
}

/** Runs both twice, so that the second call meets what the first one left in the scratch. */
function runTwice(begin: number, kernel: Kernel, twin: Kernel, args: readonly number[]): void {
  h.views.u8.fill(0xa5, SCRATCH, SCRATCH + idSumsScratchBytes(UNIQUE, 64, 40_000));
  for (let call = 0; call < 2; call++) runPair(h, begin, kernel, twin, args);
}

for (const [count, dim, pad] of [
  [4096, 5, 1],
  [4097, 16, 0],
  [4100, 17, 3],
  [9000, 1, 0],
  [12_345, 32, 0],
] as const) {
  t.test(`sums of ${count} ids with rows of ${dim} equal their references bit for bit`, async () => {
    h.scope(() => {
      const next = stream(count);
      const begin = h.arena.mark();
      const splits = [7];
      while (splits.at(-1)! < 7 + count) splits.push(Math.min(7 + count, splits.at(-1)! + Math.floor(next() * 5)));
      const rows = splits.length - 1;
      const stride = dim + pad;
      const inverse = h.putI32(idsOf(next, count));
      const at = h.putI32(splits);
      const sums = h.putF32(randomFloats(next, UNIQUE * stride));
      const grad = h.putF32(randomFloats(next, rows * stride));
      const args = [grad, stride, inverse, at, rows, dim, sums, stride, SCRATCH];
      runTwice(begin, h.wasm.scatterAddF32, reference.scatterAddF32, args);
      runTwice(begin, h.wasm.scatterMeanF32, reference.scatterMeanF32, args);
      const firsts = h.putF32(randomFloats(next, rows * (3 * dim + pad)));
      const firstArgs = [firsts, 3 * dim + pad, inverse, at, rows, dim, 3, sums, stride, SCRATCH];
      runTwice(begin, h.wasm.firstNGradF32, reference.firstNGradF32, firstArgs);
    });
  });
}

for (const [rows, pieces] of [
  // First id, ids, offset and floats of each piece.
  [4096, [[0, 1, 0, 16]]],
  [
    4097,
    [
      [0, 1, 0, 16],
      [0, 1, 16, 1],
      [1, 1, 0, 4],
    ],
  ],
  [
    2049,
    [
      [0, 2, 1, 5],
      [1, 1, 0, 3],
    ],
  ],
] as const) {
  t.test(`sums of ${rows} rows of ${pieces.length} pieces equal their references bit for bit`, async () => {
    h.scope(() => {
      const next = stream(rows);
      const begin = h.arena.mark();
      const [idsPerRow, width] = [2, 20];
      const inverse = h.putI32(idsOf(next, rows * idsPerRow));
      const words = pieces.flatMap(([first, ids, offset, floats]) => {
        return [first, ids, offset * 4, floats, h.putF32(randomFloats(next, rows * floats)), floats * 4, 1, 0];
      });
      const list = h.putI32(words);
      const sums = h.putF32(randomFloats(next, UNIQUE * width));
      const args = [inverse, idsPerRow, rows, list, pieces.length, sums, width, SCRATCH];
      runTwice(begin, h.wasm.scatterSlicesF32, reference.scatterSlicesF32, args);
    });
  });
}

t.test('without scratch, and for up to 4096 ids, sums are chains', async (t) => {
  for (const [count, scratch, exact] of [
    [4096, SCRATCH, false],
    [4097, 0, false],
    [4097, SCRATCH, true],
  ] as const) {
    h.scope(() => {
      const chain = new Float32Array(1);
      for (let i = 0; i < count; i++) chain[0]! += 0.1;
      const inverse = h.putI32(new Array<number>(count).fill(0));
      const splits = h.putI32(Array.from({ length: count + 1 }, (_, i) => i));
      const [grad, sum] = [h.putF32(new Array<number>(count).fill(0.1)), h.putF32([0])];
      h.wasm.scatterAddF32(grad, 1, inverse, splits, count, 1, sum, 1, scratch);
      const found = h.f32(sum, 1)[0]!;
      const error = Math.abs(found / (count * Math.fround(0.1)) - 1);
      if (exact) t.ok(error < 4e-6, 'blocks', { error });
      else t.equal(found, chain[0], 'a chain');
    });
  }
});

t.test('weight gradients of interactions over many rows equal their reference bit for bit', async () => {
  const { cinGradF32 } = await import('../../src/runtime/backends/reference/dense.js');
  for (const rows of [255, 256, 257, 512, 700]) {
    h.scope(() => {
      const next = stream(rows);
      const begin = h.arena.mark();
      const [lefts, rights, dim, outs] = [2, 3, 5, 3];
      const matrix = (cols: number) => [h.putF32(randomFloats(next, rows * cols)), cols] as const;
      const [dy, left, right] = [matrix(outs * dim), matrix(lefts * dim), matrix(rights * dim)];
      const [w, dw] = [0, 1].map(() => h.putF32(randomFloats(next, lefts * rights * outs))) as [number, number];
      const sides = [...matrix(lefts * dim), 0, ...matrix(rights * dim), 0];
      const sizes = [rows, lefts, rights, dim, outs];
      const args = [...dy, ...left, ...right, w, ...sides, dw, ...sizes, SCRATCH];
      runPair(h, begin, h.wasm.cinGradF32, cinGradF32, args);
    });
  }
});
