/** @file Lookups that come as layouts: the same model with and without, and what is refused. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { defineSchema, dense, ragged } from '../../../src/data/schema.js';
import type { Tensor } from '../../../src/graph/graph.js';
import { columns } from '../../../src/graph/ops/columns.js';
import { addN } from '../../../src/graph/ops/elementwise.js';
import { sumInner } from '../../../src/graph/ops/inner.js';
import { rowDot } from '../../../src/graph/ops/rows.js';
import { AdagradOptimizer as DenseAdagrad } from '../../../src/optim/tf-optimizers.js';
import { SgdOptimizer } from '../../../src/sparse/config/optimizers.js';
import { CpuTrainingConfig } from '../../../src/train/config/training-config.js';
import { EstimatorSpec } from '../../../src/train/estimator-spec.js';
import type { Mode } from '../../../src/train/task-params.js';
import { MonolithModel } from '../../../src/train/tasks/monolith-model.js';
import type { TaskFeatures, TaskInput } from '../../../src/train/tasks/native-task.js';
import { TaskEstimator } from '../../../src/train/tasks/task-estimator.js';
import { getSigmoidLossAndPred } from '../../../src/train/tasks/task-losses.js';
import { FeatureTask } from '../../acceptance/feature-task.js';

const ids = ragged.i64({ valuesPerRow: 3 });
const schema = defineSchema({ click: dense.f32(), user: ids, item: ids, seen: ids });
const ROWS = 24;
const data = {
  click: Array.from({ length: ROWS }, (_, row) => row % 2),
  user: Array.from({ length: ROWS }, (_, row) => [BigInt(row % 5)]),
  item: Array.from({ length: ROWS }, (_, row) => [BigInt(row % 7), 100n]),
  seen: Array.from({ length: ROWS }, (_, row) => [BigInt(row % 3), 2n, 9n].slice(0, row % 4)),
};
const SLICE = { optimizer: SgdOptimizer({ learningRate: 0.5 }) };

/** Layouts of every kind: a list, side by side, a sum, and a sequence; a feature that is in two of them. */
class Shop extends MonolithModel {
  lookups = (): Tensor => {
    this.createEmbeddingFeatureColumn('seen', { maxSeqLength: 2 });
    const [user, item] = this.lookupEmbeddingSlice(['user', 'item'], 'vec', 4, SLICE) as [Tensor, Tensor];
    const wide = this.lookupEmbeddingSlice(['item', 'user'], 'wide', 1, { ...SLICE, outType: 'add_n' });
    const both = this.lookupEmbeddingSlice({ user: 2, item: 3 }, 'both', null, { ...SLICE, outType: 'concat' });
    const seen = this.lookupEmbeddingSlice(['seen'], 'seq', 2, { ...SLICE, outType: 'concat' });
    return addN([
      rowDot(user, item),
      wide,
      rowDot(both, both),
      rowDot(sumInner(seen, { axis: 1 }), columns(user, 0, 2)),
    ]);
  };

  inputFn(mode: Mode): TaskInput {
    return { schema, batchSize: 8, data, epochs: mode === 'train' ? 6 : 1 };
  }

  modelFn(features: TaskFeatures, mode: Mode) {
    const label = mode === 'infer' ? null : features.click!;
    const { loss, pred } = getSigmoidLossAndPred({ logits: this.lookups(), label, mode });
    const optimizer = new DenseAdagrad({ learningRate: 0.1 });
    return new EstimatorSpec({ label: features.click!, pred, loss, optimizer });
  }
}

/** Declares what has no layouts in the reference. */
class Groups extends Shop {
  override lookups = () => this.lookupEmbeddingSlice([['user', 'item']], 'vec', 1, { outType: 'add_n' });
}
class ByHand extends Shop {
  override lookups = () => {
    const wide = this.lookupEmbeddingSlice(['item'], 'wide', 1, { outType: 'add_n' });
    const column = this.createEmbeddingFeatureColumn('user');
    return addN([wide, column.embeddingLookup(column.slot.addFeatureSlice(1))]);
  };
}

function estimatorOf(t: Test, params: { readonly name: string }, enableFusedLayout: boolean) {
  const modelDir = mkdtempSync(join(tmpdir(), 'monolith-layout-'));
  t.teardown(() => rmSync(modelDir, { recursive: true }));
  const session = { threads: 1, memoryBytes: 64 << 20 };
  const config = new CpuTrainingConfig({ enableFusedLayout, embeddingPrefetchCapacity: 1, modelName: 'shop' });
  return new TaskEstimator({ params: params as never, config, modelDir, session });
}

async function predictionsOf(t: Test, enableFusedLayout: boolean): Promise<number[]> {
  await using estimator = estimatorOf(t, Shop.params(), enableFusedLayout);
  const { step } = await estimator.train();
  t.equal(step, 18);
  const found: number[] = [];
  for await (const { prediction } of estimator.predict()) found.push(prediction);
  return found;
}

t.test('a model over layouts learns what it learns feature by feature', async (t) => {
  const [plain, fused] = [await predictionsOf(t, false), await predictionsOf(t, true)];
  t.equal(fused.length, ROWS);
  t.ok(new Set(plain).size > 6, 'it learnt something');
  fused.forEach((value, row) => {
    t.ok(Math.abs(value - plain[row]!) < 1e-5, `${value} ${plain[row]}`);
  });
});

t.test('groups, lookups by hand and tasks without layouts are refused', async (t) => {
  const refused = (params: { readonly name: string }) => estimatorOf(t, params, true).train({ steps: 1 });
  await t.rejects(refused(Groups.params()), { message: /group pool is not support when fused_layout/ });
  await t.rejects(refused(ByHand.params()), { message: /lookups come as layouts/, hint: /lookupEmbeddingSlice/ });
  const params = FeatureTask.params();
  await t.rejects(refused(params), { code: 'ML_TASK', message: /declares no layouts/ });
});
