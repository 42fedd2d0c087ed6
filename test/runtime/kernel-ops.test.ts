import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { KernelOps } from '../../src/runtime/backends/wasm/kernel-ops.js';
import * as gather from '../../src/tensor/ops/gather-embeddings.js';
import * as reduce from '../../src/tensor/ops/reduce-and-split.js';
import { fusedReorderByIndices } from '../../src/tensor/ops/reorder-by-indices.js';
import { uniqueKeyWithValueAndOffset } from '../../src/tensor/ops/unique-key.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { KernelHarness } from '../kernels/harness.js';
import { wholeTensor } from '../tensor/ops/arbitraries.js';

const h = await KernelHarness.create(8 << 20);
const ops = new KernelOps({ kernels: h.wasm, memory: h.memory, arena: h.arena, maxUniqueIds: 64 });
const arrays = (list: readonly { toArray(): unknown }[]) => list.map((item) => item.toArray());
const id = fc.oneof(fc.bigInt({ min: -9n, max: 9n }), fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }));
const idLists = fc.array(fc.array(id, { maxLength: 20 }), { maxLength: 4 });

t.test('a fused reorder by kernels is the plain one', async () => {
  fc.assert(
    fc.property(idLists, fc.integer({ min: 1, max: 7 }), (lists, numOfShards) =>
      h.scope(() => {
        const inputs = lists.map((list) => BigInt64Array.from(list));
        const options = { dims: lists.map((_, m) => m + 1), numOfShards };
        const plain = fusedReorderByIndices(inputs, options);
        const made = ops.fusedReorderByIndices(inputs, options);
        for (const key of Object.keys(plain) as (keyof typeof plain)[])
          assert.deepEqual([...made[key]], [...plain[key]], key);
      }),
    ),
  );
});

t.test('unique keys by kernels are the plain ones', async () => {
  fc.assert(
    fc.property(idLists, (lists) =>
      h.scope(() => {
        const key = RaggedTensor.fromRows('int64', lists);
        const dims = lists.map((_, r) => (r % 3) + 1);
        const plain = uniqueKeyWithValueAndOffset(key, dims);
        const made = ops.uniqueKeyWithValueAndOffset(key, dims);
        assert.deepEqual(made.uniqueKey.toArray(), plain.uniqueKey.toArray());
        assert.deepEqual(made.valueOffset.toArray(), plain.valueOffset.toArray());
        assert.equal(made.valueBuffer!.buffer.length, plain.valueBuffer!.buffer.length);
      }),
    ),
  );
});

t.test('fused gather and reduce-and-split by kernels are the plain ones, gradients too', async () => {
  const lists = fc.array(fc.array(fc.nat(10), { maxLength: 8 }), { maxLength: 3 });
  fc.assert(
    fc.property(lists, fc.integer(), (offsets, seed) =>
      h.scope(() => {
        const dims = offsets.map((_, m) => m + 3);
        const places = offsets.map((list) => Int32Array.from(list));
        const fused = wholeTensor([16], seed).data;
        const out = gather.fusedGatherEmbeddingsByInput(fused, places, dims);
        assert.deepEqual(arrays(ops.fusedGatherEmbeddingsByInput(fused, places, dims)), arrays(out));
        assert.deepEqual(
          [...ops.fusedGatherEmbeddingsByInputGradient(16, out, places, dims, 0.5)],
          [...gather.fusedGatherEmbeddingsByInputGradient(16, out, places, dims, 0.5)],
        );
        const splits = offsets.map((list) => Tensor.vector('int64', BigInt64Array.of(0n, 0n, BigInt(list.length))));
        const slices = dims.map((dim) => [1, dim - 1]);
        const sums = reduce.fusedReduceAndSplit(out, splits, slices);
        assert.deepEqual(arrays(ops.fusedReduceAndSplit(out, splits, slices)), arrays(sums));
        assert.deepEqual(
          arrays(ops.fusedReduceAndSplitGradient(splits, sums, slices)),
          arrays(reduce.fusedReduceAndSplitGradient(splits, sums, slices)),
        );
      }),
    ),
  );
});

t.test('more distinct ids than the table holds are refused', async (t) => {
  const ids = BigInt64Array.from({ length: 200 }, (_, i) => BigInt(i));
  const reorder = () => ops.fusedReorderByIndices([ids], { dims: [1], numOfShards: 1 });
  t.throws(() => h.scope(reorder), { code: 'ML_OP', message: /128 cells/ });
});
