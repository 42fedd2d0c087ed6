/**
 * @file A small model with everything a step on a device moves: feeds, ragged ids, rows, dense variables, updates of
 * both.
 */
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { concatColumns } from '../../src/graph/ops/columns.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias } from '../../src/graph/ops/rows.js';
import { reshape } from '../../src/graph/ops/shape.js';
import { group, placeholder, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import type { FeedValue } from '../../src/runtime/session/feed-writer.js';
import type { Session } from '../../src/runtime/session/session.js';
import { RandomUniformInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable, type TableConfig } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import type { Pooling } from '../../src/sparse/steps/pooled-shape.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { stream } from '../kernels/both.js';
import { raggedOf } from '../runtime/with-session.js';

const FEATURES = ['sum', 'mean', { firstN: 2 }] as const satisfies readonly Pooling[];
export const [DIM, ROWS, IDS] = [5, 40, 9];

/** One table, looked up by three features in three ways; nine ids, so that each has many gradients. */
export function raggedModel() {
  const graph = new Graph();
  const optimizer = AdagradOptimizer({ learningRate: 0.1, initialAccumulatorValue: 0.1 });
  const initializer = RandomUniformInitializer(-0.5, 0.5);
  const config = defineTable('t', [{ dim: DIM, initializer, optimizer, learningRate: 0.1 }]);
  const label = placeholder(graph, { name: 'label' });
  const lookups = FEATURES.map((pooling, f) => {
    const ids = raggedPlaceholder(graph, { name: `ids${f}`, valuesPerRow: 6 });
    return embeddingLookup(ids, config, { name: `lookup${f}`, pooling });
  });
  const flat = lookups.map((lookup) => reshape(lookup, [lookup.columns]));
  const width = lookups.reduce((sum, { columns }) => sum + columns, 0);
  const next = stream(4);
  const w = variable(graph, {
    name: 'w',
    shape: [width, 1],
    initial: () => Float32Array.from({ length: width }, () => next() - 0.5),
  });
  const b = variable(graph, { name: 'b', shape: [1], initial: () => new Float32Array(1) });
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(addBias(matMul(concatColumns(flat), w), b), label));
  const grads = gradients([loss], [w, b, ...lookups]) as Tensor[];
  const dense = applyGradients(
    [
      [grads[0]!, w],
      [grads[1]!, b],
    ],
    optimizer,
  );
  const sparse = applyEmbeddingGradients(lookups.map((lookup, f) => [grads[f + 2]!, lookup] as const));
  return { graph, loss, config, width, train: group(graph, [...dense, ...sparse]) };
}

/** The feeds of a step. */
export function raggedBatch(step: number) {
  const next = stream(step + 1);
  const feeds: Record<string, FeedValue> = { label: Float32Array.from({ length: ROWS }, () => Math.round(next())) };
  for (const f of FEATURES.keys()) {
    const ids = () => BigInt(Math.floor(next() * IDS));
    feeds[`ids${f}`] = raggedOf(
      Array.from({ length: ROWS }, () => Array.from({ length: Math.floor(next() * 7) }, ids)),
    );
  }
  return feeds;
}

/** Weights and optimizer state of all rows, by id. */
export function rowsOf(session: Session, config: TableConfig): number[] {
  const sorted = [...HashTable.of(session, config).rows()].sort((a, b) => Number(a.id - b.id));
  return sorted.flatMap(({ weights, state }) => [...weights, ...state]);
}
