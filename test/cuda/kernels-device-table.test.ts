/** @file CUDA kernels of tables on the device, in the simulator, against references and a plain model. */
import fc from 'fast-check';
import t from 'tap';
import { DEVICE_COUNTER, DEVICE_COUNTERS } from '../../src/memory/device-table-layout.js';
import { OPTIMIZER_NUMBER, PARAMETER_BLOCK } from '../../src/memory/optimizer-layout.js';
import { INITIALIZER, SEGMENT, segmentAt, TABLE, tableBytes } from '../../src/memory/table-layout.js';
import type { Views } from '../../src/memory/views.js';
import { tableInitRow } from '../../src/runtime/backends/reference/table.js';
import { randomFloats, stream } from '../kernels/both.js';
import type { KernelHarness } from '../kernels/harness.js';
import { idsOfOneBucket, longestRun } from '../sparse/colliding-keys.js';
import { type CudaTwin, SCHEDULES, withTwin } from './twin.js';

const SLOT_BYTES = 16;
const NONE = 2 ** 32 - 1;
const few = fc.constantFrom(-1n, 0n, 1n, -(2n ** 63n), 2n ** 63n - 1n);
const anyId = fc.oneof(few, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
const uniqueIds = fc.uniqueArray(anyId, { maxLength: 50 });

/** A table with `before` in it, and a call with `ids`. */
function layOut(
  h: KernelHarness,
  before: readonly bigint[],
  ids: readonly bigint[],
  rowsMax: number,
  mask: number,
  secret = 0x9e3779b9,
) {
  const begin = h.arena.mark();
  const rowFloats = 8;
  const slots = h.alloc((mask + 2) * SLOT_BYTES);
  h.views.u8.fill(0xff, slots, slots + (mask + 2) * SLOT_BYTES);
  const counters = h.putI32([before.length, 0, 0, 0].slice(0, DEVICE_COUNTERS));
  const rows = h.alloc((rowsMax + 1) * rowFloats * 4);
  const [held, at] = [h.putI64(before), h.putI64(ids)];
  const [rowOf, fresh] = [h.putI32(ids.map(() => 7)), h.putI32(ids.map(() => 7))];
  const idOf = h.putI64([...before, ...Array.from({ length: rowsMax - before.length }, () => 0n)]);
  const addresses = h.putI64(ids.map(() => 0n));
  const end = Math.ceil(h.arena.mark() / 8) * 8;
  const words = (from: number, count: number) => [...new Uint32Array(h.buffer, from, count)];
  const run = (twin: CudaTwin, name: string, operands: readonly number[]) =>
    twin.launch(h.views, begin, end, name, operands);
  const place = [slots, mask, held, before.length, counters, secret];
  const find = [slots, mask, at, ids.length, rows, rowFloats, rowsMax, rowOf, addresses, secret];
  const take = [slots, mask, at, ids.length, rowOf, fresh, idOf, counters, rowsMax, secret];
  return { slots, run, place, find, take, words, rowOf, fresh, idOf, addresses, counters, rowFloats };
}

t.test('ids are found, new ones get a row each, and all keep theirs', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(uniqueIds, uniqueIds, (before, ids) =>
        h.scope(() => {
          const rowsMax = 120;
          const table = layOut(h, before, ids, rowsMax, 255);
          table.run(twin, 'deviceTablePlace', table.place);
          table.run(twin, 'deviceTableFind', table.find);
          const wanted = ids.map((id) => (before.includes(id) ? before.indexOf(id) : NONE));
          const found = table.words(table.rowOf, ids.length);
          if (found.some((row, i) => row !== wanted[i])) throw new Error(`rows ${found}, not ${wanted}`);
          // Where the copy of the memory lies is not known here: addresses count from one of them.
          const addresses = [...h.i64(table.addresses, ids.length)];
          const from = (i: number) => Number(addresses[i]! - addresses[0]!) / (table.rowFloats * 4);
          const numbers = wanted.map((row) => Math.min(row, rowsMax));
          if (numbers.some((row, i) => row - numbers[0]! !== from(i))) throw new Error(`addresses of ${numbers}`);

          table.run(twin, 'deviceTableTake', table.take);
          const taken = table.words(table.rowOf, ids.length);
          const fresh = table.words(table.fresh, ids.length);
          const added = ids.filter((id) => !before.includes(id));
          const idOf = h.i64(table.idOf, before.length + added.length);
          ids.forEach((id, i) => {
            if (idOf[taken[i]!] !== id) throw new Error(`row ${taken[i]} is of ${idOf[taken[i]!]}, not ${id}`);
            if (fresh[i] !== (before.includes(id) ? 0 : 1)) throw new Error(`${id} is fresh or not`);
          });
          const counters = table.words(table.counters, DEVICE_COUNTERS);
          if (counters[DEVICE_COUNTER.rows] !== before.length + added.length) throw new Error(`counted ${counters}`);
          if (counters[DEVICE_COUNTER.noRoom] !== 0) throw new Error('there was room');
          table.run(twin, 'deviceTableFind', table.find);
          const again = table.words(table.rowOf, ids.length);
          if (again.some((row, i) => row !== taken[i])) throw new Error(`rows ${taken}, then ${again}`);
        }),
      ),
      { numRuns: SCHEDULES + 10 },
    );
  })(t),
);

t.test('too many rows are reported, and none is given twice', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const ids = Array.from({ length: 40 }, (_, k) => BigInt(k * 7 + i));
        const table = layOut(h, [-5n, -6n], ids, 20, 63);
        for (const step of ['Place', 'Find', 'Take'] as const) {
          const operands = { Place: table.place, Find: table.find, Take: table.take }[step];
          table.run(twin, `deviceTable${step}`, operands);
        }
        const rows = table.words(table.rowOf, ids.length).filter((row) => row !== NONE);
        if (rows.length !== 18 || new Set(rows).size !== 18) throw new Error(`rows are ${rows}`);
        if (table.words(table.fresh, ids.length).filter((one) => one === 1).length !== 18) throw new Error('fresh');
        if (table.words(table.counters, 3)[DEVICE_COUNTER.noRoom] !== 1) throw new Error('nothing was reported');
      });
    }
  })(t),
);

/** The control block of a table of two segments, the first drawn and the second constant. */
function putTable(h: KernelHarness, dims: readonly [number, number], range: readonly [number, number], seed: number) {
  const table = h.alloc(tableBytes(2));
  const { u32, f32 } = h.views;
  u32[table / 4 + TABLE.dim] = dims[0] + dims[1];
  u32[table / 4 + TABLE.segments] = 2;
  u32[table / 4 + TABLE.seed] = seed;
  dims.forEach((dim, index) => {
    const at = segmentAt(table, index) / 4;
    u32[at + SEGMENT.dim] = dim;
    u32[at + SEGMENT.weightOffset] = index === 0 ? 0 : dims[0];
    u32[at + SEGMENT.stateOffset] = index === 0 ? 0 : dims[0];
    u32[at + SEGMENT.initializer] = index === 0 ? INITIALIZER.uniform : INITIALIZER.constant;
    f32.set(index === 0 ? range : [0.25, 0], at + SEGMENT.initialA);
    u32[at + SEGMENT.optimizer] = OPTIMIZER_NUMBER.adagrad;
    f32[at + SEGMENT.parameters + PARAMETER_BLOCK.initial / 4] = 0.5;
  });
  return table;
}

t.test('the first values of new rows are those of the host, bit for bit', (t) =>
  withTwin((twin, h) => {
    const dims = fc.tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 9 }));
    const seeds = fc.nat(2 ** 32 - 1);
    fc.assert(
      fc.property(uniqueIds, dims, seeds, fc.integer(), (ids, [drawn, constant], seed, random) =>
        h.scope(() => {
          const next = stream(random);
          const range = [Math.fround(next() - 1), Math.fround(next())] as const;
          const table = putTable(h, [drawn, constant], range, seed);
          const dim = drawn + constant;
          const rowFloats = Math.ceil((dim * 2) / 4) * 4;
          const begin = h.arena.mark();
          const first = new Float32Array(rowFloats);
          first
            .fill(range[0], 0, drawn)
            .fill(0.25, drawn, dim)
            .fill(0.5, dim, dim * 2);
          const width = new Float32Array(rowFloats).fill(Math.fround(range[1] - range[0]), 0, drawn);
          const [firstAt, rangeAt, at] = [h.putF32(first), h.putF32(width), h.putI64(ids)];
          const rowNumbers = ids.map((_, i) => ids.length - 1 - i);
          const fresh = ids.map(() => (next() < 0.7 ? 1 : 0));
          const [freshAt, rowOf] = [h.putI32(fresh), h.putI32(rowNumbers)];
          const rows = h.putF32(randomFloats(next, Math.max(1, ids.length) * rowFloats));
          const plain = (m: Views) => {
            ids.forEach((id, i) => {
              if (fresh[i] === 0) return;
              const row = rows + rowNumbers[i]! * rowFloats * 4;
              m.f32.fill(0, row / 4, row / 4 + rowFloats);
              tableInitRow(m, table, row, id);
            });
          };
          const operands = [freshAt, rowOf, at, ids.length, rows, rowFloats, firstAt, rangeAt, seed];
          twin.run(h, begin, 'deviceTableFill', plain, operands);
        }),
      ),
      { numRuns: SCHEDULES + 10 },
    );
  })(t),
);

t.test('rows are stamped, and those with a gradient that is not finite are counted and left alone', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(fc.nat(70), fc.integer({ min: 1, max: 70 }), fc.integer(), (count, dim, seed) =>
        h.scope(() => {
          const next = stream(seed);
          const begin = h.arena.mark();
          const stride = Math.ceil(dim / 4) * 4;
          const gradients = randomFloats(next, count * stride);
          const bad = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
          const isBad = Array.from({ length: count }, () => next() < 0.3);
          isBad.forEach((one, i) => {
            if (one) gradients[i * stride + Math.floor(next() * dim)] = bad[i % 3]!;
            // What lies behind a gradient is none of its.
            if (stride > dim) gradients[i * stride + dim] = Number.NaN;
          });
          const rowNumbers = Array.from({ length: count }, (_, i) => count - 1 - i);
          const [rowOf, grad] = [h.putI32(rowNumbers), h.putF32(gradients)];
          const [times, counters] = [h.putI32(rowNumbers.map(() => 5)), h.putI32([1, 2, 0, 0])];
          const plain = (m: Views) => {
            isBad.forEach((one, i) => {
              m.u32[times / 4 + rowNumbers[i]!] = 2 ** 32 - 3;
              if (!one) return;
              m.u32[rowOf / 4 + i] = NONE;
              m.u32[counters / 4 + DEVICE_COUNTER.badGradients]! += 1;
            });
          };
          twin.run(h, begin, 'deviceTableAdmit', plain, [
            rowOf,
            count,
            grad,
            stride,
            dim,
            times,
            2 ** 32 - 3,
            counters,
          ]);
        }),
      ),
      { numRuns: SCHEDULES + 10 },
    );
  })(t),
);

t.test('ids that were made to share a slot lie apart by a secret', (t) =>
  withTwin((twin, h) => {
    const [ids, mask] = [idsOfOneBucket(400), 1023];
    const secrets = Array.from({ length: SCHEDULES + 1 }, (_, i) => (i * 0x9e3779b9) % 2 ** 32);
    const runs = secrets.map((secret) =>
      h.scope(() => {
        const table = layOut(h, ids, ids, 400, mask, secret);
        table.run(twin, 'deviceTablePlace', table.place);
        table.run(twin, 'deviceTableFind', table.find);
        t.same(
          table.words(table.rowOf, ids.length),
          ids.map((_, row) => row),
        );
        return longestRun(mask + 1, (slot) => h.views.i64[(table.slots + slot * SLOT_BYTES) / 8] !== -1n);
      }),
    );
    t.equal(runs[0], 400, 'without one they all meet');
    t.ok(
      runs.slice(1).every((run) => run < 100),
      `${runs} slots in a row`,
    );
  })(t),
);
