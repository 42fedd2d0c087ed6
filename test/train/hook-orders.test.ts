/**
 * @file No order of hooks makes one wait for another, and none changes what is learned: all of those that fill queues,
 * push late, fetch variables, save, evaluate, wait or stop, in random orders and ways of a step.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { GradientDescentOptimizer } from '../../src/compat/optimizers.js';
import { cachedVariableCreator } from '../../src/graph/cached-variables.js';
import { psDevice } from '../../src/graph/device.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { mul } from '../../src/graph/ops/elementwise.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { globalStep, group, increment, placeholder, raggedPlaceholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { enqueueDictsWithQueueReturn } from '../../src/queue/enqueue-dicts.js';
import type { MultiFIFOQueue } from '../../src/queue/fifo-queue.js';
import { LocalRows } from '../../src/runtime/session/row-store.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { OnesInitializer } from '../../src/sparse/config/initializers.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { AsyncFunctionMgr } from '../../src/train/async-function-mgr.js';
import { BarrierHook, BarrierOp } from '../../src/train/hooks/barrier.js';
import { CheckpointSaverHook } from '../../src/train/hooks/checkpoint-saver.js';
import { LocalControlKv } from '../../src/train/hooks/control-kv.js';
import { CsvLogHook } from '../../src/train/hooks/csv-log.js';
import { EnqueueHook } from '../../src/train/hooks/enqueue-hook.js';
import { FetchAllCachedVariablesHook } from '../../src/train/hooks/fetch-cached-variables.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { ProgressHook } from '../../src/train/hooks/progress.js';
import { QueryActionHook } from '../../src/train/hooks/query-action.js';
import { CustomGlobalStepWaiterHook } from '../../src/train/hooks/step-waiter.js';
import { ChiefSyncHook, SyncHelper, WorkerSyncHook } from '../../src/train/hooks/sync-hooks.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { queueInput } from '../../src/train/queue-input.js';
import { raggedOf } from '../runtime/with-session.js';
import { rounds } from '../support/rounds.js';

const STEPS = 9;
const SAVE_EVERY = 4;

/** A sum over rows times a cached variable; the variable learns a step late, and everything comes through a queue. */
function buildModel(capacity: number) {
  const graph = new Graph();
  const fed = {
    x: placeholder(graph, { name: 'x' }),
    ids: raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 2 }),
  };
  const [inputs, queue] = enqueueDictsWithQueueReturn(fed, capacity);
  const optimizer = AdagradOptimizer({ learningRate: 0.5 });
  const table = defineTable('rows', [{ dim: 1, initializer: OnesInitializer(), optimizer }]);
  const rows = embeddingLookup(inputs.ids, table);
  const w = graph.variableCreatorScope(cachedVariableCreator, () =>
    graph.device(psDevice(1), () => variable(graph, { name: 'w', shape: [], initial: () => Float32Array.of(0.5) })),
  );
  const loss = reduceMean(mul(mul(reduceSum(rows, { axis: 'columns' }), inputs.x), w));
  const [byRows, byW] = gradients([loss], [rows, w]);
  const functions = new AsyncFunctionMgr();
  const late = functions.addAsyncFunction(
    (grad: Tensor) => applyGradients([[grad, w]], new GradientDescentOptimizer({ learningRate: 0.1 })),
    [byW!],
  );
  const trainOp = group(graph, [late, ...applyEmbeddingGradients([[byRows!, rows]]), increment(globalStep(graph))]);
  const model = { name: 'orders', graph, label: inputs.x as Tensor, pred: loss, loss, trainOp };
  return { model, queue: queue as MultiFIFOQueue, functions, table };
}

const batch = (step: number) => ({
  x: Float32Array.of(step % 3, 1),
  ids: raggedOf([[BigInt(step % 4)], [7n, BigInt(step)]]),
});

/** Everything a training may have, each once. */
function hooksOf({ model, queue, functions }: ReturnType<typeof buildModel>, dir: string): TrainHook[] {
  mkdirSync(dir);
  const kv = new LocalControlKv();
  const helper = new SyncHelper(1, kv);
  const saver = new CheckpointSaverHook({ modelDir: dir, modelName: model.name, everySteps: SAVE_EVERY });
  return [
    new EnqueueHook(queue, () => Array.from({ length: STEPS }, (_, step) => batch(step))),
    ...functions.hooks,
    new FetchAllCachedVariablesHook(),
    saver,
    new QueryActionHook({ modelDir: dir, triggerSave: (context) => saver.triggerSave(context) }),
    new BarrierHook(0, new BarrierOp({ capacity: 1, kv })),
    new ChiefSyncHook(helper),
    new WorkerSyncHook(0, helper),
    new CustomGlobalStepWaiterHook({ waitUntilStep: 0 }),
    new CsvLogHook({ file: join(dir, 'log.csv'), loss: model.loss, batchSize: 2 }),
    new ProgressHook({ loss: model.loss, batchSize: 2, everyMs: 1, onProgress: () => undefined }),
    { beforeRun: () => setImmediate(undefined), afterRun: () => setImmediate(), drain: () => setImmediate() },
    { poll: () => setImmediate() },
  ];
}
const HOOKS = 13;

interface Way extends Pick<SessionOptions, 'prefetch' | 'postpush' | 'threads' | 'rows'> {
  readonly capacity: number;
  readonly batchesAhead: number;
}

async function train(order: readonly number[], { capacity, batchesAhead, ...way }: Way, dir: string) {
  const built = buildModel(capacity);
  const hooks = hooksOf(built, dir);
  if (hooks.length !== HOOKS) throw new Error(`${hooks.length} hooks`);
  const trainer = await LocalTrainer.create({
    model: built.model,
    modelDir: null,
    steps: 100,
    session: {
      schema: [
        { name: 'x', kind: 'dense', width: 1 },
        { name: 'ids', kind: 'ragged' },
      ],
      batchSize: 2,
      memoryBytes: 2 ** 25,
      deterministic: true,
      stepTimeoutMs: 30_000,
      ...way,
    },
    hooks: order.map((at) => hooks[at]!),
  });
  try {
    await trainer.train((session) => queueInput(session, built.queue, { batchesAhead }));
    const { session } = trainer;
    const rows = [...HashTable.of(session, built.table).rows()].map(({ id, weights }) => [id, ...weights]);
    return { step: session.globalStep, w: session.readVariable('w')[0], rows };
  } finally {
    await trainer.close();
  }
}

const ways = fc.record({
  prefetch: fc.nat(2),
  postpush: fc.boolean(),
  threads: fc.integer({ min: 1, max: 2 }),
  capacity: fc.integer({ min: 1, max: 4 }),
  batchesAhead: fc.integer({ min: 3, max: 6 }),
  rows: fc.constantFrom(undefined, new LocalRows()),
});
const plain = Array.from({ length: HOOKS }, (_, at) => at);

t.setTimeout(600_000);
t.test('hooks work in every order, with rows ahead and late pushes', async (t) => {
  const root = t.testdir();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(plain, { minLength: HOOKS, maxLength: HOOKS }),
      ways,
      async (order, { rows, ...way }) => {
        const given = { ...way, ...(rows && { rows }) };
        run++;
        const wanted = await train(plain, given, join(root, `${run}-plain`));
        const found = await train(order, given, join(root, `${run}`));
        t.equal(wanted.step, STEPS);
        t.same(found, wanted, JSON.stringify({ order, way }));
      },
    ),
    { numRuns: rounds({ quick: 6, deep: 60 }) },
  );
});
