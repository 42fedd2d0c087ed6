import { createHash } from 'node:crypto';
import t from 'tap';
import { printRate } from '../../src/base/rates/rate.js';
import { PolynomialDecay } from '../../src/base/rates/schedules.js';
import { FeatureFactory } from '../../src/feature/model/feature-factory.js';
import type { FeatureSlot, FeatureSlotConfig } from '../../src/feature/model/feature-slot.js';
import { Graph } from '../../src/graph/graph.js';
import { raggedPlaceholder } from '../../src/graph/ops/state.js';
import {
  ConstantsInitializer,
  RandomUniformInitializer,
  ZerosInitializer,
} from '../../src/sparse/config/initializers.js';
import {
  AdagradOptimizer,
  FixedR8Compressor,
  Fp16Compressor,
  Fp32Compressor,
  FtrlOptimizer,
  SgdOptimizer,
} from '../../src/sparse/config/optimizers.js';
import { TABLES } from '../../src/sparse/steps/embedding-ops.js';

const sgd = (learningRate: number) => SgdOptimizer({ learningRate });
const dimsOf = (slot: FeatureSlot) => slot.mergedSegments.map(({ segment }) => segment.dimSize);

t.test('slices lie side by side, the bias first, with the defaults of the reference', async (t) => {
  const slot = new FeatureFactory().createFeatureSlot({ name: 'slot', hasBias: true });
  t.match(slot.bias, { start: 0, end: 1 });
  t.match(slot.addFeatureSlice(16), { slot, start: 1, end: 17 });
  t.match(slot.addFeatureSlice(4), { slot, start: 17, end: 21 });
  t.equal(slot.dim, 21);
  t.same(slot.mergedSegments, [
    {
      segment: {
        dimSize: 1,
        initConfig: ZerosInitializer(),
        optConfig: FtrlOptimizer({ initialAccumulatorValue: 1e-6, beta: 1 }),
        compConfig: Fp32Compressor(),
      },
      rate: 0.01,
    },
    {
      segment: {
        dimSize: 20,
        initConfig: RandomUniformInitializer(-0.05, 0.05),
        optConfig: AdagradOptimizer({ initialAccumulatorValue: 1 }),
        compConfig: Fp16Compressor(),
      },
      rate: 0.001,
    },
  ]);
});

t.test('a slot without a bias has none', async (t) => {
  const factory = new FeatureFactory();
  const slot = factory.createFeatureSlot({ name: 'slot' });
  t.equal(slot.bias, null);
  slot.addFeatureSlice(2);
  const column = factory.createFeatureColumn(slot, raggedPlaceholder(new Graph(), { name: 'ids', valuesPerRow: 1 }));
  t.throws(() => column.getBias(), { code: 'ML_GRAPH', message: /slot: the slot has no bias/ });
});

t.test('what the config of a slot or a slice says goes before the defaults', async (t) => {
  const slot = new FeatureFactory().createFeatureSlot({
    name: 'slot',
    hasBias: true,
    biasInitializer: ConstantsInitializer(1),
    biasOptimizer: sgd(0.3),
    biasCompressor: Fp16Compressor(),
    biasLearningRate: 0.7,
    defaultVecInitializer: ZerosInitializer(),
    defaultVecOptimizer: sgd(0.2),
    defaultVecCompressor: Fp32Compressor(),
    defaultVecLearningRate: 0.6,
  });
  slot.addFeatureSlice(2);
  slot.addFeatureSlice(3, { optimizer: sgd(0.1), compressor: FixedR8Compressor(), learningRate: 0.5 });
  const [initConfig, optConfig] = [ZerosInitializer(), sgd(0.2)];
  t.same(slot.mergedSegments, [
    {
      segment: { dimSize: 1, initConfig: ConstantsInitializer(1), optConfig: sgd(0.3), compConfig: { fp16: {} } },
      rate: 0.7,
    },
    { segment: { dimSize: 2, initConfig, optConfig, compConfig: { fp32: {} } }, rate: 0.6 },
    { segment: { dimSize: 3, initConfig, optConfig: sgd(0.1), compConfig: { fixedR8: { r: 1 } } }, rate: 0.5 },
  ]);
});

t.test('neighbours with equal configs and rates are merged', async (t) => {
  const slot = new FeatureFactory().createFeatureSlot({ name: 'slot' });
  const decay = () => new PolynomialDecay({ initialLearningRate: 0.01, decaySteps: 20, endLearningRate: 0.05 });
  slot.addFeatureSlice(5, { optimizer: AdagradOptimizer({ warmupSteps: 10 }) });
  slot.addFeatureSlice(2, { optimizer: SgdOptimizer(), learningRate: decay() });
  slot.addFeatureSlice(2, { optimizer: SgdOptimizer(), learningRate: decay() });
  slot.addFeatureSlice(2, { optimizer: SgdOptimizer() });
  t.same(dimsOf(slot), [5, 4, 2]);
  t.match(printRate(slot.mergedSegments[0]!.rate), /"PolynomialDecay".*decay_steps=10,end_learning_rate=0\.001/);
});

t.test('slots of another rate or evicted otherwise do not share a table', async (t) => {
  const { names } = slotsOf(
    { name: 'a' },
    { name: 'b', defaultVecLearningRate: 0.5 },
    { name: 'c', featureEvictEveryNHours: 24 },
    { name: 'd', defaultVecLearningRate: 0.001 },
  );
  const [a, b, c, d] = names();
  t.equal(new Set([a, b, c, d]).size, 3);
  t.equal(d, a, 'the rate of the optimizer may be said or left out');
});

t.test('a table of slots that upstream once named otherwise knows its older name', async (t) => {
  const { factory, slots } = slotsOf({ name: 'fc_slot_1' });
  const older = createHash('md5').update('slot_1').digest('hex');
  t.same(factory.tableOf(slots[0]!).instance.extraRestoreNames, [`MonolithHashTable_${older}`]);
});

function slotsOf(...configs: (FeatureSlotConfig & { dim?: number })[]) {
  const factory = new FeatureFactory();
  const slots = configs.map(({ dim = 4, ...config }) => {
    const slot = factory.createFeatureSlot(config);
    if (dim > 0) slot.addFeatureSlice(dim);
    return slot;
  });
  return { factory, slots, names: () => slots.map((slot) => factory.tableOf(slot).name) };
}

t.test('slots with equal configs share a table named after all of them', async (t) => {
  const { factory, slots, names } = slotsOf(
    { name: 'slot1' },
    { name: 'other', defaultVecOptimizer: sgd(0.1) },
    { name: 'slot0' },
    { name: 'wide', dim: 5 },
  );
  const [slot1, other, slot0, wide] = names();
  t.equal(slot1, 'MonolithHashTable_e21904dd414d1780e5fc904866dc69c2', 'md5 of slot0,slot1');
  t.equal(slot0, slot1);
  t.equal(factory.tableOf(slots[0]!), factory.tableOf(slots[2]!));
  t.equal(other, `MonolithHashTable_${createHash('md5').update('other').digest('hex')}`);
  t.not(wide, other);
});

t.test('columns look up once and hand out slices of the result', async (t) => {
  const graph = new Graph();
  const factory = new FeatureFactory();
  const slot = factory.createFeatureSlot({ name: 'slot', hasBias: true });
  const [a, b] = [slot.addFeatureSlice(2), slot.addFeatureSlice(3)];
  const ids = raggedPlaceholder(graph, { name: 'user', valuesPerRow: 2 });
  const column = factory.createFeatureColumn(slot, ids);
  const all = column.getAllEmbeddingsConcat();
  t.same(all.spec.shape, ['batch', 6]);
  t.equal(column.getAllEmbeddingsConcat(), all);
  t.equal(column.embeddingLookup(a).op.inputs[0], all);
  t.equal(column.embeddingLookup(b).op.name, 'user:3_6');
  t.equal(graph.tensor('user:3_6').columns, 3);
  t.same(column.getBias().spec.shape, ['batch']);
  t.same(graph.getCollection(TABLES), [factory.tableOf(slot)]);
  const second = factory.createFeatureColumn(slot, raggedPlaceholder(graph, { name: 'item', valuesPerRow: 2 }));
  t.not(second.getAllEmbeddingsConcat(), all);
  t.equal(graph.getCollection(TABLES).length, 1, 'a table is listed once');
});

t.test('a slice that is the whole row is the lookup itself', async (t) => {
  const factory = new FeatureFactory();
  const slot = factory.createFeatureSlot({ name: 'slot' });
  const slice = slot.addFeatureSlice(3);
  const column = factory.createFeatureColumn(slot, raggedPlaceholder(new Graph(), { name: 'ids', valuesPerRow: 1 }));
  t.equal(column.embeddingLookup(slice), column.getAllEmbeddingsConcat());
});

t.test('misuse is answered in the words of the reference', async (t) => {
  const factory = new FeatureFactory();
  const [slotOne, slotTwo] = ['one', 'two'].map((name) => factory.createFeatureSlot({ name }));
  t.throws(() => factory.createFeatureSlot({ name: 'one' }), {
    code: 'ML_GRAPH',
    message: /Duplicate names for the table\. Name: one/,
  });
  for (const dim of [0, -1, 1.5])
    t.throws(() => slotOne!.addFeatureSlice(dim), { code: 'ML_GRAPH', message: /dimensions/ });
  const slice = slotOne!.addFeatureSlice(2);
  const ids = raggedPlaceholder(new Graph(), { name: 'ids', valuesPerRow: 1 });
  t.throws(() => factory.createFeatureColumn(slotTwo!, ids).embeddingLookup(slice), {
    message: /Slice must come from the dedicated feature slot\./,
  });
  t.throws(() => factory.tableOf(slotOne!), { message: /two has no slice, pls\. check!/ });
  slotTwo!.addFeatureSlice(2);
  factory.tableOf(slotOne!);
  t.throws(() => slotOne!.addFeatureSlice(2), { message: /declared before the first lookup/ });
  t.throws(() => factory.createFeatureSlot({ name: 'three' }), { message: /declared before the first lookup/ });
  const stranger = new FeatureFactory().createFeatureSlot({ name: 'far' });
  t.throws(() => factory.tableOf(stranger), { code: 'ML_GRAPH', message: /far: the slot is of another factory/ });
});
