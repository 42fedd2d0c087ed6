import t from 'tap';
import type { DatasetSource } from '../../src/data/dataset-source.js';
import { ReaderService } from '../../src/data/reader-service.js';
import { datasetBytesMax, type FfmDatasetOptions, ffmBatches, ffmDataset } from '../../src/demo/ffm-dataset.js';
import { ffmSchema } from '../../src/demo/ffm-example.js';
import { readBatch } from '../../src/memory/batch.js';
import { SharedRing } from '../../src/memory/shared-ring.js';
import { Views } from '../../src/memory/views.js';
import { failingDataset } from './failing-dataset.js';

const DATASET: FfmDatasetOptions = { kind: 'reference', vocab: 5, batchSize: 16, seed: 0 };
const RING_BYTES = SharedRing.bytesFor(4, 4);
const LIMIT_MS = 10_000;

function make(
  bytes = datasetBytesMax(DATASET),
  dataset: DatasetSource = ffmDataset(DATASET),
): { service: ReaderService; ring: SharedRing; views: Views } {
  const buffer = new SharedArrayBuffer(RING_BYTES + bytes);
  const ring = SharedRing.create(buffer, 0, { capacity: 4, slotBytes: 4, name: 'batches', lowWater: 2 });
  const region = { offset: RING_BYTES, bytes };
  return {
    service: new ReaderService({ buffer, region, ringOffset: 0, dataset }),
    ring,
    views: new Views(buffer),
  };
}

t.test('the reader hands the resident batches out round and round', async (t) => {
  const { service, ring, views } = make();
  const report = await service.load();
  t.match(report, { batchCount: 4, exampleCount: 64 });
  t.ok(report.bytes <= datasetBytesMax(DATASET));
  service.start();
  const pointers: number[] = [];
  for (let i = 0; i < 11; i++) pointers.push(await ring.popU32Async(LIMIT_MS));
  t.same(pointers.slice(4, 8), pointers.slice(0, 4));
  t.same(pointers.slice(8), pointers.slice(0, 3));
  t.same(
    pointers.slice(0, 4).map((at) => readBatch(views, at, ffmSchema())),
    [...ffmBatches(DATASET)],
  );
  await service.stop();
  t.equal(service.stats().running, false);
  t.ok(service.stats().waits > 0, 'a full ring held it back');
});

t.test('a run can start at any batch and end after so many', async (t) => {
  const { service, ring } = make();
  await service.load();
  service.start({ maxBatches: 4 });
  const epoch = [];
  for (let i = 0; i < 4; i++) epoch.push(await ring.popU32Async(LIMIT_MS));
  await t.rejects(ring.popU32Async(LIMIT_MS), { code: 'ML_CLOSED' });

  const later = make();
  await later.service.load();
  later.service.start({ maxBatches: 2, startBatch: 4 * 1_000_000_000 + 3 });
  t.equal(await later.ring.popU32Async(LIMIT_MS), epoch[3]);
  t.equal(await later.ring.popU32Async(LIMIT_MS), epoch[0]);
});

t.test('stop leaves the ring open for another start, close ends it', async (t) => {
  const { service, ring } = make();
  t.throws(() => service.start(), { code: 'ML_DATASET' });
  await service.load();
  service.start();
  t.throws(() => service.start(), { code: 'ML_DATASET' });
  await ring.popU32Async(LIMIT_MS);
  await service.stop();
  while (ring.size > 0) ring.tryPopU32();
  service.start({ startBatch: 1 });
  await ring.popU32Async(LIMIT_MS);
  await service.close();
  t.ok(ring.closed);
});

t.test('a consumer that ends the ring ends the run without a failure', async (t) => {
  const { service, ring } = make();
  await service.load();
  service.start();
  await ring.popU32Async(LIMIT_MS);
  ring.close();
  await service.stop();
  t.equal(service.stats().failure, null);
});

t.test('a failure is kept and cancels the ring', async (t) => {
  const { ring, service } = make(64, failingDataset('plain'));
  await service.load();
  service.start();
  const drain = async (): Promise<never> => {
    for (;;) await ring.popU32Async(LIMIT_MS);
  };
  await t.rejects(drain(), { code: 'ML_CANCELLED', fields: { reason: 'failed' } });
  t.match(service.stats().failure, { message: 'batch 6 is worse' });
});

t.test('a region that is too small is refused', async (t) => {
  await t.rejects(make(2048).service.load(), { code: 'ML_MEMORY' });
});
