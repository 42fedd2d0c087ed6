import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type ArrayFileOptions, arrayFileDataset, planArrayFile } from '../../src/data/array-file.js';
import { DataReader } from '../../src/data/data-reader.js';
import { Arena } from '../../src/memory/arena.js';
import { type BatchSchema, readBatch } from '../../src/memory/batch.js';
import { createSharedMemory } from '../../src/memory/shared-memory.js';
import { Views } from '../../src/memory/views.js';

const LIMIT_MS = 10_000;
const ROWS = 103;
const schema: BatchSchema = [
  { name: 'ids', kind: 'ids', width: 3 },
  { name: 'x', kind: 'dense', width: 2 },
];
const ids = BigInt64Array.from({ length: ROWS * 3 }, (_, i) => -(2n ** 62n) + BigInt(i));
const x = Float32Array.from({ length: ROWS * 2 }, (_, i) => i / 3);

function write(folder: string, batchSize: number, keepRemainder = false): ArrayFileOptions {
  const file = join(folder, 'arrays.bin');
  writeFileSync(file, Buffer.concat([Buffer.alloc(12), Buffer.from(x.buffer), Buffer.from(ids.buffer)]));
  return { file, schema, offsets: [12 + x.byteLength, 12], rows: ROWS, batchSize, keepRemainder };
}

for (const keepRemainder of [false, true]) {
  t.test(`batches of a file come whole and in order${keepRemainder ? ', the rest last' : ''}`, async (t) => {
    const dataset = write(t.testdir(), 10, keepRemainder);
    const { batchCount, ahead } = planArrayFile(dataset);
    t.equal(batchCount, keepRemainder ? 11 : 10);
    const { buffer } = createSharedMemory(4 << 20);
    const views = new Views(buffer);
    // More batches than there are places: they are used again, and those in use stay as they are.
    const maxBatches = 30 * batchCount;
    const arena = new Arena('test', 65536, buffer.byteLength);
    const reader = await DataReader.startIn({ buffer, arena }, { dataset: arrayFileDataset(dataset), maxBatches });
    t.equal(reader.batchesAhead, ahead);
    const inUse: { number: number; at: number }[] = [];
    const check = ({ number, at }: (typeof inUse)[0]) => {
      const row = (number % batchCount) * 10;
      const end = Math.min(row + 10, ROWS);
      const { rows, feeds } = readBatch(views, at, schema);
      t.equal(rows, end - row);
      t.same(feeds[0]!.values, ids.subarray(row * 3, end * 3));
      t.same(feeds[1]!.values, x.subarray(row * 2, end * 2));
    };
    for (let number = 0; number < maxBatches; number++) {
      inUse.push({ number, at: await reader.next(LIMIT_MS) });
      if (inUse.length === ahead) check(inUse.shift()!);
    }
    for (const batch of inUse) check(batch);
    await t.rejects(async () => reader.next(LIMIT_MS), { code: 'ML_OUT_OF_RANGE' });
    await reader.close();
  });
}

t.test('a file that is not what was said is refused', async (t) => {
  const dataset = write(t.testdir(), 10);
  const { buffer } = createSharedMemory(4 << 20);
  const start = async (change: Partial<ArrayFileOptions>) =>
    DataReader.startIn(
      { buffer, arena: new Arena('test', 65536, buffer.byteLength) },
      { dataset: arrayFileDataset({ ...dataset, ...change }) },
    );
  await t.rejects(start({ rows: ROWS + 1 }), { code: 'ML_DATASET' });
  await t.rejects(start({ file: `${dataset.file}.not` }), { code: 'ML_DATASET' });
  await t.rejects(start({ batchSize: ROWS + 1 }), { code: 'ML_DATASET' });
  await t.rejects(start({ batchSize: 0 }), { code: 'ML_DATASET' });
  await t.rejects(start({ offsets: [0] }), { code: 'ML_DATASET' });
  await t.rejects(start({ schema: [{ name: 'r', kind: 'ragged' }], offsets: [0] }), { code: 'ML_DATASET' });
});
