/**
 * @file The models of ctr-ref as a user writes them: logistic regression, a field-aware factorization machine, DeepFM.
 *
 * Models and hyper-parameters are those of bench/peers/torch_ctr.py, with ids that get a row when they are met. Three
 * things are near it and not the same: initial vectors are uniform with its standard deviation and not normal; an id
 * without a row reads as zeros, also in the step that makes it; and Adagrad's epsilon is in the root (an accumulator
 * that starts at its square).
 */
import { MersenneTwister } from '../src/base/random.js';
import type { FeatureColumn } from '../src/feature/model/feature-column.js';
import { FeatureFactory } from '../src/feature/model/feature-factory.js';
import type { FeatureSlice } from '../src/feature/model/feature-slot.js';
import { gradients } from '../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../src/graph/graph.js';
import { relu, sigmoid } from '../src/graph/ops/activations.js';
import { columns, concatColumns } from '../src/graph/ops/columns.js';
import { addN } from '../src/graph/ops/elementwise.js';
import { sigmoidCrossEntropyWithLogits } from '../src/graph/ops/losses.js';
import { matMul } from '../src/graph/ops/matmul.js';
import { fmPairs } from '../src/graph/ops/pairs.js';
import { reduceMean } from '../src/graph/ops/reductions.js';
import { addBias, rowDot } from '../src/graph/ops/rows.js';
import { globalStep, group, idsPlaceholder, increment, placeholder, variable } from '../src/graph/ops/state.js';
import type { BatchSchema } from '../src/memory/batch.js';
import { applyGradients } from '../src/optim/apply-gradients.js';
import { RandomUniformInitializer, ZerosInitializer } from '../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../src/sparse/config/optimizers.js';
import type { ModelSpec } from '../src/train/model-spec.js';
import { CATEGORIES, DENSE, VOCABULARY } from './ctr-ref.js';

export const CTR_MODELS = ['lr', 'ffm', 'deepfm'] as const;
export type CtrModel = (typeof CTR_MODELS)[number];

/** Feeds in the order of the files. */
export const CTR_SCHEMA: BatchSchema = [
  { name: 'label', kind: 'dense', width: 1 },
  { name: 'dense', kind: 'dense', width: DENSE },
  { name: 'ids', kind: 'ids', width: CATEGORIES },
];

const DIM = 16;
const HIDDEN = [256, 128, 64];
/** The features of the FFM demo among those of ctr-ref, and the pairs of them that meet. */
const FFM_FIELDS = [14, 3, 23, 9, 25, 6];
const FFM_PAIRS = [
  [0, 3],
  [0, 4],
  [1, 5],
  [2, 3],
  [2, 5],
] as const;
const EPSILON = 1e-8;
const DENSE_RATE = 0.01;
const PEER_SEED = 1;

const adagrad = (learningRate: number) =>
  AdagradOptimizer({ learningRate, initialAccumulatorValue: EPSILON * EPSILON });

/** With `columns` a feed for each column of a table: label, I1 to I13, C1 to C26. */
export function buildCtr(model: CtrModel, inputs: 'arrays' | 'columns' = 'arrays'): ModelSpec {
  const graph = new Graph();
  const label = placeholder(graph, { name: 'label' });
  const { dense, idOf } = inputs === 'arrays' ? arrays(graph) : singles(graph);
  const fields = model === 'ffm' ? FFM_FIELDS : Array.from({ length: CATEGORIES }, (_, field) => field);
  const spread = (model === 'ffm' ? 0.05 : 0.01) * Math.sqrt(3);
  const optimizer = adagrad(model === 'deepfm' ? 0.02 : 0.05);

  const features = new FeatureFactory();
  const vectorCount = { lr: 0, ffm: 2, deepfm: 1 }[model];
  const slots = fields.map((field) => {
    const slot = features.createFeatureSlot({
      slotId: field + 1,
      hasBias: true,
      biasInitializer: ZerosInitializer(),
      biasOptimizer: optimizer,
      defaultVecInitializer: RandomUniformInitializer(-spread, spread),
      defaultVecOptimizer: optimizer,
    });
    const vectors = Array.from({ length: vectorCount }, () => slot.addFeatureSlice(DIM));
    return { field, slot, vectors };
  });
  const embeddings = slots.map(({ field, slot, vectors }) => ({
    column: features.createFeatureColumn(slot, idOf(field)),
    vectors,
  }));

  const layers = new Layers(graph, 1 + vectorCount * DIM);
  const terms = [layers.linear('linear', dense, 1), ...embeddings.map(({ column }) => column.getBias())];
  if (model === 'ffm') terms.push(...ffmTerms(embeddings));
  if (model === 'deepfm') {
    const vectors = concatColumns(embeddings.map(({ column, vectors: [slice] }) => column.embeddingLookup(slice!)));
    terms.push(
      fmPairs(vectors, { dim: DIM }),
      layers.mlp(concatColumns([vectors, dense], { name: 'mlp_input' }), HIDDEN),
    );
  }
  const logit = addN(terms, { name: 'logit' });
  const pred = sigmoid(logit, { name: 'pred' });
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logit, label, { name: 'cross_entropy' }), { name: 'loss' });

  const step = increment(globalStep(graph), { by: 1, name: 'global_step/increment' });
  const lookups = embeddings.map(({ column }) => column.getAllEmbeddingsConcat());
  const grads = gradients([loss], [...lookups, ...layers.variables]) as Tensor[];
  const updates = [
    ...features.applyEmbeddingGradients(embeddings.map(({ column }, i) => [grads[i]!, column] as const)),
    ...applyGradients(
      layers.variables.map((weights, i) => [grads[lookups.length + i]!, weights] as const),
      adagrad(DENSE_RATE),
    ),
  ];
  const trainOp = group(graph, [step, ...updates], { name: 'train_op' }) as Op;
  return { name: model, graph, label, pred, loss, trainOp };
}

/** The numbers of an example, and the id of one field. */
interface Inputs {
  readonly dense: Tensor;
  idOf(field: number): Parameters<FeatureFactory['createFeatureColumn']>[1];
}

function arrays(graph: Graph): Inputs {
  const dense = placeholder(graph, { name: 'dense', width: DENSE });
  const ids = idsPlaceholder(graph, { name: 'ids', width: CATEGORIES });
  return { dense, idOf: (field) => columns(ids, field, field + 1, { name: `id_${field}` }) };
}

function singles(graph: Graph): Inputs {
  const numbers = Array.from({ length: DENSE }, (_, n) => placeholder(graph, { name: `I${n + 1}` }));
  const ids = Array.from({ length: CATEGORIES }, (_, n) => idsPlaceholder(graph, { name: `C${n + 1}` }));
  return { dense: concatColumns(numbers, { name: 'dense' }), idOf: (field) => ids[field]! };
}

/** The dot products of the pairs; a feature meets each partner with a vector of its own. */
function ffmTerms(embeddings: readonly { column: FeatureColumn; vectors: readonly FeatureSlice[] }[]): Tensor[] {
  const used = embeddings.map(() => 0);
  const next = (field: number) => {
    const { column, vectors } = embeddings[field]!;
    return column.embeddingLookup(vectors[used[field]!++]!);
  };
  return FFM_PAIRS.map(([a, b]) => rowDot(next(a), next(b), { name: `dot_${a}_${b}` }));
}

/**
 * Layers that start from the very numbers the peer draws: uniform within one over the root of the inputs, from its
 * seed, after those of a table of all ids. At large batches the AUC of one pass depends more on them than on all else.
 */
class Layers {
  readonly variables: Tensor[] = [];
  readonly #graph: Graph;
  readonly #random = new MersenneTwister(PEER_SEED);

  constructor(graph: Graph, rowWidth: number) {
    this.#graph = graph;
    // Normal numbers are drawn in blocks of 16; a rest is drawn once more.
    const drawn = (VOCABULARY + 1) * rowWidth;
    this.#random.skip(drawn + (drawn % 16 === 0 ? 0 : 16));
  }

  /** `count` floats in [-bound, bound), each from 24 bits. */
  #uniform(count: number, bound: number): Float32Array {
    return Float32Array.from({ length: count }, () => ((this.#random.nextU32() & 0xffffff) / 2 ** 23 - 1) * bound);
  }

  linear(name: string, x: Tensor, width: number): Tensor {
    const bound = 1 / Math.sqrt(x.columns);
    const kernel = transposed(this.#uniform(x.columns * width, bound), x.columns);
    const first = this.#uniform(width, bound);
    const weights = variable(this.#graph, { name: `${name}/kernel`, shape: [x.columns, width], initial: () => kernel });
    const bias = variable(this.#graph, { name: `${name}/bias`, shape: [width], initial: () => first });
    this.variables.push(weights, bias);
    const out = addBias(matMul(x, weights), bias, { name });
    return width === 1 ? columns(out, 0, 1) : out;
  }

  mlp(input: Tensor, widths: readonly number[]): Tensor {
    let x = input;
    for (const [i, width] of widths.entries()) x = relu(this.linear(`mlp_${i}`, x, width));
    return this.linear(`mlp_${widths.length}`, x, 1);
  }
}

/** The transpose of a matrix with rows of `columns`. */
function transposed(values: Float32Array, columns: number): Float32Array {
  const rows = values.length / columns;
  return Float32Array.from(values, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]!);
}
