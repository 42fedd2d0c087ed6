/** @file Training on what comes out of queues: the bytes of training without, in groups, in every order of hooks. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { GradientDescentOptimizer } from '../../src/compat/optimizers.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { cachedVariableCreator } from '../../src/graph/cached-variables.js';
import { psDevice } from '../../src/graph/device.js';
import { gradients } from '../../src/graph/gradients.js';
import { Graph, type Tensor } from '../../src/graph/graph.js';
import { add, mul } from '../../src/graph/ops/elementwise.js';
import { sigmoidCrossEntropyWithLogits } from '../../src/graph/ops/losses.js';
import { reduceMean, reduceSum } from '../../src/graph/ops/reductions.js';
import { assignAdd, constant, globalStep, group, increment, placeholder, variable } from '../../src/graph/ops/state.js';
import { applyGradients } from '../../src/optim/apply-gradients.js';
import { enqueueDictsWithQueueReturn } from '../../src/queue/enqueue-dicts.js';
import type { MultiFIFOQueue } from '../../src/queue/fifo-queue.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { AdagradOptimizer } from '../../src/sparse/config/optimizers.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { applyEmbeddingGradients, embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { decodeSnapshot, snapshotRing } from '../../src/trace/read-ring.js';
import { AsyncFunctionMgr } from '../../src/train/async-function-mgr.js';
import { EnqueueHook } from '../../src/train/hooks/enqueue-hook.js';
import { FetchAllCachedVariablesHook } from '../../src/train/hooks/fetch-cached-variables.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { queueInput } from '../../src/train/queue-input.js';
import { stream } from '../kernels/both.js';
import { BACKENDS, openSession } from '../runtime/with-session.js';

/** Runs `body` in a session with hooks, and ends it. */
async function monitored(
  graph: Graph,
  body: (session: MonitoredSession) => Promise<void>,
  hooks: readonly TrainHook[] = [],
): Promise<void> {
  const session = await MonitoredSession.create({ graph, hooks, createSession: () => openSession(graph) });
  try {
    await body(session);
  } finally {
    await session.close();
  }
}

const [BATCH, STEPS] = [6, 12];
const schema = defineSchema({ label: dense.f32(), x: dense.f32({ width: 2 }), user: ragged.i64({ valuesPerRow: 2 }) });

/** A small ranker; with a capacity its features, and a number that all examples share, come through a queue. */
function buildRanker(capacity: number) {
  const graph = new Graph();
  const scale = constant(graph, [0.5]);
  const [{ inputs, shared }, queue] = enqueueDictsWithQueueReturn(
    { inputs: schema.inputs(graph), shared: scale },
    capacity,
  );
  const table = defineTable('user', [{ dim: 3, optimizer: AdagradOptimizer({ learningRate: 0.3 }) }]);
  const rows = embeddingLookup(inputs.user, table);
  const w = variable(graph, { name: 'w', shape: [1], initial: () => Float32Array.of(0.1) });
  const logit = add(reduceSum(rows, { axis: 'columns' }), reduceSum(inputs.x, { axis: 'columns' }));
  const loss = reduceMean(sigmoidCrossEntropyWithLogits(logit, inputs.label));
  const penalty = reduceSum(add(w, shared));
  const [byRows, byW] = gradients([add(loss, penalty)], [rows, w]);
  const steps = [
    ...applyEmbeddingGradients([[byRows, rows]]),
    applyGradients([[byW!, w]], new GradientDescentOptimizer({ learningRate: 0.1 })),
    increment(globalStep(graph)),
  ].flat();
  const model = {
    name: 'ranker',
    graph,
    label: inputs.label as Tensor,
    pred: logit,
    loss,
    trainOp: group(graph, steps),
  };
  return { model, table, queue: queue as MultiFIFOQueue };
}

function* batches() {
  const next = stream(5);
  for (let step = 0; step < STEPS; step++) {
    const ids = Array.from({ length: BATCH }, () =>
      [...Array(Math.floor(next() * 3))].map(() => BigInt(Math.floor(next() * 9))),
    );
    yield {
      label: Float32Array.from({ length: BATCH }, () => Math.round(next())),
      x: Float32Array.from({ length: 2 * BATCH }, next),
      user: ids,
    };
  }
}

interface Trained {
  readonly losses: unknown[];
  readonly rows: unknown;
  readonly w: unknown;
  /** The longest group of steps. */
  readonly group: number;
}

async function train(capacity: number, options: Partial<SessionOptions>, batchesAhead = 4): Promise<Trained> {
  const { model, table, queue } = buildRanker(capacity);
  const losses: unknown[] = [];
  let [group, seen] = [0, 0];
  const fetches = [model.loss];
  const watch: TrainHook = {
    quietSteps: () => Number.POSITIVE_INFINITY,
    beforeRun: () => fetches,
    afterRun(_, [loss]) {
      losses.push(loss);
      seen++;
    },
    poll() {
      group = Math.max(group, seen);
      seen = 0;
    },
  };
  const hooks = capacity === 0 ? [watch] : [watch, new EnqueueHook(queue, batches)];
  const session = { schema, batchSize: BATCH, threads: 2, memoryBytes: 32 << 20, deterministic: true, ...options };
  const trainer = await LocalTrainer.create({ model, session, modelDir: null, steps: 100, hooks });
  try {
    if (capacity === 0) {
      for (const feeds of batches())
        await trainer.session.run([model.trainOp, model.loss], feeds).then(([, loss]) => losses.push(loss));
      await trainer.session.drain();
    } else {
      // What waits when training begins is there for groups of steps.
      while (trainer.session.queue(queue.queue).size < capacity) await setImmediate();
      await trainer.train((at) => queueInput(at, queue, { batchesAhead }));
    }
    const rows = [...HashTable.of(trainer.session, table).rows()].map(({ id, weights }) => [id, [...weights]]);
    return { losses, rows, w: [...trainer.session.readVariable('w')], group };
  } finally {
    await trainer.close();
  }
}

t.test('training on elements of a queue gives the bytes of training on the batches', async (t) => {
  for (const backend of BACKENDS) {
    const { group: _, ...wanted } = await train(0, { backend });
    t.equal(wanted.losses.length, STEPS);
    for (const [capacity, options] of [
      [1, {}],
      [8, { threads: 1 }],
    ] as const) {
      const { group, ...found } = await train(capacity, { backend, ...options });
      t.same(found, wanted, `capacity ${capacity}, ${backend}`);
      if (capacity === 8) t.ok(group > 1, `groups of ${group} steps`);
    }
  }
});

t.test('rows of elements are read ahead, and their gradients go out late', async (t) => {
  const cut = { prefetch: 1, postpush: true };
  const found = await train(4, cut, 6);
  t.equal(found.losses.length, STEPS);
  t.same(
    { ...(await train(2, { ...cut, threads: 1 }, 2)), group: 0 },
    { ...found, group: 0 },
    'in groups and one by one',
  );
  t.notSame(found.losses, (await train(4, {})).losses, 'rows miss updates');
});

/** All orders of a list. */
function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) => ordersOf(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

t.test('hooks that fill queues, push late, fetch variables and wait work in every order', async (t) => {
  const results = new Set<string>();
  for (const [n, orders] of ordersOf([0, 1, 2]).entries()) {
    // The one that waits comes first, last, and in between.
    const order = orders.toSpliced(n % 4, 0, 3);
    const graph = new Graph();
    const [x, queue] = enqueueDictsWithQueueReturn(placeholder(graph, { name: 'x' }), 1);
    const v = graph.variableCreatorScope(cachedVariableCreator, () =>
      graph.device(psDevice(1), () => variable(graph, { name: 'v', shape: [], initial: () => new Float32Array(1) })),
    );
    const manager = new AsyncFunctionMgr();
    const late = manager.addAsyncFunction((sum: Tensor) => assignAdd(v, sum), [reduceMean(add(x, v))]);
    const train = group(graph, [late, increment(globalStep(graph))]);
    const waits: TrainHook = {
      beforeRun: () => setImmediate(undefined),
      afterRun: () => setImmediate(),
    };
    const source = () => Array.from({ length: 5 }, (_, step) => ({ x: [step, step] }));
    const hooks = [new EnqueueHook(queue!, source), ...manager.hooks, new FetchAllCachedVariablesHook(), waits];
    const monitored = await MonitoredSession.create({
      graph,
      hooks: order.map((at) => hooks[at]!),
      createSession: () => openSession(graph, { threads: 1 }),
    });
    let steps = 0;
    while (!monitored.shouldStop)
      await monitored.run([train]).then(
        () => steps++,
        () => undefined,
      );
    await monitored.end();
    results.add(`${steps} ${monitored.session.readVariable('v')[0]}`);
    await monitored.close();
  }
  t.same(
    [...results].map((text) => text.split(' ')[0]),
    ['5'],
    [...results].join(', '),
  );
});

t.test('the trace has how many elements wait, and who waited', async (t) => {
  const graph = new Graph();
  const [x, queue] = enqueueDictsWithQueueReturn(placeholder(graph, { name: 'x' }), 1, 'ahead');
  const sum = reduceSum(x);
  const session = await openSession(graph, { traceEvents: 256 });
  const taken = [session.run(sum), session.run(sum)];
  for (const value of [1, 2]) await session.run([queue!.enqueueOp], { x: [value] });
  t.same(await Promise.all(taken), [1, 2]);
  const { names, threads } = session.trace;
  const events = threads.flatMap(({ ring }) => decodeSnapshot(snapshotRing(ring)));
  const met = new Set(events.map(({ nameId }) => names.get(nameId).name));
  for (const name of ['elements in ahead', 'wait for room in ahead', 'wait for an element of ahead', 'to a queue']) {
    t.ok(met.has(name), name);
  }
  const waiting = session.run(sum);
  await Promise.all([t.rejects(waiting, { code: 'ML_CLOSED' }, 'who waits hears of the end'), session.close()]);
});

t.test('who waits for room or for an element waits beside the session, and hears of the end', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x' });
  const [y, queue] = enqueueDictsWithQueueReturn(x, 1, 'small');
  const sum = reduceSum(y);
  const fed = (value: number) => ({ x: Float32Array.of(value) });
  await monitored(graph, async ({ session }) => {
    const waiting = session.run(sum);
    const puts = [1, 2, 3, 4].map((value) => session.run([queue!.enqueueOp], fed(value)));
    t.equal(await waiting, 1);
    t.equal(await session.run(sum), 2);
    await puts[2];
    t.equal(session.queue(queue!.queue).size, 1);
    session.queue(queue!.queue).close();
    await t.rejects(session.run([queue!.enqueueOp], fed(5)), { code: 'ML_CLOSED', message: /small/ });
    t.equal(await session.run(sum), 3);
    t.equal(await session.run(sum), 4, 'who waited for room when it was closed goes on');
    await Promise.all(puts);
    await t.rejects(session.run(sum), { code: 'ML_OUT_OF_RANGE', message: /small/ });
  });
});

t.test('a batch beside an element has as many rows', async (t) => {
  const graph = new Graph();
  const [x, label] = [placeholder(graph, { name: 'x' }), placeholder(graph, { name: 'label' })];
  const [dequeued, queue] = enqueueDictsWithQueueReturn(x, 2);
  const product = reduceSum(mul(dequeued, label));
  await monitored(graph, async (session) => {
    for (let put = 0; put < 2; put++) await session.run([queue!.enqueueOp], { x: [1, 2, 3] });
    t.equal(await session.run(product, { label: [1, 10, 100] }), 321);
    await t.rejects(session.session.run(product, { label: [1] }), { code: 'ML_FEED', message: /3 rows.*beside it 1/ });
  });
});

t.test('a failing source reaches whoever takes, after what came before it', async (t) => {
  const graph = new Graph();
  const [y, queue] = enqueueDictsWithQueueReturn(placeholder(graph, { name: 'x' }), 4);
  const sum = reduceSum(y);
  const source = function* () {
    yield { x: [1] };
    throw new Error('no more disk');
  };
  await monitored(
    graph,
    async (session) => {
      t.equal(await session.run(sum), 1);
      await t.rejects(session.run(sum), { message: 'no more disk' });
    },
    [new EnqueueHook(queue!, source)],
  );
});
