/** @file The cases of upstream's prefetch_queue_test by their names, in sessions, and what queues of a graph owe. */
import t from 'tap';
import type { MonolithError } from '../../src/base/errors.js';
import { Graph, type Op, type Tensor } from '../../src/graph/graph.js';
import type { Mode } from '../../src/graph/mode.js';
import { stopGradient } from '../../src/graph/ops/cast.js';
import { add, mul, scale } from '../../src/graph/ops/elementwise.js';
import {
  assignAdd,
  constant,
  globalStep,
  group,
  idsPlaceholder,
  increment,
  placeholder,
  raggedPlaceholder,
  variable,
} from '../../src/graph/ops/state.js';
import { enqueueDictsWithQueueReturn } from '../../src/queue/enqueue-dicts.js';
import { FIFOQueue, GPUCompatiblePaddingFIFOQueue, MultiFIFOQueue } from '../../src/queue/fifo-queue.js';
import type { Feeds, SessionOptions } from '../../src/runtime/session/session.js';
import { EnqueueHook } from '../../src/train/hooks/enqueue-hook.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { MultiQueueRunner } from '../../src/train/hooks/multi-queue-runner.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { BACKENDS, openSession, raggedOf } from '../runtime/with-session.js';

const scalar = (graph: Graph, value: number) => constant(graph, value);

/** Runs `body` in a session with hooks, and ends it. */
async function monitored<T>(
  graph: Graph,
  body: (session: MonitoredSession) => Promise<T>,
  hooks: readonly TrainHook[] = [],
  options: Partial<SessionOptions> = {},
): Promise<T> {
  const session = await MonitoredSession.create({ graph, hooks, createSession: () => openSession(graph, options) });
  try {
    return await body(session);
  } finally {
    await session.close();
  }
}

const RAGGED = { splits: Int32Array.of(0, 1, 3), values: BigInt64Array.of(2n, -1n, 3n) };

for (const backend of BACKENDS) {
  const on = { backend } as const;

  t.test(`GPUCompatiblePaddingFIFOQueueTests, ${backend}`, async (t) => {
    const graph = new Graph();
    const scalars = { capacity: 10, dtypes: ['float32'], shapes: [[]] } as const;
    const [floats, onCpu] = [0, 1].map(() => new GPUCompatiblePaddingFIFOQueue(graph, scalars));
    const pairs = new GPUCompatiblePaddingFIFOQueue(graph, {
      capacity: 10,
      dtypes: ['float32', 'float32'],
      shapes: [[], [2]],
    });
    const single = new GPUCompatiblePaddingFIFOQueue(graph, { ...scalars, capacity: 1 });
    const elements = [10, 20, 30].map((x) => graph.device('/device:GPU:0', () => scale(scalar(graph, x), 1 / 2)));
    const puts = elements.map((x) => floats!.enqueue(x));
    const used = add(scale(floats!.dequeue() as Tensor, 3), scalar(graph, 1));
    const cpuPuts = [7, 8, 9].map((x) => onCpu!.enqueue(graph.device('CPU:0', () => scale(scalar(graph, x), 5))));
    const cpuUsed = graph.device('CPU:0', () => add(onCpu!.dequeue() as Tensor, scalar(graph, 2)));
    const pairPuts = [5, 10, 15].map((x) => pairs.enqueue([scalar(graph, x), constant(graph, [x * 2, 1])]));
    const put = single.enqueue(stopGradient(add(scalar(graph, 1), scalar(graph, 1))));
    await monitored(
      graph,
      async (session) => {
        for (const op of [...puts, ...cpuPuts, ...pairPuts, put]) await session.run([op]);
        for (const x of [10, 20, 30]) t.same(await session.run([used]), [(x / 2) * 3 + 1], 'testEnqueueAndDequeue');
        for (const x of [7, 8, 9]) t.same(await session.run([cpuUsed]), [x * 5 + 2], 'testGPUQueueCPUTensor');
        for (const x of [5, 10, 15]) {
          const [a, b] = await session.run(pairs.dequeue() as readonly Tensor[]);
          t.same([a, [...(b as Float32Array)]], [x, [x * 2, 1]], 'testMultiEnqueueAndDequeue');
        }
        t.same(await session.run(single.dequeue() as Tensor), 2, 'testIdentityHelper');
      },
      [],
      on,
    );
  });

  t.test(`FIFOQueueTest.test_fifo_queue_data, ${backend}`, async (t) => {
    const graph = new Graph();
    const dense = [scalar(graph, 2), constant(graph, [3, 4], { shape: [2, 1] })];
    const rows = placeholder(graph, { name: 'rows', width: 2 });
    const ids = idsPlaceholder(graph, { name: 'ids', width: 2 });
    const ragged = raggedPlaceholder(graph, { name: 'ragged', valuesPerRow: 2 });
    const queue = new FIFOQueue([...dense, rows, ids, ragged, mul(rows, rows)]);
    const feeds = { rows: Float32Array.of(1, 2, 3, 4), ids: BigInt64Array.of(5n, 6n, -7n, 8n), ragged: RAGGED };
    await monitored(
      graph,
      async (session) => {
        await session.run([queue.enqueueOp], feeds);
        t.equal(await session.run([queue.queue.size]).then(String), '1');
        const got = await session.run(queue.dequeue());
        t.same(got, [2, Float32Array.of(3, 4), feeds.rows, feeds.ids, RAGGED, Float32Array.of(1, 4, 9, 16)]);
      },
      [],
      on,
    );
  });

  t.test(`FIFOQueueTest.test_fifo_queue_capacity, ${backend}`, async (t) => {
    const graph = new Graph();
    const x = placeholder(graph, { name: 'x' });
    const queue = new FIFOQueue([x], 4);
    await monitored(
      graph,
      async (session) => {
        for (let n = 0; n < 4; n++) await session.run([queue.enqueueOp], { x: [n] });
        for (let n = 0; n < 4; n++) t.same(await session.run(queue.dequeue()), [Float32Array.of(n)]);
      },
      [],
      on,
    );
  });

  t.test(`PrefetchTest.test_enqueue_dicts_with_queue_return, ${backend}`, async (t) => {
    const graph = new Graph();
    const gpu = graph.device('/device:GPU:0', () => add(scalar(graph, 2), scalar(graph, 1)));
    const half = variable(graph, { name: 'half', shape: [], initial: () => Float32Array.of(0.5) });
    const ragged = raggedPlaceholder(graph, { name: 'ragged', valuesPerRow: 4 });
    const tensors = [
      [{ a: scalar(graph, 1), b: 'abc', c: null, d: undefined, dense_0_0: gpu }],
      { a: half, b: ragged, step: globalStep(graph) },
    ] as const;
    const counted = group(graph, [assignAdd(half, scalar(graph, 1)), increment(globalStep(graph))]);
    const [nested, queue] = enqueueDictsWithQueueReturn(tensors, 3);
    t.same([nested[0][0].b, nested[0][0].c, nested[0][0].d], ['abc', null, undefined], 'kept before any run');
    t.not(nested[1].a, half);
    t.equal(queue!.queues.length, 2, 'a queue for each device');
    t.throws(() => queue!.queue, { code: 'ML_QUEUE_DEVICES' });
    const wanted = [nested[0][0].a, nested[0][0].dense_0_0, nested[1]];
    await monitored(
      graph,
      async (session) => {
        for (let round = 0; round < 4; round++) {
          // The value of a variable is that of when it was put in.
          for (let put = 0; put < 2; put++) await session.run([queue!.enqueueOp, counted], { ragged: RAGGED });
          for (let taken = 0; taken < 2; taken++) {
            const n = 2 * round + taken;
            const got = await session.run(wanted);
            t.same(got, [1, 3, { a: 0.5 + n, b: RAGGED, step: BigInt64Array.of(BigInt(n)) }]);
          }
        }
        t.equal(await session.run([queue!.size()]).then(String), '0');
      },
      [],
      on,
    );
  });

  t.test(`PrefetchTest.test_enqueue_dicts_with_control_flow, ${backend}`, async (t) => {
    const graph = new Graph();
    const v = variable(graph, { name: 'v', shape: [], initial: () => new Float32Array(1) });
    const counted = assignAdd(v, scalar(graph, 1));
    const [tensor, queue] = graph.controlDependencies([counted], () =>
      enqueueDictsWithQueueReturn(scalar(graph, 0) as Tensor),
    );
    await monitored(
      graph,
      async (session) => {
        await session.run([queue!.enqueueOp]);
        t.same(await session.run([tensor]), [0]);
        t.same(await session.run([v]), [1]);
      },
      [],
      on,
    );
  });
}

t.test('PrefetchTest.test_enqueue_with_zero_capacity', async (t) => {
  const graph = new Graph();
  const dense = [{ dense: constant(graph, [0]) }];
  const ragged = [{ ragged: raggedPlaceholder(graph, { name: 'ragged', valuesPerRow: 4 }) }];
  const [nested, queue] = enqueueDictsWithQueueReturn([dense, ragged] as const, 0);
  t.equal(queue, null);
  t.equal(nested[0], dense);
  await monitored(graph, async (session) => {
    t.same(await session.run(nested[0]), [{ dense: Float32Array.of(0) }]);
    t.same(await session.run(nested[1], { ragged: RAGGED }), [{ ragged: RAGGED }]);
  });
});

interface EstimatorSpec {
  readonly predictions: Tensor;
  readonly trainOp: Op;
  readonly hooks: readonly TrainHook[];
}

/** What an estimator's predict does: builds the model, and runs it until its input ends. */
async function* predict(
  inputFn: () => Iterable<Feeds>,
  modelFn: (features: { readonly rag: Tensor }, mode: Mode, input: typeof inputFn) => EstimatorSpec,
): AsyncGenerator<bigint> {
  const graph = new Graph({ mode: 'predict' });
  const rag = raggedPlaceholder(graph, { name: 'rag', valuesPerRow: 2 });
  const { predictions, hooks } = modelFn({ rag }, 'predict', inputFn);
  const session = await MonitoredSession.create({ graph, hooks, createSession: () => openSession(graph) });
  try {
    while (!session.shouldStop) {
      const found = await session.run({ predictions }).catch((error: MonolithError) => {
        if (error.code !== 'ML_OUT_OF_RANGE') throw error;
      });
      if (found !== undefined) yield* (found.predictions as unknown as { values: BigInt64Array }).values;
    }
  } finally {
    await session.close();
  }
}

t.test('PrefetchTest.test_estimator_prefetch', async (t) => {
  const inputFn = () => Array.from({ length: 20 }, (_, x) => ({ rag: raggedOf([[BigInt(x)], []]) }));
  const modelFn = (features: { readonly rag: Tensor }, _: Mode, input: () => Iterable<Feeds>): EstimatorSpec => {
    const [[dequeued], queue] = enqueueDictsWithQueueReturn([{ ragged: features.rag }] as const);
    const trainOp = increment(globalStep(features.rag.graph)) as Op;
    return { predictions: dequeued!.ragged, trainOp, hooks: [new EnqueueHook(queue!, input)] };
  };
  const found: bigint[] = [];
  for await (const prediction of predict(inputFn, modelFn)) found.push(prediction);
  t.same(
    found,
    Array.from({ length: 20 }, (_, x) => BigInt(x)),
  );
});

t.test('what a queue cannot do is refused with the texts of the reference', async (t) => {
  const graph = new Graph();
  const x = scalar(graph, 1);
  const [nested, queue] = enqueueDictsWithQueueReturn({ x });
  for (const [act, message] of [
    [() => new FIFOQueue(null), 'Arguments `dense_list` should not be empty.'],
    [() => new MultiFIFOQueue([]), 'Arguments `dense_list` should not be empty.'],
    [() => enqueueDictsWithQueueReturn({ a: 'name' }), 'Arguments `dense_list` should not be empty.'],
    [() => new FIFOQueue({ x } as never), 'dense_list should be a list of `tf.Tensor`s'],
    [
      () => new GPUCompatiblePaddingFIFOQueue(graph, { capacity: 1, dtypes: ['float32'], shapes: [] }),
      'Shapes must be provided for all components, but received 1 dtypes and 0 shapes.',
    ],
    [
      () => new GPUCompatiblePaddingFIFOQueue(graph, { capacity: 1, dtypes: ['float32'], shapes: [[]] }).enqueueMany(),
      'GPUCompatiblePaddingFIFOQueue does not support enqueue_many or dequeue_many, only enqueue and dequeue.',
    ],
    [
      () => new GPUCompatiblePaddingFIFOQueue(graph, { capacity: 1, dtypes: ['float32'], shapes: [[]] }).dequeueMany(),
      'GPUCompatiblePaddingFIFOQueue does not support enqueue_many or dequeue_many, only enqueue and dequeue.',
    ],
    [
      () => new MultiFIFOQueue([x, graph.device('/device:GPU:0', () => add(x, x))]).queue,
      'When using multi-device queues, this interface is disabled.' +
        'Check if a tensor to be enqueued is mistakenly placed on GPU.',
    ],
    [
      () => new MultiQueueRunner([queue!.queue], [queue!.enqueueOp]).queue,
      'When using multi-device queues, this interface is disabled.',
    ],
  ] as const) {
    t.throws(act, { message: new RegExp(`${message.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`) }, message);
  }
  t.equal(new MultiQueueRunner([queue!.queue], []).name, 'prefetch_queue');
  t.equal(new MultiQueueRunner(queue!.queue, []).queue, queue!.queue);
  t.throws(() => enqueueDictsWithQueueReturn({ x }, -1), { code: 'ML_FLAG' });
  t.throws(() => queue!.queue.enqueue([constant(graph, [1, 2])]), {
    code: 'ML_QUEUE_ELEMENT',
    message: /float32 \[\], and float32 \[2\] came/,
  });
  await monitored(graph, async (session) => {
    await t.rejects(session.run([nested.x, queue!.enqueueOp]), { code: 'ML_QUEUE_SELF' });
  });
});
