/** Slots of queues in device memory: upstream's GPUCompatiblePaddingFIFOQueueTests, and tensors of both memories. */
import fc from 'fast-check';
import t from 'tap';
import { prefetch } from '../../src/queue/prefetch.js';
import { PrefetchQueue, type QueueTensor } from '../../src/queue/prefetch-queue.js';
import { DeviceTensor } from '../../src/runtime/backends/cuda/device-tensor.js';
import type { CudaStream } from '../../src/runtime/backends/cuda/stream.js';
import { RaggedTensor } from '../../src/tensor/ragged-tensor.js';
import { type Nested, Tensor } from '../../src/tensor/tensor.js';
import { type SimulatedDriver, withSimulated } from '../cuda/simulated.js';
import { ptxOf } from '../cuda/twin.js';

const floats = (...values: number[]) => Tensor.of('float32', values);

/** y = factor * x (+ y) by the kernel that is shipped. */
function scale(
  driver: SimulatedDriver,
  stream: CudaStream,
  from: DeviceTensor,
  to: DeviceTensor,
  factor: number,
  add = 0,
) {
  const count = from.byteLength / 4;
  const kernel = driver.loadModule('elementwise', ptxOf('elementwise')).kernel('scaleF32');
  kernel.launch(stream, { grid: 1, block: 256 }, [from.address, count, to.address, count, 1, count, factor, add]);
}

const read = async (tensor: QueueTensor, stream: CudaStream): Promise<Nested> =>
  (tensor instanceof Tensor ? tensor : await tensor.toHost(stream)).toArray();

t.test(
  'testEnqueueAndDequeue',
  withSimulated(async (t, driver) => {
    // Copies that nobody waits for have not happened: what is read here is ordered by events alone.
    driver.simulator.configure({ lazyStreams: true });
    const stream = driver.stream();
    const queue = new PrefetchQueue<DeviceTensor>({ capacity: 3, driver });
    const made = [10, 20, 30].map((value) => DeviceTensor.of(driver, floats(value)));
    for (const tensor of made) await queue.enqueue(tensor);
    const sum = DeviceTensor.of(driver, floats(0));
    for (let i = 0; i < 3; i++) {
      const tensor = await queue.dequeue({ stream });
      t.ok(tensor instanceof DeviceTensor, 'it stays on the device');
      scale(driver, stream, tensor, sum, i + 1, 1);
    }
    t.same(await read(sum, stream), [10 + 40 + 90]);
    for (const tensor of [sum, ...made]) tensor.buffer.free();
    queue.destroy();
    stream.destroy();
  }),
);

t.test(
  'testGPUQueueCPUTensor',
  withSimulated(async (t, driver) => {
    const { freeBytes } = driver.memory();
    const queue = new PrefetchQueue<QueueTensor>({ capacity: 3, driver, place: 'gpu' });
    const changed = floats(1, 2);
    await queue.enqueue(changed);
    changed.data.fill(-1);
    await queue.enqueue(floats(3, 4, 5));
    await queue.enqueue(floats());
    t.ok(driver.memory().freeBytes < freeBytes, 'they wait in device memory');
    const found: Nested[] = [];
    for (let i = 0; i < 3; i++) {
      const tensor = await queue.dequeue({ to: 'cpu' });
      t.ok(tensor instanceof Tensor);
      found.push((tensor as Tensor).toArray());
    }
    t.same(found, [[1, 2], [3, 4, 5], []], 'in order, and as they were when they were enqueued');
    queue.destroy();
    t.equal(driver.memory().freeBytes, freeBytes, 'and the memory is given back');
  }),
);

t.test(
  'testMultiEnqueueAndDequeue',
  withSimulated(async (t, driver) => {
    const stream = driver.stream();
    const queue = new PrefetchQueue<[QueueTensor, QueueTensor]>({ capacity: 3, driver, place: 'gpu' });
    for (let i = 0; i < 3; i++) await queue.enqueue([Tensor.of('int32', i), Tensor.of('float32', i / 2)]);
    for (let i = 0; i < 3; i++) {
      const [index, half] = await queue.dequeue({ stream });
      t.same([index.dtype, half.dtype], ['int32', 'float32']);
      t.same([await read(index, stream), await read(half, stream)], [i, i / 2]);
    }
    queue.destroy();
    stream.destroy();
  }),
);

t.test(
  'testIdentityHelper',
  withSimulated(async (t, driver) => {
    driver.simulator.configure({ lazyStreams: true });
    const stream = driver.stream();
    const queue = new PrefetchQueue<QueueTensor>({ driver });
    const one = DeviceTensor.of(driver, floats(2));
    const identity = new DeviceTensor('float32', [1], driver.alloc(4));
    scale(driver, stream, one, identity, 1);
    await queue.enqueue(identity, { stream });
    // The producer goes on: its next value must not reach what is in the queue.
    scale(driver, stream, one, identity, 50);
    t.same(await read(await queue.dequeue({ to: 'cpu' }), stream), [2], 'the copy has waited for what makes the value');
    scale(driver, stream, one, identity, 1);
    await queue.enqueue(identity, { stream });
    scale(driver, stream, one, identity, 50);
    t.same(await read(await queue.dequeue({ stream }), stream), [2]);
    queue.destroy();
    stream.destroy();
  }),
);

t.test(
  'tensors of both memories travel together, each stays where it is, and their order is kept',
  withSimulated(async (t, driver) => {
    const stream = driver.stream();
    const device = DeviceTensor.of(driver, floats(7, 8));
    const queue = new PrefetchQueue<Record<string, unknown>>({ capacity: 2, driver });
    const ragged = RaggedTensor.fromRows('int64', [[1], [2, 3]]);
    for (let i = 0; i < 2; i++) {
      await queue.enqueue({ a: floats(i), b: [device, Tensor.of('int64', [1n, 2n]), 'kept'], c: ragged, d: device });
    }
    t.equal(queue.size, 2);
    for (let i = 0; i < 2; i++) {
      const { a, b, c, d } = (await queue.dequeue({ stream })) as {
        a: Tensor;
        b: [DeviceTensor, Tensor, string];
        c: RaggedTensor;
        d: DeviceTensor;
      };
      t.ok(a instanceof Tensor && b[0] instanceof DeviceTensor && b[1] instanceof Tensor && d instanceof DeviceTensor);
      t.same([a.toArray(), await read(b[0], stream), b[1].toArray(), b[2]], [[i], [7, 8], [1n, 2n], 'kept']);
      t.same(
        [c.toArray(), await read(d, stream)],
        [
          [[1n], [2n, 3n]],
          [7, 8],
        ],
      );
    }
    await t.rejects(new PrefetchQueue().enqueue(device), { code: 'ML_QUEUE_ELEMENT', hint: /driver/ });
    const all = new PrefetchQueue<RaggedTensor>({ driver, place: 'gpu' });
    await all.enqueue(ragged);
    const parts = (await all.dequeue({ stream })) as unknown as { values: DeviceTensor; rowSplits: DeviceTensor };
    t.same(
      [await read(parts.values, stream), await read(parts.rowSplits, stream)],
      [
        [1n, 2n, 3n],
        [0n, 1n, 3n],
      ],
    );
    await all.enqueue(ragged);
    t.same((await all.dequeue({ to: 'cpu' })).toArray(), [[1n], [2n, 3n]]);
    for (const used of [queue, all]) used.destroy();
    device.buffer.free();
    stream.destroy();
  }),
);

t.test(
  'a slot is filled again only behind the work that reads it, whatever is done late',
  withSimulated(async (t, driver) => {
    driver.simulator.configure({ lazyStreams: true });
    const stream = driver.stream();
    const sums = DeviceTensor.of(driver, Tensor.vector('float32', new Float32Array(64)));
    let expected = 0;
    const source = Array.from({ length: 30 }, (_, i) => Tensor.vector('float32', new Float32Array(64).fill(i)));
    for await (const tensor of prefetch<QueueTensor>(source, { capacity: 2, driver, place: 'gpu', stream })) {
      // Nothing waits here: thirty elements pass through four slots on events alone.
      scale(driver, stream, tensor as DeviceTensor, sums, 1, 1);
      expected += 1;
    }
    t.equal(expected, 30);
    t.same(await read(sums, stream), new Array(64).fill((29 * 30) / 2));
    sums.buffer.free();
    stream.destroy();
  }),
);

t.test(
  'any tensors come back as they were',
  withSimulated(async (_t, driver) => {
    const sizes = fc.array(fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 2, maxLength: 2 }), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(sizes, fc.boolean(), async (elements, lazyStreams) => {
        driver.simulator.configure({ lazyStreams });
        const queue = new PrefetchQueue<QueueTensor[]>({ capacity: 8, driver, place: 'gpu' });
        const made = elements.map(([a, b]) => [
          Tensor.vector(
            'float32',
            Float32Array.from({ length: a! }, (_, i) => i),
          ),
          Tensor.vector(
            'int64',
            BigInt64Array.from({ length: b! }, (_, i) => BigInt(i - 5)),
          ),
        ]);
        for (const element of made) await queue.enqueue(element);
        for (const element of made) {
          const found = (await queue.dequeue({ to: 'cpu' })) as Tensor[];
          if (String(found.map((x) => x.data)) !== String(element.map((x) => x.data))) throw new Error('other values');
        }
        queue.destroy();
      }),
      { numRuns: 30 },
    );
  }),
);

t.test(
  'without device memory an element is refused with the sizes, and the queue goes on',
  withSimulated(async (t, driver) => {
    const queue = new PrefetchQueue<QueueTensor>({ capacity: 1, driver, place: 'gpu' });
    const { freeBytes, totalBytes } = driver.memory();
    driver.simulator.configure({ memoryBytes: totalBytes - freeBytes + 4096 });
    const big = Tensor.vector('float32', new Float32Array(4096));
    await t.rejects(queue.enqueue(big), { code: 'ML_CUDA_MEMORY', message: /16384 bytes/ });
    await queue.enqueue(floats(1, 2));
    t.same(((await queue.dequeue({ to: 'cpu' })) as Tensor).toArray(), [1, 2]);
    queue.destroy();
  }),
);
