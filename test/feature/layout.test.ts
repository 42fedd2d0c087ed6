import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import {
  fusedEmbeddingToLayout,
  fusedEmbeddingToLayoutGradient,
} from '../../src/feature/serving/fused-embedding-to-layout.js';
import { KernelLayout } from '../../src/feature/serving/kernel-layout.js';
import type { LayoutEmbeddings } from '../../src/feature/serving/layout-inputs.js';
import { compileLayout } from '../../src/feature/serving/layout-plan.js';
import {
  type ShardedFids,
  type ShardingVersion,
  shardFidColumns,
} from '../../src/feature/serving/sharding-sparse-fids.js';
import { type FeatureConfigs, OUT_TYPE, POOLING_TYPE } from '../../src/io/example-messages.js';
import type { MessageInput } from '../../src/io/message.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { KernelHarness } from '../kernels/harness.js';
import { dot, wholeTensor } from '../tensor/ops/arbitraries.js';
import { component, embeddingsFor, type RandomBatch, randomBatch } from './random-batch.js';

const VERSIONS: readonly ShardingVersion[] = [1, 2, 3, 4, 5];
const harness = await KernelHarness.create(16 << 20);
const bits = (list: readonly { readonly data: Float32Array }[]) =>
  list.map(({ data }) => Buffer.from(Float32Array.from(data).buffer));

/** Pools and places slice by slice, straight from the definition. */
function plainLayouts(batch: RandomBatch): number[][] {
  const plan = compileLayout(batch.configs, batch.psNum);
  const { batchSize, columns } = batch.columns;
  const outputs = plan.outputs.map(({ rowFloats }) => new Array<number>(batchSize * rowFloats).fill(0));
  for (const { feature, start, end, output, offset, positionStride } of plan.tasks) {
    const { shared, fids, splits } = columns[feature.index]!;
    for (let b = 0; b < batchSize; b++) {
      const sample = fids.subarray(splits[shared ? 0 : b], splits[(shared ? 0 : b) + 1]);
      const out = outputs[output]!;
      const row = b * plan.outputs[output]!.rowFloats + offset;
      sample.forEach((fid, k) => {
        for (let c = start; c < end; c++) {
          const x = component(feature.tableIndex, fid, c);
          if (feature.poolingType === POOLING_TYPE.FIRSTN) {
            if (k < feature.maxSequenceLength) out[row + k * positionStride + c - start] = x;
          } else if (feature.poolingType === POOLING_TYPE.MEAN) {
            out[row + c - start] = Math.fround(out[row + c - start]! + Math.fround(x / sample.length));
          } else out[row + c - start] = Math.fround(out[row + c - start]! + x);
        }
      });
    }
  }
  return outputs;
}

function shard(batch: RandomBatch, version: ShardingVersion, unique: boolean): ShardedFids {
  return shardFidColumns(batch.columns, batch.order, { psNum: batch.psNum, version, unique });
}

t.test('every version, unique or not, gives the layouts of the definition', async () => {
  fc.assert(
    fc.property(randomBatch, fc.boolean(), (batch, unique) => {
      const plan = compileLayout(batch.configs, batch.psNum);
      const expected = plainLayouts(batch);
      for (const version of VERSIONS) {
        const sharded = shard(batch, version, unique);
        const outputs = fusedEmbeddingToLayout(plan, embeddingsFor(batch, sharded), sharded);
        assert.deepEqual(
          outputs.map(({ data }) => [...data]),
          expected,
          `version ${version}`,
        );
        assert.deepEqual(
          outputs.map(({ shape }) => shape),
          plan.outputs.map(({ dims }) => [batch.columns.batchSize, ...dims]),
        );
      }
    }),
    { numRuns: 60 },
  );
});

t.test('the kernels give the bits of the plain form, forward and backward', async () => {
  fc.assert(
    fc.property(
      randomBatch,
      fc.constantFrom(...VERSIONS),
      fc.constantFrom(1, 0.3),
      fc.integer(),
      (batch, version, scale, seed) =>
        harness.scope(() => {
          const plan = compileLayout(batch.configs, batch.psNum);
          const sharded = shard(batch, version, true);
          const given = embeddingsFor(batch, sharded);
          const embeddings = {
            ...given,
            embeddings: given.embeddings.map((v) => v.map((x) => x / 3)),
          } as LayoutEmbeddings;
          const kernel = new KernelLayout(plan, harness.wasm, harness.memory, harness.arena);
          const plain = fusedEmbeddingToLayout(plan, embeddings, sharded);
          assert.deepEqual(bits(kernel.forward(embeddings, sharded)), bits(plain));
          const grads = plain.map(({ shape }, i) => wholeTensor(shape, seed + i));
          assert.deepEqual(
            bits(kernel.backward(embeddings, sharded, grads, scale).map((data) => ({ data }))),
            bits(fusedEmbeddingToLayoutGradient(plan, embeddings, sharded, grads, scale).map((data) => ({ data }))),
          );
        }),
    ),
    { numRuns: 60 },
  );
});

t.test('gradients are the adjoint of the layouts', async () => {
  fc.assert(
    fc.property(randomBatch, fc.constantFrom(...VERSIONS), fc.integer(), (batch, version, seed) => {
      const plan = compileLayout(batch.configs, batch.psNum);
      const sharded = shard(batch, version, true);
      const embeddings = embeddingsFor(batch, sharded);
      const outputs = fusedEmbeddingToLayout(plan, embeddings, sharded);
      const grads = outputs.map(({ shape }, i) => wholeTensor(shape, seed + i));
      const gradients = fusedEmbeddingToLayoutGradient(plan, embeddings, sharded, grads);
      const vectors = (list: readonly Float32Array[]) => list.map((data) => Tensor.vector('float32', data));
      const forward = dot(outputs, grads);
      const back = dot(vectors(embeddings.embeddings), vectors(gradients));
      assert.ok(Math.abs(forward - back) <= 1e-4 * (1 + Math.abs(forward)), `${forward} and ${back}`);
    }),
    { numRuns: 60 },
  );
});

t.test('several requests stack along the batch', async () => {
  fc.assert(
    fc.property(randomBatch, (batch) => {
      const plan = compileLayout(batch.configs, batch.psNum);
      const sharded = shard(batch, 5, true);
      const one = embeddingsFor(batch, sharded);
      const twice = <T>(list: Iterable<T>): T[] => [...list, ...list];
      const single = fusedEmbeddingToLayout(plan, one, sharded);
      const joined = fusedEmbeddingToLayout(
        plan,
        {
          version: 5,
          embeddings: one.embeddings.map((vector) => Float32Array.from(twice(vector))),
          embSize: Int32Array.from(twice(sharded.embSize)),
          requests: [sharded.sizes!, sharded.sizes!],
        },
        {
          nflOffset: Uint32Array.from(twice(sharded.nflOffset)),
          featureOffset: Int32Array.from(twice(sharded.featureOffset)),
          fidOffset: BigUint64Array.from(twice(sharded.fidOffset)),
          batchSize: sharded.batchSize * 2,
        },
      );
      assert.deepEqual(
        joined.map(({ data }) => [...data]),
        single.map(({ data }) => twice(data)),
      );
    }),
    { numRuns: 30 },
  );
});

const config = (out: object, pooling: number = POOLING_TYPE.SUM): MessageInput<FeatureConfigs> => ({
  featureConfigs: new Map([
    ['a', { table: 't', sliceDims: [1, 2], poolingType: pooling, maxSequenceLength: 2 }],
    ['b', { table: 't', sliceDims: [3] }],
  ]),
  outConfigs: new Map([['x', out]]),
});
const slices = (...list: [string, number, number][]) =>
  list.map(([featureName, start, end]) => ({ featureName, start, end }));

t.test('slice configs are filled from the features, and shapes may be left out', async (t) => {
  const plan = compileLayout(config({ sliceConfigs: slices(['b', 0, 3]), outType: OUT_TYPE.NONE }), 1);
  t.match(plan.slices.get('x'), [
    { featureName: 'b', featureIdx: 1, sliceIdx: 0, poolingType: 0, maxSequenceLength: 0 },
  ]);
  t.match(plan.outputs, [{ layout: 'x', dims: [3], batchSize: -1, rowFloats: 3 }]);
});

t.test('layouts that cannot be made are refused', async (t) => {
  const bad = (reason: RegExp, out: object, pooling?: number) =>
    t.throws(() => compileLayout(config(out, pooling), 1), { code: 'ML_LAYOUT', message: reason });
  bad(/no slice/, {});
  bad(/feature c has no config/, { sliceConfigs: slices(['c', 0, 1]) });
  bad(/slice 2..4 of a/, { sliceConfigs: slices(['a', 2, 4]) });
  bad(/slices are 1, 2 wide/, { sliceConfigs: slices(['a', 0, 1], ['b', 0, 2]), outType: OUT_TYPE.STACK });
  bad(/cannot be added/, { sliceConfigs: slices(['a', 0, 1]), outType: OUT_TYPE.ADDN }, POOLING_TYPE.FIRSTN);
  bad(/sequences of 2 and 0/, { sliceConfigs: slices(['a', 0, 1], ['b', 0, 1]) }, POOLING_TYPE.FIRSTN);
  bad(/2 shapes for 1/, { sliceConfigs: slices(['a', 0, 1]), shape: [{ dims: [-1, 1] }, { dims: [-1, 1] }] });
  bad(/shape \[-1,2\]/, { sliceConfigs: slices(['a', 0, 1]), shape: [{ dims: [-1, 2] }] });
});

t.test('inputs that do not agree with the plan are refused, by both forms', async (t) => {
  const plan = compileLayout(config({ sliceConfigs: slices(['a', 0, 1]), shape: [{ dims: [2, 1] }] }), 1);
  const offsets = {
    nflOffset: Uint32Array.of(0, 2, 3),
    featureOffset: Int32Array.of(0, 1, 1),
    fidOffset: BigUint64Array.of(0n),
    batchSize: 2,
  };
  const run = (vector: Float32Array, changed: Partial<typeof offsets> = {}) => {
    const embeddings = { version: 3, embeddings: [vector] } as const;
    const all = { ...offsets, ...changed };
    const kernel = new KernelLayout(plan, harness.wasm, harness.memory, harness.arena);
    for (const form of [() => fusedEmbeddingToLayout(plan, embeddings, all), () => kernel.forward(embeddings, all)]) {
      t.throws(form, { code: 'ML_LAYOUT' });
    }
  };
  run(new Float32Array(2));
  run(new Float32Array(3), { fidOffset: BigUint64Array.of(1n << 32n) });
  run(new Float32Array(3), { batchSize: 3 });
  run(new Float32Array(3), { nflOffset: Uint32Array.of(0, 1, 3) });
  run(new Float32Array(3), { nflOffset: Uint32Array.of(0) });
  run(new Float32Array(3), { featureOffset: Int32Array.of(0, 5, 1) });
  run(new Float32Array(3), { featureOffset: Int32Array.of(-1, 0, 1) });
});
