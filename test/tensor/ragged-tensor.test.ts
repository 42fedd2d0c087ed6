import fc from 'fast-check';
import t from 'tap';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { fusedValueRowids, normalizeMergedSplit } from '../../src/tensor/ragged-utils.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { parityCase } from '../parity-sparse.js';

const int64 = (values: readonly number[]) => Tensor.of('int64', values) as Tensor<'int64'>;

t.test('test_basic: row ids are those of the reference, and the same object twice', async (t) => {
  const { input, expected } = parityCase<{ row_splits: number[] }, { rowids: number[] }>(
    'fused_value_rowids',
    'leading_empty_row',
  );
  const ragged = RaggedTensor.fromRowSplits(Tensor.of('float32', [7, 8, 9]), int64(input.row_splits));
  const ids = fusedValueRowids(ragged);
  t.same(ids.toArray(), expected.rowids.map(BigInt));
  t.equal(fusedValueRowids(ragged), ids, 'the second call returns the same object');
});

t.test('merged splits become one, as in normalize_merged_split_op', async (t) => {
  type Input = { row_split: number[]; row_split_size: number[] };
  const { input, expected } = parityCase<Input, { normed: number[] }>('normalize_merged_split', 'two_parts');
  const normed = normalizeMergedSplit(BigInt64Array.from(input.row_split.map(BigInt)), input.row_split_size);
  t.same([...normed].map(Number), expected.normed);
  t.throws(() => normalizeMergedSplit(BigInt64Array.of(0n, 1n), [1]), { code: 'ML_RAGGED_SPLITS' });
  t.throws(() => normalizeMergedSplit(BigInt64Array.of(0n), [1, 0]), { code: 'ML_RAGGED_SPLITS' });
  t.throws(() => normalizeMergedSplit(BigInt64Array.of(), []), { code: 'ML_RAGGED_SPLITS' });
});

t.test('merged splits are the splits of the concatenated batches', async () => {
  const batch = fc.array(fc.array(fc.nat(9), { maxLength: 4 }), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 4 }), (batches) => {
      const parts = batches.map((rows) => RaggedTensor.fromRows('int32', rows).rowSplits.data as BigInt64Array);
      const merged = BigInt64Array.from(parts.flatMap((part) => [...part]));
      const normed = normalizeMergedSplit(
        merged,
        parts.map((part) => part.length),
      );
      const whole = RaggedTensor.fromRows('int32', batches.flat(1)).rowSplits.data;
      return normed.join() === whole.join();
    }),
  );
});

t.test('rows become values and splits, and come back', async (t) => {
  const ragged = RaggedTensor.fromRows('int32', [[], [1], [2, 3]]);
  t.same(ragged.rowSplits.toArray(), [0n, 0n, 1n, 3n]);
  t.same(ragged.toArray(), [[], [1], [2, 3]]);
  t.equal(ragged.rowCount, 3);
  t.equal(ragged.rank, 2);
  const deep = RaggedTensor.fromRows('int32', [[[1, 2], []], [[3]]]);
  t.equal(deep.raggedRank, 2);
  t.equal(deep.rank, 3);
  t.same(deep.toArray(), [[[1, 2], []], [[3]]]);
  t.same(deep.valueRowIds().toArray(), [0n, 0n, 1n]);
});

t.test('splits may be 32-bit, and unchecked splits of a slice keep their base', async (t) => {
  const values = Tensor.of('int32', [10, 11, 12, 13, 14]);
  const splits = Tensor.of('int32', [1, 3, 5]) as Tensor<'int32'>;
  const slice = RaggedTensor.fromRowSplits(values, splits, { validate: false });
  t.same(slice.toArray(), [
    [11, 12],
    [13, 14],
  ]);
  t.same(slice.valueRowIds().toArray(), [0n, 0n, 1n, 1n]);
});

t.test('splits that do not cut the values are refused', async (t) => {
  const values = Tensor.of('float32', [1, 2]);
  const make = (splits: readonly number[]) => () => RaggedTensor.fromRowSplits(values, int64(splits));
  const code = 'ML_RAGGED_SPLITS';
  t.throws(make([]), { code, message: /at least one/ });
  t.throws(make([1, 2]), { code, message: /not 0/ });
  t.throws(make([0, 2, 1, 2]), { code, message: /number 2 is 1, below 2/ });
  t.throws(make([0, 1]), { code, message: /there are 2 values/ });
  t.throws(() => RaggedTensor.fromRowSplits(Tensor.of('int32', 1), int64([0, 1])), { code, message: /scalar/ });
  t.throws(() => fusedValueRowids(values), { code: 'ML_RAGGED_TYPE', message: 'rt must be RaggedTensor' });
});
