/** @file Training on the GPU backend gives the same bits in every run, in whatever order the device does its work. */
import t from 'tap';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { addBias, matMul, sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/layers.js';
import { concatColumns, reduceMean } from '../../src/graph/ops/math.js';
import { reshape } from '../../src/graph/ops/shape.js';
import { group, placeholder, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import type { SimulatorControls } from '../../src/runtime/cuda/simulator.js';
import type { FeedValue } from '../../src/runtime/feed-writer.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/embedding-ops.js';
import { HashTable } from '../../src/sparse/hash-table.js';
import { RandomUniformInitializer } from '../../src/sparse/initializers.js';
import { AdagradOptimizer } from '../../src/sparse/optimizers.js';
import type { Pooling } from '../../src/sparse/pooling.js';
import { defineTable } from '../../src/sparse/table-config.js';
import { stream } from '../kernels/both.js';
import { raggedOf, withSession } from '../runtime/with-session.js';
import { trainFfm } from '../train/ffm-run.js';
import { DEFAULTS, type SimulatedDriver, withSimulated } from './simulated.js';

const CUDA = { backend: 'cuda', cuda: { driver: 'sim' } } as const;

/** Orders of blocks, warps and lanes, work that is done late among them. */
const SCHEDULES: readonly SimulatorControls[] = [
  { seed: 5, residentBlocks: 4, quantum: 64 },
  { seed: 23, residentBlocks: 3, quantum: 7, lazyStreams: true },
  { seed: 71, residentBlocks: 4, quantum: 16, splitLanes: true },
];

/** What `run` gives under every schedule, the usual one first. */
async function underSchedules<T>(driver: SimulatedDriver, run: () => Promise<T>): Promise<T[]> {
  const results = [await run()];
  for (const schedule of SCHEDULES) {
    driver.simulator.configure({ ...DEFAULTS, ...schedule });
    results.push(await run());
  }
  return results;
}

const [FEATURES, DIM, ROWS, IDS] = [['sum', 'mean', { firstN: 2 }] as const satisfies readonly Pooling[], 5, 40, 9];

/** One table, looked up by three features in three ways; nine ids, so that each has many gradients. */
function ragged() {
  const graph = new Graph();
  const optimizer = AdagradOptimizer({ learningRate: 0.1, initialAccumulatorValue: 0.1 });
  const initializer = RandomUniformInitializer(-0.5, 0.5);
  const config = defineTable('t', [{ dim: DIM, initializer, optimizer, learningRate: 0.1 }]);
  const label = placeholder(graph, 'label');
  const lookups = FEATURES.map((pooling, f) => {
    const ids = raggedPlaceholder(graph, `ids${f}`, 6);
    return embeddingLookup(ids, config, `lookup${f}`, pooling);
  });
  const flat = lookups.map((lookup) => reshape(lookup, [lookup.columns]));
  const width = lookups.reduce((sum, { columns }) => sum + columns, 0);
  const next = stream(4);
  const w = variable(graph, 'w', [width, 1], () => Float32Array.from({ length: width }, () => next() - 0.5));
  const b = variable(graph, 'b', [1], () => new Float32Array(1));
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
  return { graph, loss, config, train: group(graph, [...dense, ...sparse]) };
}

function batch(step: number) {
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

t.test(
  'ragged lookups summed, averaged and cut: the same losses and rows, bit for bit',
  withSimulated(async (t, driver) => {
    const results = await underSchedules(driver, async () => {
      const { graph, loss, config, train } = ragged();
      const losses: number[] = [];
      let rows: number[] = [];
      await withSession(graph, { ...CUDA, seed: 1, batchSize: ROWS }, async (session) => {
        for (let step = 0; step < 6; step++) losses.push((await session.run([loss, train], batch(step)))[0] as number);
        const sorted = [...HashTable.of(session, config).rows()].sort((a, b) => Number(a.id - b.id));
        rows = sorted.flatMap(({ weights, state }) => [...weights, ...state]);
      });
      return { losses, rows };
    });
    t.equal(new Set(results[0]!.losses).size, 6, 'losses move');
    t.ok(results[0]!.rows.length >= IDS * DIM);
    for (const [index, result] of results.entries()) t.same(result, results[0], `schedule ${index}`);
  }),
);

t.test(
  'the demo model: the same losses, bit for bit',
  withSimulated(async (t, driver) => {
    const results = await underSchedules(driver, () => trainFfm({ steps: 12, session: CUDA }));
    for (const [index, losses] of results.entries()) t.same(losses, results[0], `schedule ${index}`);
  }),
);
