/** @file Lookups of two features of one table, trained with fed gradients where the session says. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { globalStep, group, increment, placeholder, raggedPlaceholder } from '../../src/graph/ops/state.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { RandomUniformInitializer } from '../../src/sparse/config/initializers.js';
import * as optimizers from '../../src/sparse/config/optimizers.js';
import { defineTable, type SegmentOptions } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { stream } from '../kernels/both.js';
import { raggedOf, withSession } from '../runtime/with-session.js';

export const HOST = { backend: 'cuda', cuda: { driver: 'sim' } } as const;
export const DEVICE = { ...HOST, useGpuEmbTable: true } as const;
export const CPU = { backend: 'wasm', threads: 1, kernels: 'plain' } as const;

export const apart = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, index) => Math.abs(value - b[index]!)));

/** The files of a saved table, by name. */
export async function filesOf(dir: string, table: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(dir)).filter((name) => name.startsWith(`${table}-`)).sort();
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name))] as const)));
}

/** Lookups of a ragged feature, whose gradients are fed. */
export function model(segments: readonly SegmentOptions[], definition = {}) {
  const graph = new Graph();
  const config = defineTable('t', segments, definition);
  const dim = segments.reduce((sum, segment) => sum + segment.dim, 0);
  const [ids, other] = [
    raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 6 }),
    raggedPlaceholder(graph, { name: 'other', valuesPerRow: 6 }),
  ];
  const seed = placeholder(graph, { name: 'seed', width: dim });
  const lookups = [embeddingLookup(ids, config), embeddingLookup(other, config, { name: 'other', pooling: 'mean' })];
  const grads = lookups.map((lookup) => gradients([lookup], [lookup], { gradYs: [seed] })[0] as Tensor);
  const updates = applyEmbeddingGradients(grads.map((grad, i) => [grad, lookups[i]!] as const));
  const train = group(graph, [increment(globalStep(graph)), ...updates]);
  return { graph, config, dim, lookups, train };
}

export const vocabulary = [
  -1n,
  0n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  ...Array.from({ length: 60 }, (_, i) => BigInt(i * 7919)),
];

export function batch(step: number, dim: number, rows = 5) {
  const next = stream(step + 1);
  const list = () => Array.from({ length: rows }, () => Array.from({ length: Math.floor(next() * 6) }, pick));
  const pick = () => vocabulary[Math.floor(next() * vocabulary.length)]!;
  const [ids, other] = [raggedOf(list()), raggedOf(list())];
  return { ids, other, seed: Float32Array.from({ length: rows * dim }, () => next() * 2 - 1) };
}

export type Model = ReturnType<typeof model>;

export async function trained(
  { graph, config, dim, lookups, train }: Model,
  options: Partial<SessionOptions>,
  steps = 25,
) {
  return withSession(graph, { seed: 3, threads: 1, ...options }, async (session) => {
    const shown: number[] = [];
    for (let step = 0; step < steps; step++) {
      const values = await session.run([...lookups, train], batch(step, dim));
      for (const value of values.slice(0, 2)) shown.push(...(value as Float32Array));
    }
    // A program that only looks up, over rows that steps made.
    for (const value of await session.run(lookups, batch(0, dim))) shown.push(...(value as Float32Array));
    const table = HashTable.of(session, config);
    const size = table.size;
    const rows = [...table.rows()].map(({ id, lastUpdateSec, weights, state }) => {
      return { id, lastUpdateSec, floats: [...weights, ...state] };
    });
    return { shown, rows, size };
  });
}

export const random = RandomUniformInitializer(-0.5, 0.25);
export const ALL_OPTIMIZERS: Readonly<Record<string, NonNullable<SegmentOptions['optimizer']>>> = {
  sgd: optimizers.SgdOptimizer(),
  adagrad: optimizers.AdagradOptimizer({ initialAccumulatorValue: 0.1, weightDecayFactor: 0.01 }),
  ftrl: optimizers.FtrlOptimizer({ initialAccumulatorValue: 0.1, beta: 1 }),
  adam: optimizers.AdamOptimizer({ useNesterov: true }),
  amsgrad: optimizers.AmsgradOptimizer(),
  rmsprop: optimizers.RmspropOptimizer({ learningRate: 0.05, momentum: 0.9 }),
  rmspropv2: optimizers.RmspropV2Optimizer({ momentum: 0.9 }),
  momentum: optimizers.MomentumOptimizer({ momentum: 0.9 }),
  adadelta: optimizers.AdadeltaOptimizer(),
  movingAverage: optimizers.MovingAverageOptimizer({ momentum: 0.9 }),
  groupFtrl: optimizers.FTRLWithGroupSparsityOptimizer({ initialAccumulatorValue: 0.1, beta: 1 }),
  groupAdagrad: optimizers.AdaGradWithGroupLassoOptimizer({ initialAccumulatorValue: 0.1, beta: 0.01 }),
  decoupled: optimizers.DynamicWdAdagradOptimizer({
    decoupleWeightDecay: true,
    weightDecayFactor: 0.01,
    enableDynamicWd: false,
  }),
};
