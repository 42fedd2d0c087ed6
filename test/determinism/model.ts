/** @file Builds the model of a recipe: tables, a small network over their lookups, one train op, and its data. */
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import { relu } from '../../src/graph/ops/activations.js';
import { stopGradient } from '../../src/graph/ops/cast.js';
import { clipByGlobalNorm } from '../../src/graph/ops/clip.js';
import { concatColumns } from '../../src/graph/ops/columns.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { batchNorm, UPDATE_OPS } from '../../src/graph/ops/norms.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias } from '../../src/graph/ops/rows.js';
import { reshape } from '../../src/graph/ops/shape.js';
import {
  globalStep,
  group,
  increment,
  Placeholder,
  placeholder,
  raggedPlaceholder,
  variable,
} from '../../src/graph/ops/state.js';
import { dropout } from '../../src/graph/ops/training.js';
import type { BatchData } from '../../src/memory/batch.js';
import { trainableVariables } from '../../src/optim/optimizer.js';
import { defineTable, type SegmentOptions, type TableConfig } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { stream } from '../kernels/both.js';
import { raggedOf } from '../runtime/with-session.js';
import { compressorOf, denseOptimizerOf, rateOf, rowOptimizerOf } from './parts.js';
import { chosen, has, type Recipe, ROW_OPTIMIZERS } from './recipe.js';

export const STEPS = 10;
const DAY_SEC = 86_400;
/** When rows are evicted; half of those from before training have expired by then. */
export const NOW_SEC = 1000 * DAY_SEC;

export interface Model {
  readonly graph: Graph;
  readonly loss: Tensor;
  readonly trainOp: Op;
  readonly tables: readonly TableConfig[];
  readonly batchSize: number;
  readonly batches: readonly BatchData[];
  /** Rows that tables begin with. */
  readonly rowsBefore: { readonly ids: BigInt64Array; readonly timesSec: readonly number[] };
  /** Expired rows are evicted before this step. */
  readonly evictAt: number | undefined;
}

interface Feature {
  readonly name: string;
  readonly table: TableConfig;
  readonly pooling: 'sum' | 'mean' | { readonly firstN: number };
  readonly readOnly?: boolean;
}

function tableOf(recipe: Recipe, name: string, turn: number): TableConfig {
  const next = stream(recipe.seed * 7 + turn);
  const names = ROW_OPTIMIZERS;
  const row = chosen(recipe, 'row') ?? 'sgd';
  // A second table has another optimizer: the one that follows in the list.
  const optimizer = turn === 0 ? row : names[(names.indexOf(row) + turn) % names.length]!;
  const wide = chosen(recipe, 'full') === undefined ? 0 : 48;
  const dim = optimizer === 'batch-softmax' ? 1 : 1 + Math.floor(next() * 6) + wide;
  const schedule = rateOf(recipe, 0.05);
  const segment: SegmentOptions = {
    dim,
    optimizer: rowOptimizerOf(recipe, optimizer),
    ...compressorOf(recipe),
    ...(schedule === undefined ? {} : { learningRate: schedule }),
  };
  const more: SegmentOptions[] = has(recipe, 'several-segments')
    ? [{ dim: 3, optimizer: rowOptimizerOf(recipe, 'adagrad') }]
    : [];
  const expires = has(recipe, 'expiry') || chosen(recipe, 'full') === 'evict-expired';
  const config = defineTable(name, [segment, ...more], expires ? { defaultExpireTime: 10 } : {});
  if (!has(recipe, 'filter')) return config;
  const thresholds = { defaultOccurrenceThreshold: 2, slotOccurrenceThresholds: [{ slot: 1, occurrenceThreshold: 3 }] };
  return { ...config, admission: { thresholds, capacity: 400, splitNum: 3 } };
}

function featuresOf(recipe: Recipe): Feature[] {
  const main = tableOf(recipe, 'main', 0);
  const pooling = has(recipe, 'mean-pooling') ? 'mean' : 'sum';
  const features: Feature[] = [{ name: 'a', table: main, pooling }];
  if (has(recipe, 'shared-table')) features.push({ name: 'b', table: main, pooling: 'sum' });
  if (has(recipe, 'several-tables')) features.push({ name: 'c', table: tableOf(recipe, 'second', 1), pooling: 'sum' });
  if (has(recipe, 'sequence')) features.push({ name: 'd', table: main, pooling: { firstN: 3 } });
  if (has(recipe, 'read-only-lookup')) features.push({ name: 'e', table: main, pooling: 'sum', readOnly: true });
  return features;
}

function randomMatrix(graph: Graph, name: string, shape: readonly number[], seed: number): Tensor {
  const next = stream(seed);
  const count = shape.reduce((product, size) => product * size, 1);
  return variable(graph, {
    name,
    shape,
    initial: () => Float32Array.from({ length: count }, () => (next() - 0.5) * 0.6),
  });
}

const asMatrix = (x: Tensor): Tensor => (x.spec.shape.length === 2 ? x : reshape(x, [x.columns]));

/** Ids of a feature; `grows`: buffers begin with room for next to none, and are made again as they come. */
function idsOf(graph: Graph, name: string, grows: boolean): Tensor {
  if (!grows) return raggedPlaceholder(graph, { name, valuesPerRow: PER_ROW });
  const spec = { dtype: 'int64', shape: ['batch'], ragged: true } as const;
  return graph.add(Placeholder, [], { spec, valuesPerRow: 0.01, rowMax: PER_ROW }, name).output;
}

export function buildModel(recipe: Recipe, grows = false): Model {
  const graph = new Graph();
  const next = stream(recipe.seed * 3 + 1);
  const label = placeholder(graph, { name: 'label' });
  const dense = placeholder(graph, { name: 'dense', width: 2 });
  const features = featuresOf(recipe);
  const lookups = features.map(({ name, table, pooling }) =>
    embeddingLookup(idsOf(graph, name, grows), table, { pooling }),
  );
  const shown = lookups.map((lookup, i) => asMatrix(features[i]!.readOnly ? stopGradient(lookup) : lookup));
  const inputs = concatColumns([dense, ...shown]);
  const hidden = 3 + Math.floor(next() * 5);
  const [w1, w2] = [
    randomMatrix(graph, 'w1', [inputs.columns, hidden], 11),
    randomMatrix(graph, 'w2', [hidden, 1], 12),
  ];
  const bias = variable(graph, { name: 'bias', shape: [hidden], initial: () => new Float32Array(hidden) });
  let layer = addBias(matMul(inputs, w1), bias);
  if (has(recipe, 'batch-norm')) layer = batchNorm(layer, { momentum: 0.9 });
  layer = relu(layer);
  if (has(recipe, 'dropout')) layer = dropout(layer, { rate: 0.3 });
  const logits = reshape(matMul(layer, w2), []);
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logits, label));

  const trained = lookups.filter((_, i) => !features[i]!.readOnly);
  const targets = [...trained, ...trainableVariables(loss)];
  const raw = gradients([loss], targets) as Tensor[];
  const grads = has(recipe, 'clip') ? clipByGlobalNorm(raw, 0.3).clipped : raw;
  const rows = trained.map((lookup, i) => [grads[i]!, lookup] as const);
  const weights = targets.slice(trained.length).map((target, i) => [grads[trained.length + i]!, target] as const);
  const trainOp = group(graph, [
    ...applyEmbeddingGradients(rows),
    denseOptimizerOf(recipe).applyGradients(weights),
    ...graph.getCollection(UPDATE_OPS),
    increment(globalStep(graph)),
  ]);
  const batchSize = 17 + Math.floor(next() * 40);
  return {
    graph,
    loss,
    trainOp,
    tables: [...new Set(features.map(({ table }) => table))],
    batchSize,
    batches: Array.from({ length: STEPS }, (_, step) => batchOf(recipe, features.length, batchSize, step)),
    rowsBefore: rowsBefore(recipe),
    evictAt: has(recipe, 'expiry') ? 1 + Math.floor(next() * (STEPS - 1)) : undefined,
  };
}

const PER_ROW = 24;

/** Ids of slots 0 to 2; a model that is to fill its memory meets new ones all the time, others the same few again. */
function idOf(recipe: Recipe, next: () => number, step: number): bigint {
  const full = chosen(recipe, 'full') !== undefined;
  const low = full ? Math.floor(next() * 4000) + step * 900 : Math.floor(next() ** 3 * 600);
  return (BigInt(Math.floor(next() * 3)) << 48n) + BigInt(low) * 2_654_435_761n;
}

function batchOf(recipe: Recipe, features: number, batchSize: number, step: number): BatchData {
  const next = stream(recipe.seed * 1000 + step);
  const odd = has(recipe, 'odd-batches');
  const rows = odd ? (step === 2 ? 1 : batchSize - (step % 5)) : batchSize;
  const perRow = chosen(recipe, 'full') === undefined ? 6 : PER_ROW;
  const lists = () =>
    raggedOf(
      Array.from({ length: rows }, () =>
        Array.from({ length: Math.floor(next() * (perRow + 1)) }, () => idOf(recipe, next, step)),
      ),
    );
  return {
    rows,
    feeds: [
      { kind: 'dense', values: Float32Array.from({ length: rows }, () => (next() < 0.4 ? 1 : 0)) },
      { kind: 'dense', values: Float32Array.from({ length: rows * 2 }, () => next() - 0.5) },
      ...Array.from({ length: features }, () => ({ kind: 'ragged' as const, ...lists() })),
    ],
  };
}

function rowsBefore(recipe: Recipe): Model['rowsBefore'] {
  const expires = has(recipe, 'expiry') || chosen(recipe, 'full') === 'evict-expired';
  const count = expires ? 200 : 0;
  const next = stream(recipe.seed + 99);
  return {
    ids: BigInt64Array.from({ length: count }, (_, i) => BigInt(i) * 2_654_435_761n * 3n),
    timesSec: Array.from({ length: count }, () => NOW_SEC - Math.floor(next() * 20) * DAY_SEC),
  };
}
