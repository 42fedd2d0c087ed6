import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import {
  fusedGatherEmbeddingsByInput,
  fusedGatherEmbeddingsByInputGradient,
  gatherEmbeddingsByInput,
  gatherEmbeddingsByInputGradient,
  mapIdToEmbedding,
  mapIdToEmbeddingGradient,
} from '../../../src/tensor/ops/gather-embeddings.js';
import {
  emptyRank0Shard,
  fusedReorderByIndices,
  reorderByIndices,
  shardOfId,
} from '../../../src/tensor/ops/reorder-by-indices.js';
import {
  raggedSplitByIndices,
  splitByIndices,
  splitByIndicesGradient,
} from '../../../src/tensor/ops/split-by-indices.js';
import { RaggedTensor } from '../../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../../src/tensor/tensor.js';
import { dot, wholeTensor } from './arbitraries.js';

const i64 = (values: readonly (number | bigint)[]) => Tensor.vector('int64', BigInt64Array.from(values, BigInt));
const seed = fc.integer();

t.test('split rows are those of their index, and the gradient is the adjoint', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3)), fc.nat(3), seed, (index, width, s) => {
      const input = wholeTensor([index.length, width], s);
      const parts = splitByIndices(i64(index), input, 4);
      const rows = input.toArray() as number[][];
      parts.forEach((part, k) => {
        assert.deepEqual(
          part.toArray(),
          rows.filter((_, r) => index[r] === k),
        );
      });
      const grads = parts.map((part, k) => wholeTensor(part.shape, s + k + 1));
      const gradient = splitByIndicesGradient(i64(index), input, grads);
      assert.equal(dot(parts, grads), dot([input], [gradient]));
    }),
  );
});

t.test('int64 rows split too, and indices that name no split are refused', async (t) => {
  const parts = splitByIndices(i64([1, 0]), i64([5, 6]), 2);
  t.same(
    parts.map((part) => part.toArray()),
    [[6n], [5n]],
  );
  t.throws(() => splitByIndices(i64([2]), i64([5]), 2), { code: 'ML_OP', message: /index 2/ });
  t.throws(() => splitByIndices(i64([0]), i64([5, 6]), 2), { code: 'ML_OP' });
});

t.test('ragged values split into ragged parts with all rows', async () => {
  const rows = fc.array(fc.array(fc.nat(9), { maxLength: 4 }), { maxLength: 6 });
  fc.assert(
    fc.property(rows, seed, (lists, s) => {
      const total = lists.flat().length;
      const index = Array.from({ length: total }, (_, i) => Math.abs((s + i * 7) % 3));
      const { splits, positions } = raggedSplitByIndices(i64(index), RaggedTensor.fromRows('int64', lists), 3);
      let at = 0;
      const marked = lists.map((row) =>
        row.map((value) => ({ value: BigInt(value), k: index[at]!, at: BigInt(at++) })),
      );
      for (let k = 0; k < 3; k++) {
        const mine = marked.map((row) => row.filter((item) => item.k === k));
        assert.deepEqual(
          splits[k]!.toArray(),
          mine.map((row) => row.map((item) => item.value)),
        );
        assert.deepEqual(
          positions[k]!.toArray(),
          mine.map((row) => row.map((item) => item.at)),
        );
      }
    }),
  );
});

t.test('ragged splits refuse what does not fit in the words of the reference', async (t) => {
  const ragged = RaggedTensor.fromRows('int64', [[1, 2]]);
  t.throws(() => raggedSplitByIndices(i64([0]), ragged, 1), {
    code: 'ML_RAGGED_VALUES',
    message: 'Ragged tensor values size must match indices size. Got 2 v.s. 1',
  });
  const broken = RaggedTensor.fromRowSplits(i64([1, 2]), i64([0, 1]), { validate: false });
  t.throws(() => raggedSplitByIndices(i64([0, 0]), broken, 1), {
    code: 'ML_RAGGED_INVALID',
    message: 'The input ragged tensor is invalid.',
  });
});

t.test('reordered rows keep their other columns and come reversed inside a shard', async (t) => {
  const input = Tensor.of('int64', [
    [7, 1],
    [8, 2],
    [7, 3],
    [9, 4],
  ]);
  const { output, shardSizes } = reorderByIndices(input, Int32Array.of(1, 1, 1, 0), 2);
  t.same(output.toArray(), [
    [9n, 4n],
    [8n, 2n],
    [7n, 1n],
  ]);
  t.same([...shardSizes], [1, 2]);
  t.throws(() => reorderByIndices(input, Int32Array.of(0, 0, 0, 5), 2), { code: 'ML_OP', message: /shard 5/ });
});

t.test('a shard is the floor modulus of the id, whatever its sign', async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), fc.integer({ min: 2, max: 9 }), (id, n) => {
      const shard = shardOfId(id, n);
      assert.ok(shard >= 0 && shard < n && (id - BigInt(shard)) % BigInt(n) === 0n);
      const moved = shardOfId(id, n, true);
      assert.ok(moved >= 1 && moved < n && (id - BigInt(moved - 1)) % BigInt(n - 1) === 0n);
    }),
  );
});

t.test('the first shard stays empty from five on, unless the environment says otherwise', async (t) => {
  t.equal(emptyRank0Shard(4, {}), false);
  t.equal(emptyRank0Shard(5, {}), true);
  t.equal(emptyRank0Shard(5, { MONOLITH_SYNC_EMPTY_RANK0_PS_SHARD: '0' }), false);
  t.equal(emptyRank0Shard(5, { MONOLITH_SYNC_EMPTY_RANK0_PS_SHARD: '1' }), true);
});

t.test('offsets of a fused reorder lead every position to its own embedding', async () => {
  const input = fc.array(fc.bigInt({ min: -20n, max: 20n }), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(input, { maxLength: 4 }), fc.integer({ min: 1, max: 7 }), (lists, n) => {
      const dims = lists.map((_, m) => m + 1);
      const inputs = lists.map((list) => BigInt64Array.from(list));
      const made = fusedReorderByIndices(inputs, { dims, numOfShards: n });
      // Each embedding is its id, repeated.
      const fused: number[] = [];
      let at = 0;
      made.shardedSlotSizes.forEach((count, cell) => {
        for (let i = 0; i < count; i++, at++) {
          const dim = dims[cell % dims.length]!;
          for (let c = 0; c < dim; c++) fused.push(Number(made.output[at]));
        }
      });
      const offsets: Int32Array[] = [];
      let from = 0;
      for (const size of made.embeddingOffsetSizes) {
        offsets.push(made.embeddingOffsets.subarray(from, from + size));
        from += size;
      }
      const gathered = fusedGatherEmbeddingsByInput(Float32Array.from(fused), offsets, dims);
      lists.forEach((list, m) => {
        assert.deepEqual(
          gathered[m]!.toArray(),
          list.map((id) => Array.from({ length: dims[m]! }, () => Number(id))),
        );
      });
      assert.equal(
        made.shardSizes.reduce((a, b) => a + b, 0),
        made.output.length,
      );
    }),
  );
});

t.test('the gradient of a fused gather is its adjoint, times the scale', async () => {
  const offsets = fc.array(fc.array(fc.nat(10), { maxLength: 12 }), { maxLength: 3 });
  fc.assert(
    fc.property(offsets, fc.constantFrom(1, 0.5, -2), seed, (lists, scale, s) => {
      const dims = lists.map((_, m) => m + 1);
      const places = lists.map((list) => Int32Array.from(list));
      const fused = wholeTensor([14], s);
      const out = fusedGatherEmbeddingsByInput(fused.data, places, dims);
      const grads = out.map((tensor, m) => wholeTensor(tensor.shape, s + m + 1));
      const gradient = fusedGatherEmbeddingsByInputGradient(14, grads, places, dims, scale);
      assert.equal(scale * dot(out, grads) + 0, dot([fused], [Tensor.vector('float32', gradient)]));
    }),
  );
});

t.test('a fused gather outside its vector is refused', async (t) => {
  const gather = (offset: number) => () =>
    fusedGatherEmbeddingsByInput(new Float32Array(4), [Int32Array.of(offset)], [2]);
  t.doesNotThrow(gather(2));
  t.throws(gather(3), { code: 'ML_OP', message: /offset 3 of list 0/ });
  t.throws(gather(-1), { code: 'ML_OP' });
});

t.test('embeddings by id: the first occurrence wins, gradients are adjoint', async () => {
  const source = fc.array(fc.nat(6), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(source, { minLength: 1, maxLength: 3 }), fc.array(fc.nat(99)), seed, (lists, picks, s) => {
      const ids = lists.map(i64);
      const all = lists.flat();
      const input = i64(picks.map((pick) => all[pick % all.length]!));
      const embeddings = lists.map((list, k) => wholeTensor([list.length, 3], s + k));
      const out = mapIdToEmbedding(ids, embeddings, input);
      const rows = embeddings.flatMap((tensor) => tensor.toArray() as number[][]);
      assert.deepEqual(
        out.toArray(),
        [...input.data].map((id) => rows[all.indexOf(Number(id))]),
      );
      const grad = wholeTensor(out.shape, s + 9);
      assert.equal(dot([out], [grad]), dot(embeddings, mapIdToEmbeddingGradient(ids, input, grad)));

      const single = gatherEmbeddingsByInput(ids[0]!, embeddings[0]!, i64(lists[0]!));
      const back = wholeTensor(single.output.shape, s + 10);
      const gradient = gatherEmbeddingsByInputGradient(ids[0]!, back, single.indexMapping);
      assert.equal(dot([single.output], [back]), dot([embeddings[0]!], [gradient]));
    }),
  );
});

t.test('ids that cannot be mapped are refused in the words of the reference', async (t) => {
  const one = wholeTensor([1, 2], 1);
  t.throws(() => mapIdToEmbedding([i64([1])], [one], i64([4])), { code: 'ML_MAP_ID', message: 'Unable to map id 4' });
  t.throws(() => mapIdToEmbedding([i64([1])], [], i64([])), {
    message: 'ids length and embeddings lenght must match. 1 vs 0',
  });
  t.throws(() => gatherEmbeddingsByInput(i64([1, 2]), one, i64([1])), {
    message: 'See unmatched embedding dim 1 and id dim 2',
  });
});
