import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { crc32c } from '../../src/base/crc32c.js';
import { EntryDumpCodec } from '../../src/io/entry-dump.js';
import { type DumpedOptimizer, type DumpSegment, OPTIMIZER_DUMPS } from '../../src/io/optimizer-dump.js';
import { frameRecord } from '../../src/io/record-writer.js';
import {
  CRC_SHIFT_BYTES,
  CRC_TABLES_BYTES,
  DECODE_END,
  DECODE_PROGRESS,
  DUMP_SCRATCH_BYTES,
} from '../../src/memory/dump-layout.js';
import { idWordOf, PARTITIONS } from '../../src/memory/table-layout.js';
import * as reference from '../../src/runtime/backends/reference/dump.js';
import { BankScratch } from '../../src/sparse/files/bank-scratch.js';
import { writeDumpPlan } from '../../src/sparse/files/dump-plan.js';
import { type Row, TestTable } from '../sparse/table-files/fixture.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';

const h = await KernelHarness.create(4 << 20);

t.test('checksum tables and sums are those of the native function', (t) => {
  h.scope(() => {
    const begin = h.arena.mark();
    const tables = h.alloc(CRC_TABLES_BYTES);
    runPair(h, begin, h.wasm.crc32cTables, reference.crc32cTables, [tables]);
    const shift = h.alloc(CRC_SHIFT_BYTES);
    for (const bytes of [0, 1, 3, 4, 19, 20, 21, 197]) {
      runPair(h, begin, h.wasm.crc32cShift, reference.crc32cShift, [tables, shift, bytes]);
    }
    const content = Uint8Array.from({ length: 300 }, (_, i) => (i * 73) >> (i % 5));
    const at = h.alloc(content.length);
    h.views.u8.set(content, at);
    for (let n = 0; n <= 40; n++) {
      const wanted = crc32c(content.subarray(n, 3 * n), 77);
      assert.equal(h.wasm.crc32cBytes(tables, at + n, 2 * n, 77) >>> 0, wanted);
      assert.equal(reference.crc32cBytes(h.views, tables, at + n, 2 * n, 77), wanted);
    }
  });
  t.end();
});

const FIXED = (Object.keys(OPTIMIZER_DUMPS) as DumpedOptimizer[]).filter((name) => name !== 'batchSoftmax');
const float = fc.float({ noNaN: true });
const shape = fc
  .array(fc.record({ dim: fc.integer({ min: 1, max: 21 }), optimizer: fc.constantFrom(...FIXED) }), {
    minLength: 1,
    maxLength: 4,
  })
  .chain((segments) => {
    const codec = new EntryDumpCodec(segments);
    const row = fc.record({
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      time: fc.oneof(fc.constantFrom(0, 127, 128, 16383, 2 ** 21, 2 ** 28, 2 ** 32 - 1), fc.nat()),
      weights: fc.array(float, { minLength: codec.weightCount, maxLength: codec.weightCount }),
      state: fc.array(float, { minLength: codec.stateCount, maxLength: codec.stateCount }),
    });
    return fc.record({
      segments: fc.constant<readonly DumpSegment[]>(segments),
      rows: fc.uniqueArray(row, { selector: ({ id }) => id, minLength: 1, maxLength: 12 }),
    });
  });

/** What the codec and the record writer make of rows. */
function encoded(segments: readonly DumpSegment[], rows: readonly Row[]): Buffer {
  const codec = new EntryDumpCodec(segments);
  const bytes = new Uint8Array(rows.length * (codec.maxBytes + 16));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { id, time, weights, state } of rows) {
    const row = {
      id,
      lastUpdateSec: time,
      weights: Float32Array.from(weights),
      state: Float32Array.from(state),
    };
    at += frameRecord(bytes, view, at, codec.encode(row, bytes, view, at + 12));
  }
  return Buffer.from(bytes.subarray(0, at));
}

const memory = (await TestTable.create({ budgetBytes: 8 << 20 })).memory;
const bank = memory.banks[0]!;

t.test('rows of every shape become the bytes of the codec, and rows again', async (t) => {
  await fc.assert(
    fc.asyncProperty(shape, async ({ segments, rows }) => {
      const table = await TestTable.create({ segments, memory });
      table.put(rows);
      const { image } = table;
      const scratch = new BankScratch(bank);
      const { kernels, views } = bank;
      try {
        const plan = writeDumpPlan(image, scratch)!;
        const slots = scratch.alloc(rows.length * 4);
        const outBytes = rows.length * plan.maxRecordBytes + 64;
        const [out, twin, work] = [scratch.alloc(outBytes), scratch.alloc(outBytes), scratch.alloc(DUMP_SCRATCH_BYTES)];
        let found = 0;
        for (let p = 0; p < PARTITIONS; p++) found += image.scan(p, views.u32.subarray(slots / 4 + found));
        const idOf = (slot: number) => views.i64[idWordOf(slot)]!;
        views.u32.subarray(slots / 4, slots / 4 + found).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
        const bytes = kernels.encodeEntries(plan.address, slots, found, out, work);
        const wanted = encoded(segments, table.rows());
        assert.equal(Buffer.from(views.u8.slice(out, out + bytes)).toString('hex'), wanted.toString('hex'));
        assert.equal(reference.encodeEntries(views, plan.address, slots, found, twin, work), bytes);
        assert.equal(Buffer.from(views.u8.slice(twin, twin + bytes)).toString('hex'), wanted.toString('hex'));

        const { rowBytes } = image;
        const [ids, times, columns, progress] = [8, 4, rowBytes, 64].map((size) =>
          scratch.alloc(found * size + 64),
        ) as [number, number, number, number];
        const args = [ids, times, columns, rowBytes, progress] as const;
        const decode = (by: 'wasm' | 'plain', end: number, limit: number) => {
          views.u8.fill(0, columns, columns + found * rowBytes);
          views.u32[progress / 4 + DECODE_PROGRESS.crc] = 99;
          const count =
            by === 'wasm'
              ? kernels.decodeEntries(plan.address, out, end, limit, ...args)
              : reference.decodeEntries(views, plan.address, out, end, limit, ...args);
          const take = (at: number, size: number) => Buffer.from(views.u8.slice(at, at + size)).toString('hex');
          const rest = [take(ids, count * 8), take(times, count * 4), take(columns, count * rowBytes)];
          return [count, ...views.u32.slice(progress / 4, progress / 4 + 3), ...rest];
        };
        for (const [end, limit] of [
          [out + bytes, found],
          [out + bytes, 100],
          [out + bytes - 1, 100],
          [out + bytes - 5, 100],
          [out + 11, 100],
          [out + bytes, 0],
        ] as const) {
          assert.deepEqual(decode('wasm', end, limit), decode('plain', end, limit));
        }
        const [count, next, why, crc] = decode('wasm', out + bytes, 100);
        assert.deepEqual([count, next, why], [found, out + bytes, DECODE_END.needsBytes]);
        assert.equal(crc, crc32c(views.u8.slice(out, out + bytes), 99));
        // A changed byte ends the call there, or shows in the sum.
        for (let at = 0; at < bytes; at += 11) {
          views.u8[out + at]! ^= 0x10;
          const damaged = decode('wasm', out + bytes, 100);
          assert.deepEqual(damaged, decode('plain', out + bytes, 100));
          const [, end] = damaged as number[];
          assert.ok(end! <= out + at || damaged[3] !== crc32c(views.u8.slice(out, end), 99));
          views.u8[out + at]! ^= 0x10;
        }
      } finally {
        scratch.free();
        image.clear();
      }
    }),
    { numRuns: 30 },
  );
  t.end();
});

t.test('rows from columns into a table, reserved or not, are as the twin puts them', async (t) => {
  const segments: DumpSegment[] = [{ dim: 3, optimizer: 'adagrad' }];
  const { kernels, views } = bank;
  for (const [count, reserve] of [
    [0, 0],
    [1, 0],
    [700, 0],
    [700, 900],
  ] as const) {
    const scratch = new BankScratch(bank);
    const [ids, times, rows, work] = [count * 8, count * 4, count * 32, DUMP_SCRATCH_BYTES].map((size) =>
      scratch.alloc(size + 64),
    ) as [number, number, number, number];
    for (let i = 0; i < count; i++) {
      views.i64[ids / 8 + i] = BigInt.asIntN(64, BigInt(i % 650) * 0x9e3779b97f4a7c15n);
      views.u32[times / 4 + i] = i;
      views.f32.fill(i, rows / 4 + 8 * i, rows / 4 + 8 * i + 8);
    }
    const made = [await TestTable.create({ segments, memory }), await TestTable.create({ segments, memory })] as const;
    for (let p = 0; p < PARTITIONS && reserve > 0; p++) {
      kernels.reserveRows(made[0].addresses[0]!, p, reserve);
      reference.reserveRows(views, made[1].addresses[0]!, p, reserve);
      t.equal(made[0].image.bucketsOf(p), 512);
      t.equal(made[1].image.bucketsOf(p), 512);
    }
    t.equal(kernels.loadRows(made[0].addresses[0]!, ids, times, rows, 32, count, work), count);
    t.equal(reference.loadRows(views, made[1].addresses[0]!, ids, times, rows, 32, count, work), count);
    t.same(made[0].rows(), made[1].rows());
    t.equal(made[0].image.size, Math.min(count, 650));
    for (const { image } of made) image.clear();
    scratch.free();
  }
});
