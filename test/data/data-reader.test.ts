import t from 'tap';
import { DataReader, type ReadOptions } from '../../src/data/data-reader.js';
import { type FfmDatasetOptions, ffmBatches, ffmDataset } from '../../src/demo/ffm-dataset.js';
import { ffmSchema } from '../../src/demo/ffm-example.js';
import { Arena } from '../../src/memory/arena.js';
import { readBatch } from '../../src/memory/batch.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';
import { failingDataset } from './failing-dataset.js';

const DATASET: FfmDatasetOptions = { kind: 'reference', vocab: 5, batchSize: 16, seed: 0 };
const LIMIT_MS = 10_000;

/** A reader in a memory of its own. */
function start(options: Partial<ReadOptions> = {}, { buffer } = createSharedMemory(1 << 20)): Promise<DataReader> {
  const arena = new Arena('test', 65536, buffer.byteLength);
  return DataReader.startIn({ buffer, arena }, { dataset: ffmDataset(DATASET), depthMax: 4, ...options });
}

/** Takes batches until the reader says why there are no more. */
async function drain(reader: DataReader): Promise<unknown> {
  for (;;) {
    try {
      await reader.next(LIMIT_MS);
    } catch (error) {
      return error;
    }
  }
}

t.test('batches made by the reader thread are found at the addresses it hands out', async (t) => {
  const memory = createSharedMemory(1 << 20);
  const reader = await start({}, memory);
  t.match(reader.batches, { batchCount: 4, exampleCount: 64 });
  const views = new Views(memory.buffer);
  const wanted = [...ffmBatches(DATASET)];
  for (let i = 0; i < 40; i++) {
    const pointer = await reader.next(LIMIT_MS);
    if (i < 8) t.same(readBatch(views, pointer, ffmSchema()), wanted[i % 4]);
  }
  t.match(await reader.stats(), { running: true, failure: null });
  t.equal(reader.ringStats().pops, 40);
  await reader.close();
});

t.test('a waiting batch is handed over without a promise', async (t) => {
  const reader = await start();
  const first = await reader.next(LIMIT_MS);
  while (reader.depth === 0) await new Promise(setImmediate);
  const second = reader.next(LIMIT_MS);
  t.type(second, 'number');
  t.not(second, first);
  await reader.close();
});

t.test('the end of input is ML_OUT_OF_RANGE', async (t) => {
  const reader = await start({ maxBatches: 3, startBatch: 2 });
  for (let i = 0; i < 3; i++) await reader.next(LIMIT_MS);
  t.match(await drain(reader), { code: 'ML_OUT_OF_RANGE' });
  await reader.close();
});

t.test('a reader goes on from the position it told of, also after the end of its input', async (t) => {
  const reader = await start({ maxBatches: 5 });
  const addresses = [];
  for (let i = 0; i < 5; i++) addresses.push(await reader.next(LIMIT_MS));
  t.match(await drain(reader), { code: 'ML_OUT_OF_RANGE' });
  t.same(reader.saveState(0), { batch: 5 });
  t.same(reader.saveState(3), { batch: 2 });
  await reader.restoreState(reader.saveState(3));
  for (const wanted of [...addresses.slice(2), addresses[1], addresses[2]]) {
    t.equal(await reader.next(LIMIT_MS), wanted);
  }
  t.match(await drain(reader), { code: 'ML_OUT_OF_RANGE' }, 'the batches of a run are counted from there');
  for (const state of [null, 3, { batch: -1 }, { batch: 1.5 }, { at: 1 }]) {
    await t.rejects(reader.restoreState(state), { code: 'ML_DATASET', message: /cannot go on from/ });
  }
  await reader.close();
  const endless = await start({ startBatch: 7 });
  await endless.next(LIMIT_MS);
  await endless.restoreState({ batch: 2 });
  t.equal(await endless.next(LIMIT_MS), addresses[2], 'what waited in the ring is given up');
  await endless.close();
});

t.test('a closed reader says so, and may be closed again', async (t) => {
  const reader = await start();
  const closing = reader.close();
  t.match(await drain(reader), { code: 'ML_CLOSED' });
  await closing;
  await reader.close();
  await t.rejects(reader.stats(), { code: 'ML_WORKER' });
});

t.test('a failure in the reader reaches the consumer as it was thrown', async (t) => {
  for (const [failure, wanted] of [
    ['coded', { code: 'ML_DATASET', fields: { reason: 'batch 6 is bad' } }],
    ['plain', { code: 'ML_WORKER', fields: { reason: 'batch 6 is worse' }, cause: { name: 'TypeError' } }],
    ['die', { code: 'ML_WORKER', fields: { thread: 'data-reader', reason: 'it ended with code 7' } }],
  ] as const) {
    const reader = await start({ dataset: failingDataset(failure) });
    t.match(await drain(reader), wanted);
    t.match(await drain(reader), wanted, 'and does so again');
    await reader.close();
  }
});

t.test('a reader that cannot load says why and leaves no thread', async (t) => {
  const dataset = ffmDataset(DATASET);
  await t.rejects(start({ dataset: { ...dataset, options: { ...DATASET, vocab: 0 } } }), { code: 'ML_DATASET' });
  await t.rejects(start({ dataset: failingDataset('die loading') }), { code: 'ML_WORKER' });
  const missing = new URL('./no-such-module.js', import.meta.url).href;
  await t.rejects(start({ dataset: { ...dataset, module: missing } }), {
    code: 'ML_DATASET',
    fields: { reason: /no-such-module/ },
  });
  const other = new URL('../../src/data/data-reader.js', import.meta.url).href;
  await t.rejects(start({ dataset: { ...dataset, module: other } }), {
    code: 'ML_DATASET',
    fields: { reason: /exports no function openDataset/ },
  });
  await t.rejects(start({ loadTimeoutMs: 0 }), { code: 'ML_TIMEOUT' });
});
