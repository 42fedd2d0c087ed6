import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import {
  fillWithOffsetMap,
  fillWithOffsetMapGradient,
  finalizeSharedTensor,
  SharedTensorHandle,
  uniqueKeyWithValueAndOffset,
} from '../../../src/tensor/ops/unique-key.js';
import { RaggedTensor } from '../../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { dot, wholeTensor } from './arbitraries.js';

const rows = fc.array(fc.array(fc.nat(5), { maxLength: 8 }), { maxLength: 5 });

/** Positions of all unique keys of `key`, row by row. */
function allPositions(key: RaggedTensor): RaggedTensor {
  let next = 0;
  return RaggedTensor.fromRows(
    'int64',
    key.toArray().map((row) => row.map(() => next++)),
  );
}

t.test('filling every unique key writes each occurrence, and the gradient is the adjoint', async () => {
  fc.assert(
    fc.property(rows, fc.integer(), (lists, seed) => {
      const dims = lists.map((_, r) => (r % 3) + 1);
      const made = uniqueKeyWithValueAndOffset(RaggedTensor.fromRows('int64', lists), dims);
      assert.deepEqual(
        made.uniqueKey.toArray(),
        lists.map((row) => [...new Set(row)].map(BigInt)),
      );
      const pos = allPositions(made.uniqueKey);
      const size = lists.reduce((total, row, r) => total + new Set(row).size * dims[r]!, 0);
      const value = wholeTensor([size], seed);
      const buffer = finalizeSharedTensor([
        fillWithOffsetMap(pos, value.data, made.valueOffset, made.valueBuffer!, dims),
      ]);
      const expected: number[] = [];
      let from = 0;
      lists.forEach((row, r) => {
        const unique = [...new Set(row)];
        for (const id of row) {
          const at = from + unique.indexOf(id) * dims[r]!;
          expected.push(...value.data.subarray(at, at + dims[r]!));
        }
        from += unique.length * dims[r]!;
      });
      assert.deepEqual([...buffer.data], expected);
      const grad = wholeTensor(buffer.shape, seed + 1);
      const gradient = Tensor.vector('float32', fillWithOffsetMapGradient(pos, grad.data, made.valueOffset, dims));
      assert.equal(dot([buffer], [grad]), dot([value], [gradient]));
    }),
  );
});

t.test('a shared tensor is taken out once', async (t) => {
  const handle = new SharedTensorHandle(Float32Array.of(1));
  t.same(finalizeSharedTensor([handle, handle]).toArray(), [1]);
  t.throws(() => handle.buffer, { code: 'ML_CLOSED' });
  t.throws(() => finalizeSharedTensor([]), { code: 'ML_OP' });
  const other = new SharedTensorHandle(new Float32Array(1));
  t.throws(() => finalizeSharedTensor([other, new SharedTensorHandle(new Float32Array(1))]), { code: 'ML_OP' });
});

t.test('without a buffer only keys and offsets are made', async (t) => {
  const key = RaggedTensor.fromRows('int64', [[1]]);
  t.equal(uniqueKeyWithValueAndOffset(key, [2], { generateBuffer: false }).valueBuffer, null);
});

t.test('what does not fit is refused in the words of the reference', async (t) => {
  const key = RaggedTensor.fromRows('int64', [[0, 1], [2]]);
  t.throws(() => uniqueKeyWithValueAndOffset(key, [1]), { message: 'RaggedKey should have 1 but got 2' });
  const { valueOffset, valueBuffer } = uniqueKeyWithValueAndOffset(key, [1, 2]);
  const fill = (pos: RaggedTensor, size: number, dims: number[]) => () =>
    fillWithOffsetMap(pos, new Float32Array(size), valueOffset, valueBuffer!, dims);
  t.throws(fill(key, 4, [1]), { message: "Pos's first dim doesn't match dim size. 2 v.s. 1" });
  t.throws(fill(RaggedTensor.fromRows('int64', [[0, 3], [2]]), 4, [1, 2]), {
    message: 'pos is bigger than offset size. 3 v.s. 3',
  });
  t.throws(fill(key, 3, [1, 2]), {
    message: "Value size doesn't match expected size. expected: 4, actual: 3. \nPos split: 0 2 3",
  });
});
