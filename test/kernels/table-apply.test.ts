import fc from 'fast-check';
import t from 'tap';
import { APPLY_SLICE_BYTES, LOOKUP_SCRATCH_BYTES, SEGMENT, segmentAt, TABLE } from '../../src/memory/table-layout.js';
import { identical, randomFloats, type Same, stream, within } from './both.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';
import {
  drawIds,
  isApproximate,
  layTable,
  OPTIMIZER_NAMES,
  type SegmentShape,
  spoil,
  type TableShape,
  type TestTable,
  tableShapes,
  twins,
} from './table-maker.js';

const h = await KernelHarness.create(8 << 20);

/** Kernel and twin agree bit for bit, but for what goes through tanh. */
const sameFor = (shape: TableShape): Same => (isApproximate(shape) ? within(64, 1e-5) : identical);

/** One slice's part of an update: its record's words. */
function putSlice(table: TestTable, ids: readonly bigint[], next: () => number, badShare: number): number[] {
  const unique = [...new Set(ids)];
  const [uids, rows, slots] = [h.putI64(unique), h.alloc(unique.length * 4), h.alloc(unique.length * 4)];
  const [order, offsets] = [h.alloc(unique.length * 4), h.alloc((table.partitions + 1) * 4)];
  h.wasm.tableFind(table.address, uids, unique.length, rows, slots);
  h.wasm.partitionByHash(uids, unique.length, table.partitions, order, offsets);
  const stride = Math.ceil(table.dim / 4) * 4;
  const gradients = h.putF32(spoil(next, randomFloats(next, unique.length * stride), badShare));
  return [uids, order, offsets, rows, gradients, stride, slots];
}

/** Lays a table out with rows for some ids. */
function tableWithRows(shape: TableShape, next: () => number): TestTable {
  const table = layTable(h, shape);
  const known = drawIds(next, 200);
  h.wasm.tableUpsert(table.address, h.putI64(known), known.length, h.alloc(known.length * 4), 0);
  return table;
}

function applyBoth(shape: TableShape, sizes: readonly number[], seed: number, badShare: number): void {
  h.scope(() => {
    const next = stream(seed);
    // Scratch: what is left there is nobody's business.
    const merged = h.alloc(sizes.reduce((sum, size) => sum + size, 0) * 4);
    const begin = h.arena.mark();
    const table = tableWithRows(shape, next);
    const records = h.alloc(APPLY_SLICE_BYTES * sizes.length);
    for (let step = 0; step < 2; step++) {
      sizes.forEach((size, i) => {
        const slice = putSlice(table, drawIds(next, size), next, badShare);
        h.views.u32.set(slice, (records + i * APPLY_SLICE_BYTES) / 4);
      });
      const args = [table.address, 0, table.partitions, records, sizes.length, merged, 7 + step];
      runPair(h, begin, h.wasm.tableApply, twins.tableApply, args, sameFor(shape));
    }
  });
}

const badShares = fc.constantFrom(0, 0, 0, 1e-4, 0.01);
const sliceSizes = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 3 });

t.test('rows are summed over slices and stepped as in the reference, whatever the segments', async () => {
  fc.assert(fc.property(tableShapes, sliceSizes, fc.integer(), badShares, applyBoth), { numRuns: 40 });
});

const segment = (optimizer: SegmentShape['optimizer'], dim: number): SegmentShape => ({
  ...{ dim, optimizer, initializer: 'uniform', retriever: 'raw', compressor: 'fp32' },
  ...{ rounds: false, varied: false, globalStep: 5 },
});

for (const optimizer of OPTIMIZER_NAMES) {
  t.test(`${optimizer}: one slice or two, odd dimensions, in both its variants`, async () => {
    const dims = optimizer === 'batchSoftmax' ? [1] : [1, 7, 16];
    for (const [i, dim] of dims.entries()) {
      for (const varied of [false, true]) {
        const segments = [{ ...segment(optimizer, dim), varied }];
        const shape: TableShape = { segments, log2Partitions: 2, heapBytes: 1 << 18 };
        applyBoth(shape, [90], i, 0);
        applyBoth(shape, [60, 50], i + 10, 0);
      }
    }
  });
}

t.test('an update by ids alone is that of the reference, also when the heap is full', async () => {
  const property = fc.property(
    tableShapes,
    fc.integer({ min: 0, max: 900 }),
    fc.constantFrom(1 << 19, 40_000),
    fc.integer(),
    badShares,
    (shape, size, heapBytes, seed, badShare) =>
      h.scope(() => {
        const next = stream(seed);
        const scratch = h.alloc(LOOKUP_SCRATCH_BYTES);
        const begin = h.arena.mark();
        const table = tableWithRows({ ...shape, heapBytes }, next);
        const unique = [...new Set(drawIds(next, size))];
        const stride = table.dim + 3;
        const gradients = h.putF32(spoil(next, randomFloats(next, unique.length * stride), badShare));
        const args = [table.address, h.putI64(unique), unique.length, gradients, stride, scratch, 7];
        runPair(h, begin, h.wasm.tableUpdate, twins.tableUpdate, args, sameFor(shape));
      }),
  );
  fc.assert(property, { numRuns: 50 });
});

/** A table of one sgd segment with rows 0..n-1 and gradients of 1 for them. */
function plainUpdate(badGradients: 'fail' | 'skip', n: number) {
  const table = layTable(h, { segments: [segment('sgd', 3)], log2Partitions: 0, badGradients });
  const ids = h.putI64(Array.from({ length: n }, (_, i) => BigInt(i)));
  const rows = h.alloc(n * 4);
  h.wasm.tableUpsert(table.address, ids, n, rows, 0);
  const gradients = h.putF32(new Float32Array(n * 3).fill(1));
  const weights = (i: number) => [...h.f32(h.views.u32[rows / 4 + i]!, 3)];
  const update = () => h.wasm.tableUpdate(table.address, ids, n, gradients, 3, h.alloc(LOOKUP_SCRATCH_BYTES), 9);
  return { table, gradients, weights, update, badRows: () => h.views.u32[table.address / 4 + TABLE.badGradientRows] };
}

t.test('a bad gradient leaves its row alone and is counted, or ends the call', async (t) => {
  for (const badGradients of ['skip', 'fail'] as const) {
    h.scope(() => {
      const { gradients, weights, update, badRows } = plainUpdate(badGradients, 100);
      const before = Array.from({ length: 100 }, (_, i) => weights(i));
      h.views.f32[gradients / 4 + 70 * 3 + 2] = Number.NaN;
      h.views.f32[gradients / 4 + 80 * 3] = Number.NEGATIVE_INFINITY;
      t.equal(update(), badGradients === 'skip' ? 100 : -2);
      t.equal(badRows(), badGradients === 'skip' ? 2 : 1);
      const changed = before.map((row, i) => row.some((value, c) => value !== weights(i)[c]));
      const stepped = (i: number) => (badGradients === 'skip' ? i !== 70 && i !== 80 : i < 70);
      t.same(
        changed,
        Array.from(changed, (_, i) => stepped(i)),
      );
    });
  }
});

t.test('batch_softmax refuses a step before 0, and the time of the last update only rises', async (t) => {
  h.scope(() => {
    const table = layTable(h, { segments: [segment('batchSoftmax', 1)], log2Partitions: 0 });
    const time = () => h.views.i64[(table.address + TABLE.maxUpdateTime * 4) / 8];
    const step = (segmentAt(table.address, 0) + SEGMENT.parameters * 4 + 32) / 8;
    const args = [table.address, h.putI64([5n]), 1, h.putF32([0]), 1] as const;
    t.equal(h.wasm.tableUpdate(...args, h.alloc(LOOKUP_SCRATCH_BYTES), 2 ** 32 - 1), 1);
    t.equal(h.wasm.tableOptimize(...args, 3, 0), 1);
    t.equal(time(), 2n ** 32n - 1n);
    h.views.i64[step] = -1n;
    t.equal(h.wasm.tableUpdate(...args, h.alloc(LOOKUP_SCRATCH_BYTES), 3), -3);
    t.equal(h.wasm.tableOptimize(...args, 3, 0), -3);
    t.equal(h.wasm.tableApply(table.address, 0, 1, 0, 0, 0, 3), -3);
  });
});
