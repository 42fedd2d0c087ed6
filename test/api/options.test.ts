/** @file An option that nobody knows is an error that names the nearest one, wherever options are taken. */
import t from 'tap';
import * as cuda from '../../src/api/cuda.js';
import * as tables from '../../src/api/tables.js';
import * as compat from '../../src/compat/index.js';
import * as ml from '../../src/index.js';

/** In place of options: what no call knows. */
// biome-ignore lint/suspicious/noExplicitAny: programs in JavaScript pass what they like
const WRONG: any = { lable: 1 };

const schema = ml.defineSchema({ price: ml.f.number(), user: ml.f.id(), like: ml.f.label() });
const table = ml.defineTable('user', [{ dim: 2 }]);
const helper = new compat.SyncHelper(1, new ml.hooks.LocalControlKv());
const ffm = { kind: 'clicks', vocab: 5, batchSize: 16, seed: 0 } as const;

function calls(graph: ml.Graph, x: ml.Tensor): Record<string, () => unknown> {
  const rows = ml.Dataset.from([{ a: 1 }]);
  const each = <T extends object>(namespace: T, names: string, call: (f: (...list: unknown[]) => unknown) => unknown) =>
    Object.fromEntries(
      names.split(' ').map((name) => [name, () => call(namespace[name as keyof T] as () => unknown)] as const),
    );
  return {
    Graph: () => new ml.Graph(WRONG),
    'Session.create': () => ml.Session.create(graph, { schema: [], batchSize: 1, ...WRONG }),
    Estimator: () => new ml.Estimator(ml.zoo.lr(schema), WRONG),
    defineModel: () => ml.defineModel(schema, { name: 'm', ...WRONG }, () => ({}) as never),
    defineTable: () => ml.defineTable('t', [{ dim: 1 }], WRONG),
    'a segment': () => ml.defineTable('t', [{ dim: 1, ...WRONG }]),
    'Dataset.with': () => rows.with([], WRONG),
    'Dataset.split': () => rows.split(WRONG),
    ...each(ml.zoo, 'lr fm ffm deepfm dcn wideAndDeep', (f) => f(schema, WRONG)),
    ...each(ml.optim, 'adagrad adam adamom ftrl momentum rmsprop sgd shampoo', (f) => f(WRONG)),
    ...each(ml.schedules, 'cosineDecay exponentialDecay polynomialDecay warmup', (f) => f(WRONG)),
    ...each(ml.sparse, 'adadelta adagrad adam amsgrad ftrl momentum movingAverage rmsprop rmspropV2 sgd', (f) =>
      f(WRONG),
    ),
    ...each(ml.ops, 'relu sigmoid exp log reduceSum reduceMean stopGradient', (f) => f(x, WRONG)),
    'nn.dense': () => ml.nn.dense(x, 3, WRONG),
    'nn.mlp': () => ml.nn.mlp(x, [3], WRONG),
    BarrierOp: () => new ml.hooks.BarrierOp(WRONG),
    ChiefSyncHook: () => new ml.hooks.ChiefSyncHook(helper, WRONG),
    ControllerHook: () => new ml.hooks.ControllerHook(WRONG),
    CustomGlobalStepWaiterHook: () => new ml.hooks.CustomGlobalStepWaiterHook(WRONG),
    StopAtStepHook: () => new ml.hooks.StopAtStepHook(WRONG),
    TrainingHooksHelper: () => new ml.hooks.TrainingHooksHelper(WRONG),
    addDumpHandler: () => ml.hooks.addDumpHandler(WRONG),
    EventFileWriter: () => ml.summaries.EventFileWriter.open('nowhere', WRONG),
    PrefetchQueue: () => new ml.queues.PrefetchQueue(WRONG),
    enqueue: () => new ml.queues.PrefetchQueue<number>({ capacity: 1 }).enqueue(1, WRONG),
    dequeue: () => new ml.queues.PrefetchQueue<number>({ capacity: 1 }).dequeue(WRONG),
    PaddingFIFOQueue: () => new ml.queues.GPUCompatiblePaddingFIFOQueue(graph, WRONG),
    datedPatterns: () => ml.data.datedPatterns('d', '20260101', '20260102', WRONG),
    arrayFileDataset: () => ml.data.arrayFileDataset(WRONG),
    ffmDataset: () => ml.demo.ffmDataset({ ...ffm, ...WRONG }),
    extractSlot: () => ml.tables.extractSlot(new Uint8Array(0), WRONG),
    tryInitCuda: () => cuda.tryInitCuda(WRONG),
    prepareRunner: () => compat.prepareRunner(new compat.RunnerConfig(), WRONG),
    ExportContext: () => new compat.ExportContext('distributed' as never, WRONG),
    EmbeddingLayoutFactory: () => new compat.EmbeddingLayoutFactory(WRONG),
    waitForAdoption: () => compat.waitForAdoption('nowhere', WRONG),
  };
}

async function ofTables(): Promise<Record<string, () => unknown>> {
  const memory = await tables.TableMemory.create({ budgetBytes: 4 << 20 });
  const one = tables.HashTable.create(memory, table);
  const region = memory.region(1 << 20);
  return {
    'TableMemory.create': () => tables.TableMemory.create(WRONG),
    'HashTable.create': () => tables.HashTable.create(memory, table, WRONG),
    'MultiHashTable.create': () => tables.MultiHashTable.create(memory, { a: table }, WRONG),
    assign: () => one.assign([1n], [1, 1], WRONG),
    optimize: () => one.optimize([1n], [1, 1], WRONG),
    iterateTable: () => tables.iterateTable(one, WRONG),
    saveTable: () => tables.saveTable(one, 'nowhere', WRONG),
    restoreTable: () => tables.restoreTable(one, 'nowhere', WRONG),
    PeriodicEviction: () => new tables.PeriodicEviction(one, WRONG),
    createFilter: () => tables.createFilter({ ...region, type: 'no_filter', ...WRONG }),
    'HashFilter.counting': () => tables.HashFilter.counting({ ...region, capacity: 10, ...WRONG }),
    'HashFilter.sliding': () => tables.HashFilter.sliding({ ...region, ...WRONG }),
    ProbabilisticFilter: () => new tables.ProbabilisticFilter({ ...region, ...WRONG }),
    TouchedKeySet: () => new tables.TouchedKeySet({ ...region, ...WRONG }),
  };
}

t.test('a misspelt option is refused by all that take options', async (t) => {
  const graph = new ml.Graph();
  const x = ml.ops.placeholder(graph, { name: 'x', width: 4 });
  const session = await ml.Session.create(graph, {
    schema: [{ name: 'x', kind: 'dense', width: 4 }],
    batchSize: 1,
    threads: 1,
  });
  const all = {
    ...calls(graph, x),
    ...(await ofTables()),
    'session.run': () => session.run([x], { x: [1, 2, 3, 4] }, WRONG),
    restoreSession: () => ml.checkpoints.restoreSession(session, {} as never, WRONG),
  };
  for (const [name, call] of Object.entries(all)) {
    await t.rejects(async () => void (await call()), { code: 'ML_OPTION', message: /lable/ }, name);
  }
  await session.close();
});

t.test('the nearest name is told', async (t) => {
  t.throws(() => ml.optim.adagrad({ learningrate: 1 } as never), { code: 'ML_OPTION', hint: /learningRate/ });
  t.throws(() => new ml.hooks.BarrierOp({ capacit: 2 } as never), { code: 'ML_OPTION', hint: /capacity/ });
});
