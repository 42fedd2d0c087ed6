/** @file Groups of steps with learning rates by step: the same bytes as single steps. */
import t from 'tap';
import { ExponentialDecay } from '../../src/base/rates/schedules.js';
import { GradientDescentOptimizer, ShampooOptimizer } from '../../src/compat/optimizers.js';
import { loadBatches } from '../../src/data/resident-batches.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph } from '../../src/graph/graph.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, variable } from '../../src/graph/ops/state.js';
import { STEPS_AHEAD_MAX } from '../../src/runtime/pool/thread-pool.js';
import { LocalRows } from '../../src/runtime/session/row-store.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { RandomUniformInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer, SgdOptimizer, withStochasticRounding } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { EvictionHook } from '../../src/train/hooks/eviction.js';
import { QueryActionHook } from '../../src/train/hooks/query-action.js';
import { TideStoppingHook } from '../../src/train/hooks/tide.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, openSession, withSession } from '../runtime/with-session.js';

const [BATCH, STEPS] = [8, 40];
const APART = { memoryBytes: 16 << 20, tableBytes: 12 << 20, bankBytes: (4 << 20) + 65536 };
const schema = defineSchema({ label: dense.f32(), user: ragged.i64({ valuesPerRow: 1 }) });
const decay = (initialLearningRate: number, decaySteps: number) =>
  new ExponentialDecay({ initialLearningRate, decaySteps, decayRate: 0.5 });

/** Rates by step wherever there can be some: of rows, with rounding that draws by the step, of variables, Shampoo's. */
function build(rate = decay(0.2, 2)) {
  const graph = new Graph();
  const { label, user } = schema.inputs(graph);
  const initializer = RandomUniformInitializer(-1, 1);
  const table = defineTable('user', [
    { dim: 3, initializer, optimizer: AdagradOptimizer({ learningRate: 1 }), learningRate: decay(0.5, 3) },
    { dim: 1, initializer, optimizer: withStochasticRounding(SgdOptimizer({ learningRate: 0.3 })) },
  ]);
  const rows = embeddingLookup(user, table);
  const first = variable(graph, { name: 'w', shape: [4, 4], initial: () => new Float32Array(16).fill(0.3) });
  const second = variable(graph, { name: 'v', shape: [4, 1], initial: () => Float32Array.of(1, -1, 2, 0.5) });
  const logit = reduceSum(matMul(matMul(rows, first), second), { axis: 'columns' });
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logit, label));
  const [byRows, byFirst, bySecond] = gradients([loss], [rows, first, second]);
  const sgd = new GradientDescentOptimizer({ learningRate: rate });
  const steps = [
    new ShampooOptimizer({ learningRate: 0.01 }).applyGradients([[byFirst!, first]]),
    sgd.applyGradients([[bySecond!, second]]),
    ...applyEmbeddingGradients([[byRows, rows]]),
    increment(globalStep(graph)),
  ];
  return { graph, table, loss, trainOp: group(graph, steps) };
}

/** Steps of three commands each that go at once, beside those of the prefetch and the last push. */
const cutSteps = (prefetch: number) => Math.floor((STEPS_AHEAD_MAX - prefetch - 1) / 3);

async function train(options: Partial<SessionOptions>, groupSize: number, most = STEPS_AHEAD_MAX) {
  const { graph, table, loss, trainOp } = build();
  return withSession(graph, { schema, ...options }, async (session) => {
    const next = stream(3);
    const batches = loadBatches(
      session,
      Array.from({ length: STEPS }, () =>
        schema.batch({
          label: Float32Array.from({ length: BATCH }, () => (next() < 0.5 ? 0 : 1)),
          user: BigInt64Array.from({ length: BATCH }, () => BigInt(Math.floor(next() * 12))),
        }),
      ),
    );
    t.equal(session.stepsAheadMax([loss, trainOp]), most);
    const losses: unknown[] = [];
    for (let at = 0; at < STEPS; at += groupSize) {
      const [group, ahead] = [batches.slice(at, at + groupSize), batches.slice(at + groupSize, at + groupSize + 2)];
      const values = await session.runSteps([loss, trainOp], group, ahead);
      losses.push(...values.map(([value]) => value));
    }
    await session.drain();
    await session.bringVariablesHome();
    const variables = session.variableNames.map((name) => [name, Array.from(session.readVariable(name), String)]);
    const rows = [...HashTable.of(session, table).rows()].map(({ id, weights, state }) => [
      id,
      [...weights],
      [...state],
    ]);
    return { losses, variables, rows };
  });
}

for (const backend of BACKENDS) {
  t.test(`groups of steps have the rates of single steps, ${backend}`, async (t) => {
    const all: Partial<SessionOptions>[] = [1, 2, 3].map((threads) => ({ backend, threads }));
    if (!process.env.MONOLITH_TEST_GPU_TABLES) all.push({ backend, threads: 2, ...APART });
    for (const options of all) {
      const single = await train(options, 1);
      t.ok(new Set(single.losses.map(String)).size > STEPS / 2, 'it learns');
      for (const size of [7, STEPS]) t.same(await train(options, size), single, `${size}: ${JSON.stringify(options)}`);
    }
  });
}

t.test('groups of steps that are cut have the rates of single steps, also those of gradients that wait', async (t) => {
  const cuts: readonly [Partial<SessionOptions>, most: number][] = [
    [{ prefetch: 2, postpush: true }, cutSteps(2)],
    [{ postpush: true, rows: new LocalRows(), ...APART }, cutSteps(0)],
  ];
  for (const [cut, most] of cuts) {
    const options = { backend: 'wasm', threads: 2, ...cut } as const;
    const single = await train(options, 1, most);
    t.ok(new Set(single.losses.map(String)).size > STEPS / 2, 'it learns');
    for (const size of [7, STEPS]) t.same(await train(options, size, most), single, `${size}: ${JSON.stringify(cut)}`);
  }
});

t.test('a rate is asked for once for each step, in order', async (t) => {
  class Asked extends ExponentialDecay {
    readonly steps: number[] = [];
    override call(step: number): number {
      this.steps.push(step);
      return super.call(step);
    }
  }
  const rate = new Asked({ initialLearningRate: 0.2, decaySteps: 2, decayRate: 0.5 });
  const { graph, trainOp } = build(rate);
  await withSession(graph, { schema, threads: 2 }, async (session) => {
    const [batch] = loadBatches(session, [schema.batch({ label: [1], user: [1n] })]);
    await session.prepare([trainOp]);
    rate.steps.length = 0;
    await session.runSteps([trainOp], [batch!, batch!, batch!]);
    await session.runSteps([trainOp], [batch!]);
    await session.runSteps([trainOp], [batch!, batch!]);
  });
  t.same(rate.steps, [0, 1, 2, 3, 4, 5]);
});

t.test('hooks that go by time cut no groups of steps with rates by step', async (t) => {
  const { graph, trainOp } = build();
  const hooks = [
    new TideStoppingHook({ startHour: 0, endHour: 24 }),
    new EvictionHook(),
    new QueryActionHook({ modelDir: t.testdir(), triggerSave: async () => undefined }),
  ];
  const createSession = () => openSession(graph, { schema });
  const monitored = await MonitoredSession.create({ graph, hooks, createSession });
  t.teardown(() => monitored.close());
  t.equal(await monitored.stepsAheadMax([trainOp]), STEPS_AHEAD_MAX);
  const again = build();
  const cut = await MonitoredSession.create({
    graph: again.graph,
    hooks: [new TideStoppingHook({ startHour: 0, endHour: 24 }), new EvictionHook()],
    createSession: () => openSession(again.graph, { schema, prefetch: 1, postpush: true }),
  });
  t.teardown(() => cut.close());
  t.equal(await cut.stepsAheadMax([again.trainOp]), cutSteps(1), 'nor of steps that are cut');
});
