/** @file Steps give the same bits in whatever order streams run, as far as events leave it open. */
import t from 'tap';
import { CudaDevice } from '../../src/runtime/backends/cuda/cuda-device.js';
import { withSession } from '../runtime/with-session.js';
import { ROWS, raggedBatch, raggedModel, rowsOf } from './ragged-model.js';
import { DEFAULTS, type SimulatedDriver, withSimulated } from './simulated.js';
import { STREAM_ORDERS } from './stream-orders.js';

const STEPS = 4;

/** Losses, variables and rows of a training whose weights somebody changes and reads while updates are under way. */
async function train(useGpuEmbTable: boolean) {
  const { graph, loss, config, width, train: op } = raggedModel();
  const session = { backend: 'cuda', cuda: { driver: 'sim' }, seed: 1, batchSize: ROWS, useGpuEmbTable } as const;
  return withSession(graph, session, async (session) => {
    const losses: number[] = [];
    const read: number[][] = [];
    for (let step = 0; step < STEPS; step++) {
      losses.push((await session.run([loss, op], raggedBatch(step)))[0] as number);
      if (step === 1) {
        // Not read before: the update of the step may not have begun.
        session.writeVariable('w', new Float32Array(width).fill(0.5));
      }
      if (step === 2) read.push([...session.readVariable('w')] as number[]);
    }
    await session.bringVariablesHome();
    read.push([...session.readVariable('w'), ...session.readVariable('b')] as number[]);
    return { losses, read, rows: rowsOf(session, config) };
  });
}

async function inOrder(driver: SimulatedDriver, order: number, useGpuEmbTable: boolean) {
  driver.simulator.configure({ ...DEFAULTS, lazyStreams: true, streamOrder: order });
  return train(useGpuEmbTable);
}

for (const [where, useGpuEmbTable] of [
  ['host', false],
  ['device', true],
] as const) {
  t.test(
    `training with tables on the ${where} is the same in every order of streams`,
    withSimulated(async (t, driver) => {
      const plain = await train(useGpuEmbTable);
      t.equal(new Set(plain.losses).size, STEPS, 'losses move');
      for (const order of STREAM_ORDERS)
        t.same(await inOrder(driver, order, useGpuEmbTable), plain, `streamOrder ${order}`);
    }),
  );
}

t.test(
  'a copy that is made at once comes after all that is queued, and before all that follows',
  withSimulated(async (t, driver) => {
    for (const streamOrder of STREAM_ORDERS) {
      driver.simulator.configure({ ...DEFAULTS, lazyStreams: true, streamOrder });
      const device = new CudaDevice(driver);
      const span = device.alloc(8);
      const [queued, given] = [device.allocPinned(4), device.allocPinned(4)];
      device.fill(span, 1);
      device.upload(span, queued.fill(2));
      device.uploadNow(span, given.fill(3));
      given.fill(4);
      const found = new Uint8Array(8);
      device.downloadNow(found, span);
      t.same([...found], [3, 3, 3, 3, 1, 1, 1, 1], `streamOrder ${streamOrder}`);
      device.uploadNow(span, given, 4);
      queued.fill(0);
      device.download(queued, span);
      device.fill(span, 5);
      const mark = device.mark();
      device.record('copy', mark);
      while (!mark.isDone());
      device.downloadNow(found, span);
      t.same([...found], new Array(8).fill(5));
      device.close();
    }
  }),
);

t.test(
  'pageable memory: it is read before an upload returns, lands when the stream comes to it, and a download waits',
  withSimulated(async (t, driver) => {
    driver.simulator.configure({ lazyStreams: true });
    using stream = driver.stream();
    const [pageable, pinned] = [new Uint8Array(4).fill(1), new Uint8Array(driver.allocPinned(4)).fill(1)];
    const [first, second] = [driver.alloc(4), driver.alloc(4)];
    driver.upload(first, new Uint8Array(4));
    driver.upload(second, new Uint8Array(4));
    stream.upload(first, pageable);
    stream.upload(second, pinned);
    pageable.fill(2);
    pinned.fill(2);
    t.notOk(stream.isDone());
    const found = new Uint8Array(4);
    stream.download(found, first);
    t.same([...found], [1, 1, 1, 1], 'it was there when the call returned');
    stream.download(found, second);
    t.same([...found], [2, 2, 2, 2], 'pinned memory is read when the copy runs');
    driver.freePinned(pinned.buffer);
  }),
);
