/** Queues of values outside of a graph, on the host; test/train/prefetch-queue.test.ts has those of a graph. */
import fc from 'fast-check';
import t from 'tap';
import { AsyncQueue } from '../../src/base/async-queue.js';
import { Graph } from '../../src/graph/graph.js';
import { assignAdd, constant, variable } from '../../src/graph/ops/state.js';
import { prefetch } from '../../src/queue/prefetch.js';
import { PrefetchQueue } from '../../src/queue/prefetch-queue.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { EnqueueHook } from '../../src/train/hooks/enqueue-hook.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { openSession, withSession } from '../runtime/with-session.js';

const scalar = (value: number) => Tensor.of('float32', value);

t.test('dense and ragged tensors come out as they went in', async (t) => {
  const queue = new PrefetchQueue<[Tensor, RaggedTensor]>({ capacity: 2 });
  await queue.enqueue([
    Tensor.of('float32', [
      [1, 2],
      [3, 4],
    ]),
    RaggedTensor.fromRows('int64', [[], [1, 2], [3]]),
  ]);
  const [dense, ragged] = await queue.dequeue();
  t.same(dense.toArray(), [
    [1, 2],
    [3, 4],
  ]);
  t.same(ragged.toArray(), [[], [1n, 2n], [3n]]);
});

t.test('who enqueues waits for room', async (t) => {
  const queue = new PrefetchQueue<Tensor>({ capacity: 4 });
  for (let i = 0; i < 4; i++) await queue.enqueue(scalar(i));
  t.equal(queue.size, 4);
  let fifth = false;
  const waiting = queue.enqueue(scalar(4)).then(() => {
    fifth = true;
  });
  await new Promise(setImmediate);
  t.equal(fifth, false, 'who enqueues waits for room');
  for (let i = 0; i < 5; i++) t.equal((await queue.dequeue()).toArray(), i);
  await waiting;
});

t.test('dictionaries come out with their strings and null', async (t) => {
  const queue = new PrefetchQueue<{ a: Tensor; b: { c: Tensor; d: string; e: null } }>({ capacity: 3 });
  for (let i = 0; i < 3; i++) await queue.enqueue({ a: scalar(i), b: { c: scalar(-i), d: 'name', e: null } });
  for (let i = 0; i < 3; i++) {
    const { a, b } = await queue.dequeue();
    t.same([a.toArray(), b.c.toArray(), b.d, b.e], [i, -i, 'name', null]);
  }
});

t.test('what an element depends on runs once for each', async (t) => {
  const graph = new Graph();
  const v = variable(graph, { name: 'v', shape: [], initial: () => new Float32Array(1) });
  const add = assignAdd(v, constant(graph, [1], { shape: [] }));
  await withSession(graph, {}, async (session) => {
    const steps = async function* () {
      for (let i = 0; i < 3; i++) yield scalar((await session.run([v, add]))[0] as number);
    };
    const got: unknown[] = [];
    for await (const value of prefetch(steps(), { capacity: 2 })) got.push(value.toArray());
    t.same(got.length, 3);
    t.equal(await session.run(v), 3, 'what an element depends on has run once for each');
  });
});

t.test('without capacity the source is what comes out', async (t) => {
  const got: Tensor[] = [];
  const source = [scalar(1), scalar(2)];
  for await (const value of prefetch(source, { capacity: 0 })) got.push(value);
  t.ok(got.length === 2 && got.every((value, index) => value === source[index]), 'the tensors themselves');
});

t.test('a hook fills a queue until its source ends', async (t) => {
  const graph = new Graph();
  const queue = new PrefetchQueue<Tensor>({ capacity: 3 });
  const hook = new EnqueueHook(queue, () => Array.from({ length: 20 }, (_, i) => scalar(i)));
  const monitored = await MonitoredSession.create({ graph, createSession: () => openSession(graph), hooks: [hook] });
  const got: unknown[] = [];
  for (let i = 0; i < 20; i++) got.push((await queue.dequeue()).toArray());
  t.same(
    got,
    Array.from({ length: 20 }, (_, i) => i),
  );
  await t.rejects(queue.dequeue(), { code: 'ML_OUT_OF_RANGE', message: /prefetch_queue/ });
  await monitored.close();
});

t.test('the end of the input, failures and time limits reach those who wait', async (t) => {
  const ending = new PrefetchQueue<Tensor>();
  const waiting = ending.dequeue();
  ending.close();
  await t.rejects(waiting, { code: 'ML_OUT_OF_RANGE' });
  await t.rejects(ending.enqueue(scalar(1)), { code: 'ML_CLOSED' });

  const failing = new PrefetchQueue<Tensor>({ capacity: 2 });
  await failing.enqueue(scalar(1));
  failing.fail(new Error('no more disk'));
  t.equal((await failing.dequeue()).toArray(), 1, 'first what was made before');
  await t.rejects(failing.dequeue(), /no more disk/);

  const slow = new PrefetchQueue<Tensor>({ timeoutMs: 1 });
  await t.rejects(slow.dequeue(), { code: 'ML_TIMEOUT', message: /an element of the queue prefetch_queue/ });
  await slow.enqueue(scalar(1));
  await t.rejects(slow.enqueue(scalar(2)), { code: 'ML_TIMEOUT', message: /room in/ });

  t.throws(() => new PrefetchQueue({ capacity: 0.5 }), { code: 'ML_FLAG' });
  t.throws(() => new PrefetchQueue({ place: 'gpu' }), { code: 'ML_QUEUE_ELEMENT', hint: /driver/ });
  const mixed = new PrefetchQueue<Tensor>({ capacity: 2 });
  await mixed.enqueue(scalar(1));
  await t.rejects(mixed.enqueue(Tensor.of('int32', 1)), {
    code: 'ML_QUEUE_ELEMENT',
    message: /\[int32\].*\[float32\]/,
  });
});

t.test('leaving a loop over prefetched elements ends the source', async (t) => {
  let ended = false;
  async function* source() {
    try {
      for (let i = 0; ; i++) yield scalar(i);
    } finally {
      ended = true;
    }
  }
  for await (const value of prefetch(source(), { capacity: 3 })) if (Number(value.toArray()) === 5) break;
  t.ok(ended);
});

t.test('a queue is first in, first out for any order of calls', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.boolean(), { maxLength: 40 }),
      async (capacity, calls) => {
        const queue = new AsyncQueue<number>({ capacity, name: 'model' });
        const [puts, takes] = [calls.filter(Boolean).length, calls.filter((put) => !put).length];
        let next = 0;
        const taken: Promise<number>[] = [];
        const put: Promise<unknown>[] = [];
        for (const isPut of calls) {
          if (isPut) put.push(queue.put(next++));
          else taken.push(queue.take());
          if (queue.size > capacity) throw new Error('more than its capacity');
        }
        const both = Math.min(puts, takes);
        const got = await Promise.all(taken.slice(0, both));
        queue.cancel();
        await Promise.allSettled([...put, ...taken]);
        if (got.some((value, index) => value !== index)) throw new Error(`out of order: ${got}`);
      },
    ),
  );
});
