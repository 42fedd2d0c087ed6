/** @file int64 counters that grow by what is fed: global_step += value. */
import t from 'tap';
import { loadBatches } from '../../src/data/resident-batches.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { Graph } from '../../src/graph/graph.js';
import { columns } from '../../src/graph/ops/columns.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import {
  assignAdd,
  globalStep,
  group,
  idsPlaceholder,
  increment,
  placeholder,
  raggedPlaceholder,
  variable,
} from '../../src/graph/ops/state.js';
import type { RunContext, TrainHook } from '../../src/train/hooks/hook.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { BACKENDS, openSession, withSession } from './with-session.js';

function build() {
  const graph = new Graph();
  const value = idsPlaceholder(graph, { name: 'value' });
  return { graph, count: assignAdd(globalStep(graph), value) };
}

for (const backend of BACKENDS) {
  t.test(`the global step grows by the sum of what is fed, ${backend}`, async (t) => {
    for (const threads of [1, 2, 3]) {
      for (const deterministic of [false, true]) {
        const { graph, count } = build();
        await withSession(graph, { backend, threads, deterministic }, async (session) => {
          const step = async (...value: bigint[]) => {
            await session.run([count], { value });
            return session.globalStep;
          };
          t.equal(await step(1n), 1);
          t.equal(await step(2n), 3);
          t.equal(await step(3n), 6, 'global_step += 1, 2, 3');
          t.equal(await step(...Array.from({ length: 8 }, (_, i) => BigInt(i))), 34, 'the sum over the batch');
          t.equal(await step(), 34, 'of an empty batch nothing');
          t.equal(await step(-4n, 2n ** 40n), 30 + 2 ** 40, 'in 64 bits, of either sign');
        });
      }
    }
  });
}

t.test('a column of a feed, and a counter that also counts runs', async (t) => {
  const graph = new Graph();
  const block = idsPlaceholder(graph, { name: 'block', width: 3 });
  const counter = globalStep(graph);
  const ops = [assignAdd(counter, columns(block, 1, 2)), increment(counter, { by: 100 })];
  await withSession(graph, { threads: 2 }, async (session) => {
    await session.run([group(graph, ops)], { block: BigInt64Array.of(7n, 1n, 7n, 7n, 2n, 7n, 7n, 3n, 7n) });
    t.equal(session.globalStep, 106);
  });
});

t.test('hooks of a run see the step that the batches make, and steps run one by one', async (t) => {
  const schema = defineSchema({ value: dense.i64(), x: dense.f32() });
  const graph = new Graph();
  const { value, x } = schema.inputs(graph);
  const trainOp = group(graph, [assignAdd(globalStep(graph), value)]);
  const seen: number[] = [];
  const hook: TrainHook = {
    quietSteps: () => Number.POSITIVE_INFINITY,
    afterRun: ({ globalStep: step }: RunContext) => void seen.push(step),
  };
  const trainer = await LocalTrainer.create({
    model: { name: 'count', graph, label: x, loss: reduceMean(x), pred: x, trainOp },
    session: { schema, batchSize: 4, threads: 2, memoryBytes: 32 << 20 },
    modelDir: null,
    steps: 100,
    hooks: [hook],
  });
  t.teardown(() => trainer.close());
  t.equal(trainer.session.stepsAheadMax([trainOp]), 1);
  const values = [[1n], [2n, 3n], [10n], [4n, 5n, 6n]];
  const batches = loadBatches(
    trainer.session,
    values.map((value) => schema.batch({ value, x: value.map(Number) })),
  );
  let next = 0;
  await trainer.train({ next: () => batches[next++ % 4]!, batchesAhead: Number.POSITIVE_INFINITY });
  t.same(seen.slice(0, 5), [1, 6, 16, 31, 32]);
  t.ok(trainer.session.globalStep >= 100, 'it stops at the first step past the last');
});

t.test('what cannot be added is refused when the graph is built', async (t) => {
  const graph = new Graph();
  const counter = globalStep(graph);
  const wrong = [
    placeholder(graph, { name: 'float' }),
    idsPlaceholder(graph, { name: 'wide', width: 2 }),
    raggedPlaceholder(graph, { name: 'list', valuesPerRow: 1 }),
    counter,
  ];
  for (const value of wrong) t.throws(() => assignAdd(counter, value), { code: 'ML_GRAPH' }, value.name);
  const weight = variable(graph, { name: 'w', shape: [], initial: () => new Float32Array(1) });
  t.throws(() => assignAdd(weight, idsPlaceholder(graph, { name: 'ids' })), { code: 'ML_GRAPH' });
  const schema = defineSchema({ ids: ragged.i64({ valuesPerRow: 2 }), time: dense.i64({ width: 2 }) });
  t.same(schema.specs[1], { name: 'time', kind: 'ids', width: 2 });
  t.throws(() => defineSchema({ time: { kind: 'ids', width: 0 } }), { code: 'ML_FEED' });
  const session = await openSession(build().graph);
  t.teardown(() => session.close());
  await t.rejects(session.run([session.graph.ops.at(-1)!], { value: [1.5] }), { code: 'ML_FEED' });
});
