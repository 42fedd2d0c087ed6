/** @file Models over feature slots: columns, slices, heads, losses, metrics, and what is refused of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { defineSchema, dense, ragged } from '../../../src/data/schema.js';
import { ReduceMean } from '../../../src/feature/model/combiners.js';
import { Graph, type Tensor } from '../../../src/graph/graph.js';
import { placeholder } from '../../../src/graph/ops/state.js';
import { AdagradOptimizer as DenseAdagrad } from '../../../src/optim/tf-optimizers.js';
import { fidV2 } from '../../../src/sparse/config/fid.js';
import { ZerosInitializer } from '../../../src/sparse/config/initializers.js';
import { SgdOptimizer } from '../../../src/sparse/config/optimizers.js';
import { CpuTrainingConfig } from '../../../src/train/config/training-config.js';
import { EstimatorSpec } from '../../../src/train/estimator-spec.js';
import type { Mode } from '../../../src/train/task-params.js';
import { CpuTraining } from '../../../src/train/tasks/cpu-training.js';
import type { MonolithBaseModel } from '../../../src/train/tasks/monolith-base-model.js';
import { MonolithModel } from '../../../src/train/tasks/monolith-model.js';
import type { TaskFeatures, TaskInput } from '../../../src/train/tasks/native-task.js';
import { ParserCtx, withParserCtx } from '../../../src/train/tasks/parser-ctx.js';
import { TaskEstimator } from '../../../src/train/tasks/task-estimator.js';
import { getSigmoidLossAndPred, getSoftmaxLossAndPred } from '../../../src/train/tasks/task-losses.js';
import { TaskModel } from '../../../src/train/tasks/task-model.js';
import { openSession, withSession } from '../../runtime/with-session.js';

const ids = ragged.i64({ valuesPerRow: 2 });
const schema = defineSchema({ click: dense.f32(), dwell: dense.f32(), user: ids, item: ids });
const ROWS = 16;
const data = {
  click: Array.from({ length: ROWS }, (_, row) => row % 2),
  dwell: Array.from({ length: ROWS }, (_, row) => (row % 4) / 4),
  user: Array.from({ length: ROWS }, (_, row) => [BigInt(row % 2)]),
  item: Array.from({ length: ROWS }, (_, row) => [BigInt(row % 4), 7n]),
};
const SLICE = { initializer: ZerosInitializer(), optimizer: SgdOptimizer({ learningRate: 0.5 }) };

/** Two heads: a click and a time, from sums of one float for each feature. */
class TwoHeads extends MonolithModel {
  spec: (label: Tensor[], pred: Tensor[], loss: Tensor) => unknown = (label, pred, loss) =>
    new EstimatorSpec({
      label,
      pred,
      loss,
      headName: ['click', 'dwell'],
      classification: [true, false],
      optimizer: new DenseAdagrad({ learningRate: 0.1 }),
    });

  inputFn(mode: Mode): TaskInput {
    return { schema, batchSize: ROWS, data, epochs: mode === 'train' ? 40 : 1 };
  }

  modelFn(features: TaskFeatures, mode: Mode) {
    this.createEmbeddingFeatureColumn('user', { occurrenceThreshold: null });
    const click = this.lookupEmbeddingSlice(['user', 'item'], 'click', 1, { ...SLICE, outType: 'add_n' });
    const dwell = this.lookupEmbeddingSlice({ user: 1, item: 1 }, 'dwell', null, { ...SLICE, outType: 'addn' });
    const label = mode === 'infer' ? null : features.click!;
    const first = getSigmoidLossAndPred({ logits: click, label, mode });
    const second = getSigmoidLossAndPred({ logits: dwell, label: mode === 'infer' ? null : features.dwell!, mode });
    if (mode !== 'infer') this.addLoss(second.loss!);
    return this.spec([features.click!, features.dwell!], [first.pred, second.pred], first.loss!) as EstimatorSpec;
  }
}

const made = <M extends MonolithBaseModel>(cls: { params(): object }) =>
  (cls.params() as { instantiate(): M }).instantiate();
const built = (model: MonolithBaseModel, mode: 'train' | 'eval' | 'predict' = 'train') =>
  new TaskModel(new CpuTraining(new CpuTrainingConfig(), model), { modelDir: null }).build(mode);

t.test('two heads train on one loss, are measured each in its way, and predicted by name', async (t) => {
  const modelDir = mkdtempSync(join(tmpdir(), 'monolith-model-'));
  t.teardown(() => rmSync(modelDir, { recursive: true }));
  const params = TwoHeads.params();
  const session = { threads: 2, memoryBytes: 64 << 20 };
  await using estimator = new TaskEstimator({ params, config: new CpuTrainingConfig(), modelDir, session });
  const { step } = await estimator.train();
  t.equal(step, 40);
  const { metrics, loss, globalStep } = await estimator.evaluate();
  t.equal(globalStep, 40);
  t.equal(metrics.click_auc, 1);
  t.ok(metrics.dwell_mse! < 0.05, `${metrics.dwell_mse}`);
  t.ok(loss > 0);
  let rows = 0;
  for await (const { heads } of estimator.predict()) {
    t.equal(heads!.click!.prediction > 0.5, rows % 2 === 1);
    rows++;
  }
  t.equal(rows, ROWS);
  t.equal((await estimator.evaluate({ steps: 1 })).globalStep, 40, 'an evaluation trains nothing');
});

t.test('features are in the slots of a list, of their names, or of numbers from 1 on', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'monolith-list-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'list'), '# name slot\nuser 7\nfeature_name=item slot=9\n');
  const slots = new Map<string, number | undefined>();
  class Slots extends TwoHeads {
    override modelFn(features: TaskFeatures, mode: Mode) {
      for (const name of ['user', 'item']) {
        slots.set(name, this.createEmbeddingFeatureColumn(name).slot.slotId);
      }
      return super.modelFn(features, mode);
    }
  }
  const model = made<Slots>(Slots);
  built(model);
  t.same([...slots.values()], [1, 2]);
  const listed = made<Slots>(Slots);
  listed.p.feature_list = join(dir, 'list');
  built(listed);
  t.same([...slots.values()], [7, 9]);
  writeFileSync(join(dir, 'list'), 'user\n');
  const broken = made<Slots>(Slots);
  broken.p.feature_list = join(dir, 'list');
  t.throws(() => built(broken), { code: 'ML_TASK', message: /line 1: user names no slot/ });
});

t.test('a loss is corrected for sampled negatives, and its logits are kept in bounds', async (t) => {
  const graph = new Graph();
  const [logits, label, rate] = ['logits', 'label', 'rate'].map((name) => placeholder(graph, { name }));
  const common = { logits: logits!, label: label!, mode: 'train' } as const;
  const plain = getSigmoidLossAndPred(common);
  const sampled = getSigmoidLossAndPred({ ...common, sampleRate: rate!, predictBeforeCorrection: false });
  const biased = getSigmoidLossAndPred({ ...common, sampleRate: 0.5, sampleBias: true, instanceWeight: rate! });
  const bounded = getSigmoidLossAndPred({ ...common, logitClipThreshold: 0.1 });
  const fetches = [plain, sampled, biased, bounded].flatMap(({ loss, pred }) => [loss!, pred]);
  await withSession(graph, { backend: 'reference' }, async (session) => {
    const feeds = { logits: [2, -4], label: [1, 0], rate: [0.5, 0.25] };
    const found = (await session.run(fetches, feeds)) as (number | Float32Array)[];
    const ce = (x: number, y: number) => Math.log1p(Math.exp(-Math.abs(x))) + Math.max(x, 0) - x * y;
    const near = (value: unknown, wanted: number) =>
      t.ok(Math.abs(Number(value) - wanted) < 1e-5, `${value} ${wanted}`);
    near(found[0], ce(2, 1) + ce(-4, 0));
    near((found[1] as Float32Array)[0], 1 / (1 + Math.exp(-2)));
    near(found[2], ce(2 - Math.log(0.5), 1) + ce(-4 - Math.log(0.25), 0));
    near((found[3] as Float32Array)[1], 1 / (1 + Math.exp(4 + Math.log(0.25))));
    const logSigmoid = (x: number) => -Math.log1p(Math.exp(-x));
    const [p, n] = [logSigmoid(2) - Math.log(0.5), logSigmoid(-4) - Math.log(0.5)];
    near(found[4], 0.5 * ce(p, 1) + 0.25 * ce(n, 0));
    const limit = Math.log(9);
    near(found[6], ce(2, 1) + ce(-limit, 0));
  });
  for (const logitClipThreshold of [0, 1]) {
    t.throws(() => getSigmoidLossAndPred({ ...common, logitClipThreshold }), { code: 'ML_TASK' });
  }
  t.throws(() => getSigmoidLossAndPred({ ...common, sampleRate: 0 }), { code: 'ML_TASK', message: /sample rate/ });
  t.throws(() => getSigmoidLossAndPred({ ...common, label: null }), { code: 'ML_TASK', message: /needs a label/ });
  t.equal(getSigmoidLossAndPred({ ...common, mode: 'infer' }).loss, null);
});

t.test('a softmax predicts the class of the largest logit', async (t) => {
  const graph = new Graph();
  const logits = placeholder(graph, { name: 'logits', width: 3 });
  const label = placeholder(graph, { name: 'label' });
  const { loss, pred } = getSoftmaxLossAndPred({ logits, label, mode: 'train' });
  await withSession(graph, { backend: 'reference' }, async (session) => {
    const feeds = {
      logits: [
        [0, 2, 1],
        [3, 0, 0],
      ],
      label: [1, 2],
    };
    const [losses, classes] = (await session.run([loss!, pred], feeds)) as Float32Array[];
    t.same([...classes!], [1, 0]);
    t.equal(losses!.length, 2, 'one for each example');
  });
  t.equal(getSoftmaxLossAndPred({ logits, label: null, mode: 'infer' }).loss, null);
});

t.test('what a model function may not give is refused in the words of the reference', async (t) => {
  const withSpec = (spec: TwoHeads['spec']) => Object.assign(made<TwoHeads>(TwoHeads), { spec });
  const refused = (model: MonolithBaseModel, message: string | RegExp) =>
    t.throws(() => built(model), { code: 'ML_TASK', message });
  refused(
    withSpec(() => 7),
    'EstimatorSpec Error!',
  );
  refused(
    withSpec((label, pred, loss) => new EstimatorSpec({ label, pred, loss })),
    /EstimatorSpec Error! 1 heads/,
  );
  refused(
    withSpec(([label], [pred], loss) => [label, loss, pred]),
    'dense_optimizer not found!',
  );
  const [name, optimizer] = ['ctr', new DenseAdagrad({ learningRate: 0.1 })];
  const without = withSpec(
    ([label], [pred]) => new EstimatorSpec({ label: label!, pred: pred!, headName: name, optimizer }),
  );
  without.p.mode = 'train';
  refused(without, 'EstimatorSpec Error!');
  const triple = Object.assign(
    withSpec(([label], [pred], loss) => [label, loss, pred]),
    { defaultDenseOptimizer: optimizer },
  );
  t.same(
    built(triple).heads!.map((head) => head.name),
    ['ctr_head'],
    'the head of deep insight',
  );
  const twice = made<TwoHeads>(TwoHeads);
  twice.addExtraOutput('x', {});
  t.throws(() => twice.addExtraOutput('x', {}), { code: 'ML_TASK', message: 'key x exists!' });
  t.throws(() => twice.graph, { code: 'ML_TASK', message: 'no graph is being built' });
});

t.test('lookups take features, groups, pairs or a record, and nothing else', async (t) => {
  class Lookups extends TwoHeads {
    override modelFn(features: TaskFeatures, mode: Mode) {
      const shape = (x: Tensor) => x.spec.shape;
      const pair = this.lookupEmbeddingSlice(['user', 'item'], 'v', 4, SLICE);
      t.same(pair.map(shape), [
        ['batch', 4],
        ['batch', 4],
      ]);
      t.same(shape(this.lookupEmbeddingSlice(['user', 'item'], 'v', 4, { outType: 'concat' })), ['batch', 8]);
      t.same(shape(this.lookupEmbeddingSlice(['user', 'item'], 'v', 4, { outType: 'stack' })), ['batch', 2, 4]);
      const groups = this.lookupEmbeddingSlice([['user', 'item'], ['user']], 'v', 4, { groupOutType: 'concat' });
      t.same(groups.map(shape), [
        ['batch', 8],
        ['batch', 4],
      ]);
      const pairs = this.lookupEmbeddingSlice(
        [
          ['user', 2],
          ['item', 3],
        ],
        'w',
      );
      t.same(pairs.map(shape), [
        ['batch', 2],
        ['batch', 3],
      ]);
      const refuse = (features: unknown, dim: number | null) =>
        t.throws(() => this.lookupEmbeddingSlice(features as never, 'x', dim), { message: 'ValueError for features' });
      refuse(['user'], null);
      refuse({ user: 2 }, 4);
      refuse([['user', {}]], 4);
      withParserCtx(new ParserCtx({ enableFusedLayout: true }), () => {
        t.throws(() => this.lookupEmbeddingSlice([['user', 'item']], 'v', 4), {
          message: 'group pool is not support when fused_layout',
        });
      });
      const column = this.createEmbeddingFeatureColumn('user', { combiner: new ReduceMean() });
      t.equal(column, this.createEmbeddingFeatureColumn('user'), 'a column that exists is returned as it is');
      return super.modelFn(features, mode);
    }
  }
  built(made<Lookups>(Lookups));
  t.match(Lookups.layoutName('v', ['b', 'a']), /^v_[0-9a-f]{32}$/);
  t.equal(Lookups.layoutName('v', ['b', 'a']), Lookups.layoutName('v', ['a', 'b']));
});

t.test('features can share a slot, by its name or by the bits of their ids', async (t) => {
  class Shares extends TwoHeads {
    override inputFn(mode: Mode) {
      return this.shareSlot(super.inputFn(mode), { user: [true, 5], item: [false, 6] });
    }

    override modelFn(features: TaskFeatures, mode: Mode) {
      const shared = this.createEmbeddingFeatureColumn('item', { sharedName: 'user' });
      t.equal(shared.slot, this.createEmbeddingFeatureColumn('user').slot);
      t.equal(shared.slot.slotId, 5, 'the slot its ids were given');
      return super.modelFn(features, mode);
    }
  }
  const model = made<Shares>(Shares);
  const training = new CpuTraining(new CpuTrainingConfig(), model);
  const input = training.createInputFn('train')();
  t.same(Object.keys(input.schema.features), ['click', 'dwell', 'user', 'item', 'item_share']);
  const graph = new Graph();
  const { item_share: placed, user } = input.schema.inputs(graph) as unknown as Record<string, Tensor>;
  const { batchOf } = await import('./read-input.js');
  const session = await openSession(graph, { schema: input.schema.specs, batchSize: ROWS, memoryBytes: 64 << 20 });
  const batch = await batchOf(session, input);
  await session.close();
  t.equal(batch.item_share![2], fidV2(6, 1n));
  t.equal(batch.item![2], 1n, 'the feature itself is as it was');
  t.equal(batch.user![1], fidV2(5, 1n), 'in place');
  t.same(placed!.spec, user!.spec);
});
