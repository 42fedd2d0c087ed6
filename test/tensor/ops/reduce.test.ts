import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { ALIGNED_FLOATS, alignedFlatConcat, alignedFlatSplit } from '../../../src/tensor/ops/aligned-flat.js';
import { genSeqMask } from '../../../src/tensor/ops/gen-seq-mask.js';
import {
  fusedReduceSumAndSplit,
  fusedReduceSumAndSplitGradient,
  reduceMean,
  reduceMeanGradient,
  reduceSqrtn,
  reduceSqrtnGradient,
  reduceSum,
  reduceSumGradient,
} from '../../../src/tensor/ops/reduce.js';
import {
  fusedReduceAndSplit,
  fusedReduceAndSplitGradient,
  fusedSortedSegmentSum,
  fusedSortedSegmentSumGradient,
} from '../../../src/tensor/ops/reduce-and-split.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { close, dot, numericGradient, wholeTensor } from './arbitraries.js';

const i64 = (values: readonly number[]) => Tensor.vector('int64', BigInt64Array.from(values, BigInt));
const rowLists = fc.array(fc.nat(4), { maxLength: 12 });

t.test('sums are the sums of their rows, and sum and mean have adjoint gradients', async () => {
  fc.assert(
    fc.property(rowLists, fc.integer({ min: 1, max: 5 }), fc.integer(), (rows, dim, seed) => {
      const ids = i64(rows);
      const values = wholeTensor([rows.length, dim], seed);
      const sums = reduceSum(ids, values, 5);
      const plain = Array.from({ length: 5 * dim }, (_, at) =>
        rows.reduce((sum, row, i) => sum + (row === Math.floor(at / dim) ? values.data[i * dim + (at % dim)]! : 0), 0),
      );
      assert.deepEqual([...sums.data], plain);
      const grad = wholeTensor([5, dim], seed + 1);
      assert.equal(dot([sums], [grad]), dot([values], [reduceSumGradient(ids, grad)]));
      const mean = dot([reduceMean(ids, values, 5)], [grad]);
      close([dot([values], [reduceMeanGradient(ids, grad)])], [mean], 1e-5);

      const blocks = dim > 1 ? [1, dim - 1] : [1];
      const split = fusedReduceSumAndSplit(i64(rows).reshape([rows.length, 1]), values, 5, blocks);
      const grads = split.map((block, k) => wholeTensor(block.shape, seed + 2 + k));
      assert.equal(dot(split, grads), dot([values], [fusedReduceSumAndSplitGradient(ids, grads)]));
    }),
  );
});

t.test('a row without values has a mean and a norm of zero', async (t) => {
  const values = Tensor.of('float32', [[3], [4]]);
  t.same(reduceMean(i64([2, 2]), values, 4).toArray(), [[0], [0], [3.5], [0]]);
  t.same(reduceSqrtn(i64([2, 2]), values, 4).toArray(), [[0], [0], [5], [0]]);
});

t.test('the gradient of the square norm is the numeric one', async () => {
  fc.assert(
    fc.property(rowLists, fc.integer(), (rows, seed) => {
      const ids = i64(rows);
      const values = wholeTensor([rows.length, 2], seed);
      for (let i = 0; i < values.size; i++) if (values.data[i] === 0) values.data[i] = 1;
      const grad = wholeTensor([5, 2], seed + 1);
      const numeric = numericGradient(values, (x) => dot([reduceSqrtn(ids, x, 5)], [grad]));
      close(reduceSqrtnGradient(ids, values, grad).data, numeric, 2e-3);
    }),
    { numRuns: 30 },
  );
});

t.test('row ids that do not fit are refused', async (t) => {
  const values = wholeTensor([2, 2], 1);
  t.throws(() => reduceSum(i64([0, 2]), values, 2), { code: 'ML_OP', message: /row id 2/ });
  t.throws(() => reduceSum(i64([0]), values, 2), { code: 'ML_OP' });
  t.throws(() => fusedReduceSumAndSplit(i64([0, 1]), values, 2, [1]), { code: 'ML_OP' });
});

t.test('several inputs reduce and split at once, with an adjoint gradient', async () => {
  const lengths = fc.array(fc.array(fc.nat(3), { maxLength: 5 }), { maxLength: 3 });
  fc.assert(
    fc.property(lengths, fc.integer(), (inputs, seed) => {
      const splits = inputs.map((rows) => {
        let end = 0;
        return Tensor.vector(
          'int32',
          Int32Array.from([0, ...rows], (length) => (end += length)),
        );
      });
      const dims = inputs.map((_, n) => [n + 1, 2]);
      const values = splits.map((split, n) => wholeTensor([split.data.at(-1)!, n + 3], seed + n));
      const out = fusedReduceAndSplit(values, splits, dims);
      assert.deepEqual(
        out.map((block) => block.shape),
        inputs.flatMap((rows, n) => [
          [rows.length, n + 1],
          [rows.length, 2],
        ]),
      );
      const grads = out.map((block, k) => wholeTensor(block.shape, seed + 10 + k));
      assert.equal(dot(out, grads), dot(values, fusedReduceAndSplitGradient(splits, grads, dims)));
    }),
  );
});

t.test('sorted segments sum and their gradient gathers', async (t) => {
  fc.assert(
    fc.property(rowLists, fc.integer(), (rows, seed) => {
      const ids = i64(rows.toSorted((a, b) => a - b));
      const updates = wholeTensor([rows.length, 2, 3], seed);
      const [out] = fusedSortedSegmentSum([ids], [updates], [[5, 2, 3]]);
      const grad = wholeTensor([5, 2, 3], seed + 1);
      assert.equal(dot([out!], [grad]), dot([updates], fusedSortedSegmentSumGradient([ids], [grad])));
    }),
  );
  const one = wholeTensor([1, 2], 1);
  t.throws(() => fusedSortedSegmentSum([i64([0])], [one], [[0, 2]]), {
    message: 'Indices and updates specified for empty output shape',
  });
  t.same(fusedSortedSegmentSum([i64([])], [wholeTensor([0, 2], 1)], [[0, 2]])[0]!.shape, [0, 2]);
  t.throws(() => fusedSortedSegmentSum([i64([1, 0])], [wholeTensor([2, 2], 1)], [[2, 2]]), { message: /not sorted/ });
});

t.test('a flat vector of aligned pieces splits into views of them', async (t) => {
  const tensors = [wholeTensor([3], 1), wholeTensor([4, 4], 2), wholeTensor([0], 3), wholeTensor([17], 4)];
  const flat = alignedFlatConcat(tensors);
  t.equal(flat.size, 16 + 16 + 0 + 32);
  t.equal(flat.data[3], 0, 'padding is zero');
  const parts = alignedFlatSplit(
    tensors.map(({ shape }) => shape),
    flat,
  );
  t.same(
    parts.map((part) => part.toArray()),
    tensors.map((tensor) => tensor.toArray()),
  );
  t.equal(parts[1]!.data.buffer, flat.data.buffer);
  t.equal(parts[3]!.data.byteOffset % (ALIGNED_FLOATS * 4), 0);
  t.same([...alignedFlatConcat([Tensor.of('float32', [2])], -0.5).data.subarray(0, 2)], [-1, 0]);
  t.throws(() => alignedFlatConcat(Array.from({ length: 1024 }, () => tensors[2]!)), { code: 'ML_OP' });
  t.throws(() => alignedFlatSplit([[1]], flat), { code: 'ML_OP' });
});

t.test('masks are of the type of the splits', async (t) => {
  t.same(genSeqMask(Tensor.of('int32', [0, 1, 4]), 2).toArray(), [
    [1, 0],
    [1, 1],
  ]);
  t.same(genSeqMask(Tensor.of('int64', [0, 0, 1]), 2).toArray(), [
    [0n, 0n],
    [1n, 0n],
  ]);
  t.throws(() => genSeqMask(Tensor.of('int32', [0, 1]), 0), { code: 'ML_OP' });
});
