/**
 * @file The built-in demo as a task: a field-aware factorization machine over six sparse features.
 *
 * Mirrors TestFFMModel: slots 0 to 3 have a bias (FTRL), five interactions of dimension 16 (SGD),
 * logit = sum of dot products and biases, loss = mean sigmoid cross entropy. The global step is counted before the
 * gradients are applied. `monolith train` runs the same model.
 */
import { MonolithError } from '../base/errors.js';
import { defineSchema, dense, type Features, ragged, type Schema } from '../data/schema.js';
import { FeatureColumn } from '../feature/model/feature-column.js';
import { gradients } from '../graph/gradients.js';
import type { Op } from '../graph/graph.js';
import { sigmoid } from '../graph/ops/activations.js';
import { addN } from '../graph/ops/elementwise.js';
import { sigmoidCrossEntropyWithLogits } from '../graph/ops/losses.js';
import { reduceMean } from '../graph/ops/reductions.js';
import { rowDot } from '../graph/ops/rows.js';
import { globalStep, group, increment } from '../graph/ops/state.js';
import { decodeTfExample } from '../io/tf-example.js';
import { FtrlOptimizer, SgdOptimizer } from '../sparse/config/optimizers.js';
import type { Mode } from '../train/task-params.js';
import {
  type InputFn,
  inputsOf,
  type ModelFn,
  NativeTask,
  type ServingInputReceiverFn,
  type TaskFeatures,
} from '../train/tasks/native-task.js';
import { registerTask } from '../train/tasks/task-registry.js';
import { ffmDataset } from './ffm-dataset.js';
import { FFM_BIAS_SLOT_COUNT, FFM_LENGTH_MAX, FFM_PAIRS, FFM_SLOT_COUNT, slotToKey } from './ffm-example.js';

/** Floats of each of the two vectors of a pair. */
const PAIR_DIM = 16;
/** Ids of each feature of the reference's input. */
const VOCAB = 5;
const BATCH_SIZE = 64;

const KEYS = Array.from({ length: FFM_SLOT_COUNT }, (_, slot) => slotToKey(slot));

/** The features of the demo; `valuesPerRow` bounds the ids an example has of each. */
export function ffmFeatures(valuesPerRow = FFM_LENGTH_MAX): Schema<Features> {
  const ids = ragged.i64({ valuesPerRow });
  return defineSchema({ label: dense.f32(), ...Object.fromEntries(KEYS.map((key) => [key, ids])) });
}

/** The demo as a task. */
export class TestFFMModel extends NativeTask {
  /** Most ids of an example per feature. */
  protected get idsPerFeature(): number {
    return FFM_LENGTH_MAX;
  }

  /** The examples of the reference: 64 of them from seed 0, over and over while it trains, and once else. */
  createInputFn(mode: Mode): InputFn {
    const { per_replica_batch_size: batchSize } = this.p.train;
    return () => {
      if (batchSize === null) {
        const hint = `params.train.per_replica_batch_size = ${BATCH_SIZE}`;
        throw new MonolithError('ML_TASK', { reason: 'the task has no batch size' }, { hint });
      }
      const data = ffmDataset({ kind: 'reference', vocab: VOCAB, batchSize, seed: 0 });
      const epochs = mode === 'train' ? Number.POSITIVE_INFINITY : 1;
      return { schema: ffmFeatures(this.idsPerFeature), batchSize, data, epochs };
    };
  }

  createModelFn(): ModelFn {
    return (features, mode) => this.#model(features, mode);
  }

  /** Takes serialized examples, `instances`. */
  override createServingInputReceiverFn(): ServingInputReceiverFn {
    return (graph) => {
      const { label: _label, ...features } = inputsOf(ffmFeatures(this.idsPerFeature), graph);
      return { features, input: 'instances', parse: parseInstances };
    };
  }

  #model(features: TaskFeatures, mode: Mode) {
    const slots = KEYS.map((name, i) =>
      this.ctx.createFeatureSlot({
        name,
        hasBias: i < FFM_BIAS_SLOT_COUNT,
        biasOptimizer: FtrlOptimizer({ learningRate: 0.1, initialAccumulatorValue: 1e-6, beta: 1 }),
        defaultVecOptimizer: SgdOptimizer({ learningRate: 0.1 }),
      }),
    );
    const columns = slots.map((slot, i) => new FeatureColumn(slot, KEYS[i]!));
    const dots = FFM_PAIRS.map(([user, item]) => {
      const [left, right] = [user, item].map((i) => columns[i]!.embeddingLookup(slots[i]!.addFeatureSlice(PAIR_DIM)));
      return rowDot(left!, right!, { name: `dot_${user}_${item}` });
    });
    const biases = columns.slice(0, FFM_BIAS_SLOT_COUNT).map((column) => column.getBias());
    const logit = addN([...dots, ...biases], { name: 'logit' });
    const pred = sigmoid(logit, { name: 'pred' });
    if (mode === 'infer') return { mode, predictions: pred };
    const { label } = features;
    const entropy = sigmoidCrossEntropyWithLogits(logit, label!, { name: 'cross_entropy' });
    const loss = reduceMean(entropy, { name: 'loss' });
    const common = { mode, loss, predictions: pred, labels: label! };
    return mode === 'train' ? { ...common, trainOp: this.#step(columns, loss) } : common;
  }

  #step(columns: readonly FeatureColumn[], loss: NonNullable<ReturnType<typeof reduceMean>>): Op {
    const { graph } = loss;
    const step = increment(globalStep(graph), { by: 1, name: 'global_step/increment' });
    const lookups = columns.map((column) => column.getAllEmbeddingsConcat());
    const grads = gradients([loss], lookups);
    const update = graph.controlDependencies([step], () =>
      this.ctx.applyEmbeddingGradients(grads.map((grad, i) => [grad, columns[i]!] as const)),
    );
    return group(graph, [step, update], { name: 'train_op' }) as Op;
  }
}

/** The parameters of the demo: batches of 64. */
export function FFMParams() {
  const params = TestFFMModel.params();
  params.name = 'test_ffm_model';
  params.train.per_replica_batch_size = BATCH_SIZE;
  params.eval.per_replica_batch_size = BATCH_SIZE;
  return params;
}

registerTask('FFMParams', FFMParams);

/** Serialized tf.Examples as what is fed: features that an example lacks are empty. */
function parseInstances(instances: readonly Uint8Array[]): Readonly<Record<string, readonly bigint[][]>> {
  const examples = instances.map((instance) => decodeTfExample(instance));
  const idsOf = (values: unknown) => (values instanceof BigInt64Array ? [...values] : []);
  return Object.fromEntries(KEYS.map((key) => [key, examples.map((example) => idsOf(example[key]))]));
}
