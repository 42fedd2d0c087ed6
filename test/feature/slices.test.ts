import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { type Combiner, FirstN, ReduceMean, ReduceSum } from '../../src/feature/model/combiners.js';
import { createEmbeddingSlices, embeddingSlicesGradient } from '../../src/feature/model/embedding-slices.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { dot, wholeTensor } from '../tensor/ops/arbitraries.js';

const rows = fc.array(fc.array(fc.nat(9), { maxLength: 4 }), { minLength: 1, maxLength: 5 });
const combiner: fc.Arbitrary<Combiner> = fc.oneof(
  fc.constant(new ReduceSum()),
  fc.constant(new ReduceMean()),
  fc.integer({ min: 1, max: 3 }).map((n) => new FirstN(n)),
);

t.test('slices are columns of the combined rows, and gradients their adjoint', async () => {
  fc.assert(
    fc.property(rows, combiner, combiner, fc.integer(), (lists, first, second, seed) => {
      const key = RaggedTensor.fromRows('int64', lists);
      const count = lists.flat().length;
      const features = {
        f: { key, embedding: wholeTensor([count, 3], seed), sliceDims: [1, 2], combiner: first },
        g: { key, embedding: wholeTensor([count, 2], seed + 1), sliceDims: [2], combiner: second },
      };
      const slices = createEmbeddingSlices(features);
      assert.deepEqual([...slices.keys()], ['f:0_1', 'f:1_3', 'g:0_2']);
      const whole = first.combine(key, features.f.embedding);
      const columns = (width: number, from: number, to: number) =>
        [...whole.data].filter((_, i) => i % width >= from && i % width < to);
      assert.deepEqual([...slices.get('f:0_1')!.data], columns(3, 0, 1));
      assert.deepEqual([...slices.get('f:1_3')!.data], columns(3, 1, 3));
      const grads = new Map([...slices].map(([name, { shape }], i) => [name, wholeTensor(shape, seed + 5 + i)]));
      const back = embeddingSlicesGradient(features, grads);
      const forward = dot([...slices.values()], [...grads.values()]);
      const adjoint = dot([features.f.embedding, features.g.embedding], [back.get('f')!, back.get('g')!]);
      assert.ok(Math.abs(forward - adjoint) < 1e-4 * (1 + Math.abs(forward)), `${forward} and ${adjoint}`);
    }),
  );
});

t.test('a slice without a gradient counts as zero', async (t) => {
  const key = RaggedTensor.fromRows('int64', [[1], [2]]);
  const features = { f: { key, embedding: wholeTensor([2, 3], 1), sliceDims: [1, 2], combiner: new ReduceSum() } };
  const back = embeddingSlicesGradient(features, new Map([['f:0_1', Tensor.of('float32', [[5], [6]])]]));
  t.same(back.get('f')!.toArray(), [
    [5, 0, 0],
    [6, 0, 0],
  ]);
});

t.test('the first ids have a mask; reducing combiners have no positions', async (t) => {
  const key = RaggedTensor.fromRows('int64', [[1], [], [2, 3, 4]]);
  t.same(new FirstN(2).sizeMask(key).toArray(), [
    [1, 0],
    [0, 0],
    [1, 1],
  ]);
  t.equal(new FirstN(2).maxSeqLength, 2);
  t.equal(new ReduceSum().maxSeqLength, 0);
  t.equal(new ReduceMean().maxSeqLength, 0);
  t.throws(() => new FirstN(0), { code: 'ML_SEQ_LENGTH', message: 'seq_length must be greater than 0' });
  const features = { f: { key, embedding: wholeTensor([4, 2], 1), sliceDims: [1], combiner: new ReduceSum() } };
  t.throws(() => createEmbeddingSlices(features), { code: 'ML_OP', message: /slices of f/ });
});
