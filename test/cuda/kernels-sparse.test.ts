/** @file CUDA kernels that gather rows and sum their gradients, in the simulator, against their references. */
import fc from 'fast-check';
import t from 'tap';
import type { Views } from '../../src/memory/views.js';
import { GradientSort, WORDS_PER_ENTRY } from '../../src/runtime/backends/cuda/gradient-sort.js';
import * as sparse from '../../src/runtime/backends/reference/sparse.js';
import { randomFloats, stream } from '../kernels/both.js';
import type { KernelHarness } from '../kernels/harness.js';
import { type Plain, SCHEDULES, withTwin } from './twin.js';

const references = sparse as unknown as Record<string, Plain>;

const batches = fc.record({
  rows: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(150)),
  dim: fc.oneof(fc.integer({ min: 1, max: 21 }), fc.constantFrom(4, 8, 16, 64, 132)),
  unique: fc.integer({ min: 1, max: 30 }),
  idsMax: fc.integer({ min: 0, max: 7 }),
  /** The first split, when the batch is a part of a larger one. */
  first: fc.constantFrom(0, 0, 5),
  pad: fc.integer({ min: 0, max: 3 }),
  skew: fc.constantFrom(0, 4, 8, 12),
  seed: fc.integer(),
});
type Batch = typeof batches extends fc.Arbitrary<infer T> ? T : never;

function layOut(h: KernelHarness, { rows, dim, unique, idsMax, first, pad, skew, seed }: Batch) {
  const next = stream(seed);
  const begin = h.arena.mark();
  const stride = dim + pad;
  const table = h.putF32(randomFloats(next, unique * stride), skew);
  const splits: number[] = [first];
  for (let r = 0; r < rows; r++) splits.push(splits[r]! + Math.floor(next() * (idsMax + 1)));
  const inverse = Array.from({ length: splits[rows]! - first }, () => Math.floor(next() * unique));
  const addresses = Array.from({ length: unique }, (_, u) => table + u * stride * 4);
  return {
    ...{ begin, next, stride, table, addresses, splitList: splits, inverseList: inverse },
    rowPtrs: h.putI32(addresses),
    devicePtrs: BigUint64Array.from(addresses, BigInt),
    inverse: h.putI32(inverse),
    splits: h.putI32(splits),
    /** rows x dim, with the same padding. */
    matrix: h.putF32(randomFloats(next, rows * stride), skew),
  };
}

/** Runs `body` for batches, one per schedule. */
function forBatches(h: KernelHarness, body: (batch: Batch, laid: ReturnType<typeof layOut>) => void): void {
  fc.assert(
    fc.property(batches, (batch) => h.scope(() => body(batch, layOut(h, batch)))),
    { numRuns: SCHEDULES },
  );
}

t.test('gathered and pooled rows equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    forBatches(h, ({ rows, dim, unique }, laid) => {
      const { begin, stride, table, rowPtrs, devicePtrs, inverse, splits, matrix } = laid;
      const shape = [inverse, splits, rows, dim, matrix, stride] as const;
      for (const kind of ['Sum', 'Mean']) {
        const plain = references[`pool${kind}F32`]!;
        twin.run(h, begin, `pool${kind}F32`, plain, [rowPtrs, ...shape], undefined, [devicePtrs, ...shape]);
        twin.run(h, begin, `pool${kind}RowsF32`, plain, [rowPtrs, ...shape], undefined, [table, stride, ...shape]);
      }
      twin.run(h, begin, 'seqMaskF32', references.seqMaskF32!, [splits, rows, dim, matrix, stride]);
      const out = h.putF32(new Float32Array(Math.max(rows * 3, unique) * stride));
      const firsts = [inverse, splits, rows, dim, 3, out, 3 * stride] as const;
      twin.run(h, begin, 'firstNF32', references.firstNF32!, [rowPtrs, ...firsts], undefined, [devicePtrs, ...firsts]);
      const all = [unique, dim, out, stride] as const;
      twin.run(h, begin, 'gatherRowsF32', references.gatherRowsF32!, [rowPtrs, ...all], undefined, [
        devicePtrs,
        ...all,
      ]);
    });
  })(t),
);

t.test('rows of a matrix are gathered by index', (t) =>
  withTwin((twin, h) => {
    forBatches(h, ({ dim }, { begin, stride, table, inverse, inverseList }) => {
      const count = inverseList.length;
      const out = h.putF32(new Float32Array(count * dim));
      const plain = (m: Views) => {
        inverseList.forEach((u, i) => {
          m.f32.copyWithin(out / 4 + i * dim, table / 4 + u * stride, table / 4 + u * stride + dim);
        });
      };
      twin.run(h, begin, 'gatherMatrixF32', plain, [table, stride, inverse, count, dim, out, dim]);
    });
  })(t),
);

/** What the host makes of the ids of a batch, for segmentSumF32. */
function sorted(h: KernelHarness, laid: ReturnType<typeof layOut>, rows: number, unique: number, firstN: number) {
  // The registers of the sort: addresses of the inverse and of the splits, and the number of rows.
  const registers = h.putI32([laid.inverse, laid.splits, rows]) / 4;
  const words = new Uint32Array(Math.max(1, laid.inverseList.length) * WORDS_PER_ENTRY);
  const source = { kind: 'ragged', inverse: registers, splits: registers + 1, rows: registers + 2, firstN } as const;
  const sort = new GradientSort(source, unique, words);
  sort.sort(h.views.u32);
  return [words, sort.segments] as const;
}

/** The reference sums many ids in blocks if there is a scratch, and has no other use for it. */
const SCRATCH = 1;
/** Features with more ids than a chain is good for. */
const LARGE: readonly Batch[] = [
  { rows: 1500, dim: 4, unique: 3, idsMax: 7, first: 5, pad: 0, skew: 0, seed: 1 },
  { rows: 1900, dim: 3, unique: 9, idsMax: 7, first: 0, pad: 1, skew: 4, seed: 2 },
];

t.test('gradients summed by segment equal the scatter of the CPU bit for bit', (t) =>
  withTwin((twin, h) => {
    const check = ({ rows, dim, unique }: Batch, laid: ReturnType<typeof layOut>) => {
      const { begin, next, stride, inverse, splits, matrix } = laid;
      const sums = h.putF32(randomFloats(next, unique * stride), 4);
      const segments = sorted(h, laid, rows, unique, 0);
      const args = [matrix, stride, inverse, splits, rows, dim, sums, stride, SCRATCH];
      const operands = (rowSplits: number) => [matrix, stride, ...segments, rowSplits, 1, dim, sums, stride];
      twin.run(h, begin, 'segmentSumF32', references.scatterAddF32!, args, undefined, operands(0));
      twin.run(h, begin, 'segmentSumF32', references.scatterMeanF32!, args, undefined, operands(splits));
      const grad = h.putF32(randomFloats(next, rows * 3 * stride));
      const firsts = [grad, 3 * stride, inverse, splits, rows, dim, 3, sums, stride, SCRATCH];
      const sortedFirsts = sorted(h, laid, rows, unique, 3);
      const firstOperands = [grad, 3 * stride, ...sortedFirsts, 0, 3, dim, sums, stride];
      twin.run(h, begin, 'segmentSumF32', references.firstNGradF32!, firsts, undefined, firstOperands);
    };
    forBatches(h, check);
    for (const batch of LARGE) h.scope(() => check(batch, layOut(h, batch)));
  })(t),
);

t.test('gradients added by atomics equal the scatter of the CPU where no order matters', (t) =>
  withTwin((twin, h) => {
    forBatches(h, ({ rows, dim, unique }, laid) => {
      const { begin, next, stride, inverse, splits, matrix } = laid;
      // Multiples of 420, which all counts up to 7 divide: every quotient and every sum is a whole number below 2^24.
      const whole = (count: number) => Float32Array.from({ length: count }, () => 420 * Math.floor(next() * 16 - 8));
      h.views.f32.set(whole(rows * stride), matrix / 4);
      const sums = h.putF32(whole(unique * stride), 4);
      const args = [matrix, stride, inverse, splits, rows, dim, sums, stride, 0];
      twin.run(h, begin, 'scatterAddF32', references.scatterAddF32!, args);
      twin.run(h, begin, 'scatterMeanF32', references.scatterMeanF32!, args);
      const grad = h.putF32(whole(rows * 3 * stride));
      const firsts = [grad, 3 * stride, inverse, splits, rows, dim, 3, sums, stride, 0];
      twin.run(h, begin, 'firstNGradF32', references.firstNGradF32!, firsts);
    });
  })(t),
);
