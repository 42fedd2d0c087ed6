/** @file CUDA kernels of ids, packed buffers and layouts, in the simulator, against references and properties. */
import fc from 'fast-check';
import t from 'tap';
import { DEVICE_SOURCE, DEVICE_SOURCE_WORDS } from '../../src/memory/device-record-layout.js';
import { NO_ROW as NONE, writeAddress } from '../../src/memory/device-table-layout.js';
import { wordsOf } from '../../src/memory/record-layout.js';
import type { Views } from '../../src/memory/views.js';
import * as ops from '../../src/runtime/backends/reference/ops.js';
import * as sparse from '../../src/runtime/backends/reference/sparse.js';
import { alignedFlatConcat, alignedFlatSplit } from '../../src/tensor/ops/aligned-flat.js';
import { mapIdToEmbedding } from '../../src/tensor/ops/gather-embeddings.js';
import { Tensor } from '../../src/tensor/tensor.js';
import { randomFloats, stream } from '../kernels/both.js';
import { type Plain, SCHEDULES, withTwin } from './twin.js';

const SLOT_BYTES = 16;
const few = fc.constantFrom(-1n, 0n, 1n, -(2n ** 63n), 2n ** 63n - 1n);
const idLists = fc.array(fc.oneof(few, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })), { maxLength: 60 });

t.test('every id gets one row, keeps it, and shares it with no other', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(idLists, idLists, (before, ids) =>
        h.scope(() => {
          const begin = h.arena.mark();
          const mask = 127;
          const slots = h.alloc((mask + 2) * SLOT_BYTES);
          h.views.u8.fill(0xff, slots, slots + (mask + 2) * SLOT_BYTES);
          const [counter, flags] = [h.putI32([0]), h.putI32([0])];
          const lookUp = (list: readonly bigint[], inserts: boolean) => {
            const [at, rows] = [h.putI64(list), h.putI32(list.map(() => 7))];
            const end = Math.ceil(h.arena.mark() / 8) * 8;
            const insert = [slots, mask, at, list.length, counter, 1000, flags];
            if (inserts) twin.launch(h.views, begin, end, 'hashInsertI64', insert);
            twin.launch(h.views, begin, end, 'hashFindI64', [slots, mask, at, list.length, rows]);
            return [...new Uint32Array(h.buffer, rows, list.length)];
          };
          const first = lookUp(before, true);
          const absent = new Set(before);
          const found = lookUp(ids, false);
          ids.forEach((id, i) => {
            if (absent.has(id) === (found[i] === NONE)) throw new Error(`${id} is found and should not be, or not`);
          });
          const second = lookUp(ids, true);
          const rowOf = new Map<bigint, number>();
          [...before, ...ids].forEach((id, i) => {
            const row = [...first, ...second][i]!;
            if ((rowOf.get(id) ?? row) !== row) throw new Error(`${id} has rows ${row} and ${rowOf.get(id)}`);
            rowOf.set(id, row);
          });
          const rows = [...rowOf.values()].sort((a, b) => a - b);
          if (rows.some((row, i) => row !== i)) throw new Error(`rows are ${rows}`);
          if (h.views.u32[counter / 4] !== rowOf.size || h.views.u32[flags / 4] !== 0) throw new Error('bad count');
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);

t.test('a full table and too many rows are reported', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const begin = h.arena.mark();
        const [mask, rowsMax] = i % 2 ? [3, 100] : [31, 2];
        const slots = h.alloc((mask + 2) * SLOT_BYTES);
        h.views.u8.fill(0xff, slots, slots + (mask + 2) * SLOT_BYTES);
        const [counter, flags, ids] = [h.putI32([0]), h.putI32([0]), h.putI64([1n, 2n, 3n, 4n, 5n, BigInt(i + 9)])];
        const rows = h.putI32(Array(6).fill(0));
        twin.launch(h.views, begin, rows + 64, 'hashInsertI64', [slots, mask, ids, 6, counter, rowsMax, flags]);
        twin.launch(h.views, begin, rows + 64, 'hashFindI64', [slots, mask, ids, 6, rows]);
        const found = [...new Uint32Array(h.buffer, rows, 6)].filter((row) => row !== NONE);
        if (found.length !== (i % 2 ? 4 : 2)) throw new Error(`rows are ${found}`);
        if (h.views.u32[flags / 4] !== 1) throw new Error('nothing was reported');
      });
    }
  })(t),
);

t.test('embeddings are found by id, of ids that repeat the first one', (t) =>
  withTwin((twin, h) => {
    fc.assert(
      fc.property(idLists, fc.integer({ min: 1, max: 40 }), fc.integer(), (ids, dim, seed) =>
        h.scope(() => {
          const next = stream(seed);
          const begin = h.arena.mark();
          const mask = 127;
          const slots = h.alloc((mask + 2) * SLOT_BYTES);
          h.views.u8.fill(0xff, slots, slots + (mask + 2) * SLOT_BYTES);
          const list = ids.length === 0 ? [3n] : ids;
          const input = Array.from({ length: 20 }, () => list[Math.floor(next() * list.length)]!);
          const rows = randomFloats(next, list.length * dim);
          const [keys, wanted, embeddings] = [h.putI64(list), h.putI64(input), h.putF32(rows)];
          const [out, flags] = [h.putF32(new Float32Array(20 * dim)), h.putI32([0])];
          const end = Math.ceil(h.arena.mark() / 8) * 8;
          twin.launch(h.views, begin, end, 'hashFirstI64', [slots, mask, keys, list.length, flags]);
          const plain = (m: Views) => {
            const [source, inputs] = [list, input].map((values) => Tensor.vector('int64', BigInt64Array.from(values)));
            const table = new Tensor('float32', [list.length, dim], rows);
            m.f32.set(mapIdToEmbedding([source!], [table], inputs!).data, out / 4);
          };
          const args = [slots, mask, wanted, 20, embeddings, dim, dim, out, dim, flags];
          twin.run(h, begin, 'mapIdToEmbeddingF32', plain, args);
        }),
      ),
      { numRuns: SCHEDULES },
    );
  })(t),
);

t.test('row ids and counts equal their references', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const next = stream(i);
        const begin = h.arena.mark();
        const splits = [i % 3];
        for (let r = 0; r < i * 3; r++) splits.push(splits[r]! + Math.floor(next() * (i % 5 === 0 ? 90 : 4)));
        const n = splits.at(-1)! - splits[0]!;
        const out = h.putI32(new Int32Array(n));
        const plain = sparse as unknown as Record<string, Plain>;
        twin.run(h, begin, 'rowIdsFromSplits', plain.rowIdsFromSplits!, [h.putI32(splits), splits.length - 1, out]);
        const counts = h.putI32(new Int32Array(Math.max(1, splits.length)));
        twin.run(h, begin, 'countInverseU32', plain.countInverseU32!, [out, n, counts]);
        twin.run(h, begin, 'countColumnsU32', plain.countColumnsU32!, [out, Math.floor(n / 3), 3, counts]);
      });
    }
  })(t),
);

t.test('aligned buffers are packed and unpacked as alignedFlatConcat and alignedFlatSplit do', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const next = stream(i);
        const begin = h.arena.mark();
        const sizes = Array.from({ length: 1 + (i % 6) }, () => Math.floor(next() * 90));
        const tensors = sizes.map((size) => Tensor.vector('float32', randomFloats(next, size)));
        const places = tensors.map(({ data }) => h.putF32(data));
        const offsets = [0];
        for (const size of sizes) offsets.push(offsets.at(-1)! + Math.ceil(size / 16) * 16);
        const total = offsets.at(-1)!;
        const flat = h.putF32(randomFloats(next, total));
        const lists = [
          BigUint64Array.from(places, BigInt),
          Uint32Array.from(sizes),
          Uint32Array.from(offsets),
        ] as const;
        const scale = i % 2 ? 1 : 0.3;
        const concat = (m: Views) => m.f32.set(alignedFlatConcat(tensors, scale).data, flat / 4);
        const operands = [...lists, sizes.length, total, flat];
        const end = h.arena.mark();
        twin.run(h, begin, 'packF32', concat, [], undefined, [...operands, scale]);
        if (h.arena.mark() !== end) throw new Error('the arena has moved');
        const split = (m: Views) => {
          const vector = Tensor.vector('float32', m.f32.slice(flat / 4, flat / 4 + total));
          const parts = alignedFlatSplit(
            sizes.map((size) => [size]),
            vector,
          );
          for (const [k, { data }] of parts.entries()) m.f32.set(data, places[k]! / 4);
        };
        twin.run(h, begin, 'unpackF32', split, [], undefined, operands);
      });
    }
  })(t),
);

t.test('embeddings go to a layout as on the CPU, and their gradients come back', (t) =>
  withTwin((twin, h) => {
    const plain = ops as unknown as Record<string, Plain>;
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const next = stream(i + 3);
        const begin = h.arena.mark();
        const [batch, dim, start, pooling] = [1 + Math.floor(next() * 30), 1 + (i % 9), i % 3, [0, 1, 3][i % 3]!];
        const [unit, units] = [dim + start, 12];
        const table = h.putF32(randomFloats(next, unit * units));
        const samples = [0];
        for (let b = 0; b < batch; b++) samples.push(samples[b]! + Math.floor(next() * 4));
        const ids = samples.at(-1)!;
        const addresses = Array.from({ length: ids }, () => table + Math.floor(next() * units) * unit * 4);
        const [rowPtrs, splits] = [h.putI32(addresses), h.putI32(samples)];
        const limit = 2;
        const out = h.putF32(randomFloats(next, batch * dim * limit));
        const shape = [splits, batch, i % 4 === 3 ? 1 : 0, start, dim, pooling, limit, out, dim * limit, dim] as const;
        const pointers = BigUint64Array.from(addresses, BigInt);
        const forward = plain.layoutForwardF32!;
        twin.run(h, begin, 'layoutForwardF32', forward, [rowPtrs, ...shape], undefined, [pointers, ...shape]);
        const [args, device] = [
          [rowPtrs, ...shape, 0.5],
          [pointers, ...shape, 0.5],
        ];
        // Halves of multiples of 12 are divided by counts up to 3 and added by atomics: exact in any order.
        const whole = (at: number, count: number) => {
          for (let k = 0; k < count; k++) h.views.f32[at / 4 + k] = 12 * Math.floor(next() * 32 - 16);
        };
        whole(table, unit * units);
        whole(out, batch * dim * limit);
        twin.run(h, begin, 'layoutBackwardF32', plain.layoutBackwardF32!, args, undefined, device);
      });
    }
  })(t),
);

t.test('rows of a layout are found, and the first that is not is named', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const next = stream(i + 5);
        const begin = h.arena.mark();
        const [dim, n] = [1 + (i % 5), 1 + Math.floor(next() * 300)];
        const sources = [0, 1].map((k) => ({ at: h.putF32(new Float32Array(dim * 10)), floats: dim * (10 - k) }));
        const places = Array.from({ length: n }, () => [Math.floor(next() * (i % 2 ? 9 : 11)), Math.round(next())]);
        const list = h.putI32(sources.flatMap(({ at, floats }) => [at, floats, dim, 0]));
        const [fids, rows] = [h.putI32(places.flat()), h.putI32(new Int32Array(n))];
        const bad = ops.layoutResolve(h.views, fids, 0, n, list, 2, dim, rows);
        const wanted = [...new Uint32Array(h.buffer, rows, n)];
        const [found, first] = [h.putI64(new BigInt64Array(n)), h.putI32([NONE | 0])];
        const end = Math.ceil(h.arena.mark() / 8) * 8;
        let distance = 0;
        const deviceSources = (moved: number) => {
          distance = moved;
          const words = Uint32Array.from(
            sources.flatMap(({ floats }) =>
              wordsOf(DEVICE_SOURCE, DEVICE_SOURCE_WORDS, { address: 0, floats, unit: dim }),
            ),
          );
          sources.forEach(({ at }, k) => {
            writeAddress(words, k * DEVICE_SOURCE_WORDS + DEVICE_SOURCE.address, at + moved);
          });
          return words;
        };
        twin.launch(h.views, begin, end, 'layoutResolve', [fids, 0, n, deviceSources, 2, dim, found, first]);
        const named = h.views.u32[first / 4]!;
        if (named !== (bad === -1 ? NONE : bad)) throw new Error(`named ${named}, not ${bad}`);
        for (let k = 0; k < (bad === -1 ? n : bad); k++) {
          const at = Number(h.views.u64[found / 8 + k]! - BigInt(distance));
          if (at !== wanted[k]) throw new Error(`row ${k} is at ${at}, not ${wanted[k]}`);
        }
      });
    }
  })(t),
);
