import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { Views } from '../../src/memory/views.js';
import * as reference from '../../src/runtime/backends/reference/ops.js';
import type { OpsKernels } from '../../src/runtime/backends/wasm/calls/ops.js';
import { randomFloats, stream } from './both.js';
import { KernelHarness } from './harness.js';

type OpsReference = {
  readonly [K in keyof OpsKernels]: (m: Views, ...args: Parameters<OpsKernels[K]>) => ReturnType<OpsKernels[K]>;
};
/** The compiler holds the twins to the signatures of the kernels. */
const twins: OpsReference = reference;
const h = await KernelHarness.create(8 << 20);

/** Runs both versions on the same image of everything allocated since `begin`; all bytes and results must agree. */
function both<K extends keyof OpsKernels>(begin: number, name: K, ...args: Parameters<OpsKernels[K]>): unknown {
  const image = h.views.u8.slice(begin, h.arena.mark());
  const fromWasm = (h.wasm[name] as (...args: number[]) => unknown)(...args);
  const wasm = h.views.u8.slice(begin, h.arena.mark());
  h.views.u8.set(image, begin);
  const fromPlain = (twins[name] as (m: Views, ...args: number[]) => unknown)(h.views, ...args);
  assert.deepEqual(wasm, h.views.u8.slice(begin, h.arena.mark()), `${name} leaves other bytes`);
  assert.equal(fromWasm, fromPlain, `${name} answers otherwise`);
  return fromWasm;
}

const id = fc.oneof(fc.bigInt({ min: -20n, max: 20n }), fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }));
const inScope = <T>(body: (begin: number) => T) => h.scope(() => body(h.arena.mark()));

t.test('ids are counted and placed by server', async () => {
  fc.assert(
    fc.property(fc.array(id, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), fc.nat(40), (ids, servers, scale) =>
      inScope((begin) => {
        const [at, places, counts] = [h.putI64(ids), h.alloc(ids.length * 8), h.alloc(servers * 16)];
        const lists = Array.from({ length: servers }, () => h.alloc(ids.length * 8));
        both(begin, 'shardCountI64', at, ids.length, servers, places, counts);
        assert.equal(
          h.i32(counts, servers).reduce((a, b) => a + b, 0),
          ids.length,
        );
        const records = h.putI32(lists.flatMap((list, s) => [s * 1000, s + 5, list, 0]));
        both(begin, 'shardPlaceI64', at, ids.length, places, records, scale, places);
      }),
    ),
    { numRuns: 60 },
  );
});

t.test('ids are reordered by shard, and keys uniqued by row', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(id, { maxLength: 20 }), { maxLength: 5 }),
      fc.integer({ min: 2, max: 7 }),
      fc.nat(1),
      (lists, shards, skip) =>
        inScope((begin) => {
          const total = lists.flat().length;
          const table = h.alloc(64 * 16);
          const inputs = h.putI32(
            lists.flatMap((list, m) => [h.putI64(list), list.length, m + 1, h.alloc(list.length * 4)]),
          );
          const count = lists.length;
          const [uids, shardOf, floatOf] = [h.alloc(total * 8), h.alloc(total * 4), h.alloc(total * 4)];
          const [ends, cells, cursors] = [h.alloc(count * 4 + 4), h.alloc(shards * count * 4), h.alloc(shards * 8)];
          const work = [uids, shardOf, floatOf, ends, cells, cursors, h.alloc(total * 8)] as const;
          both(begin, 'fusedReorderI64', inputs, count, shards, skip, table, 63, 7, ...work);
          const splits = h.putI32([0, ...lists.map((_, r) => lists.slice(0, r + 1).flat().length)]);
          const dims = h.putI32(lists.map((_, r) => r + 1));
          const keys = h.putI64(lists.flat());
          const [firsts, seconds] = [h.alloc(count * 4 + 4), h.alloc(total * 4 + 8)];
          const more = [uids, firsts, seconds, h.alloc(total * 4), h.alloc(total * 4)] as const;
          both(begin, 'uniqueKeyOffsetsI64', keys, splits, count, dims, table, 63, 20, ...more);
        }),
    ),
    { numRuns: 60 },
  );
});

t.test('a table without room is reported', async (t) => {
  h.scope(() => {
    const ids = Array.from({ length: 65 }, (_, i) => BigInt(i));
    const [keys, splits, dims, table] = [h.putI64(ids), h.putI32([0, 65]), h.putI32([1]), h.alloc(64 * 16)];
    const [uids, inverse] = [h.alloc(65 * 8), h.alloc(65 * 4)];
    const inputs = h.putI32([keys, 65, 1, inverse]);
    const some = Array.from({ length: 5 }, () => h.alloc(68 * 4));
    const [a, b, c, d, e] = some as [number, number, number, number, number];
    // What a failed call leaves in its outputs is not defined, so only the answers are compared.
    const output = h.alloc(65 * 8);
    const reorder = [inputs, 1, 2, 0, table, 63, 2, uids, a, b, c, d, e, output] as const;
    t.equal(h.wasm.fusedReorderI64(...reorder), -1);
    t.equal(twins.fusedReorderI64(h.views, ...reorder), -1);
    const unique = [keys, splits, 1, dims, table, 63, 3, uids, a, b, c, inverse] as const;
    t.equal(h.wasm.uniqueKeyOffsetsI64(...unique), -1);
    t.equal(twins.uniqueKeyOffsetsI64(h.views, ...unique), -1);
  });
});

const splitsOf = (lengths: readonly number[]) => [
  0,
  ...lengths.map((_, r) => lengths.slice(0, r + 1).reduce((a, b) => a + b, 0)),
];

t.test('rows are gathered, added back, reduced and spread', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.nat(60), { maxLength: 9 }), { maxLength: 3 }),
      fc.integer({ min: 1, max: 21 }),
      fc.constantFrom(0, 4, 8, 12),
      fc.integer(),
      (lists, dim, skew, seed) =>
        inScope((begin) => {
          const next = stream(seed);
          const fused = h.putF32(randomFloats(next, 60 + dim + lists.length, true), skew);
          const outs = lists.map((list, m) => [
            h.putI32(list),
            list.length,
            dim + m,
            h.putF32(randomFloats(next, list.length * (dim + m), true), skew),
          ]);
          const records = h.putI32(outs.flat());
          both(begin, 'fusedGatherGradF32', records, lists.length, fused, 0.3);
          both(begin, 'fusedGatherF32', records, lists.length, fused);
          const lengths = lists.map((list) => list.length);
          const count = lists.flat().length;
          const [stride, start] = [dim + 5, 3];
          const values = h.putF32(randomFloats(next, count * stride, true), skew);
          const splits = h.putI32(splitsOf(lengths));
          const out = h.alloc(lists.length * dim * 4, skew);
          both(begin, 'reduceSliceF32', values, stride, splits, lists.length, start, dim, out);
          both(begin, 'reduceSliceGradF32', out, splits, lists.length, start, dim, values, stride);
        }),
    ),
    { numRuns: 80 },
  );
});

t.test('layouts go forward and backward, for every pooling', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(5), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 21 }),
      fc.constantFrom(0, 1, 3),
      fc.boolean(),
      fc.constantFrom(0, 4, 12),
      fc.integer(),
      (lengths, dim, pooling, shared, skew, seed) =>
        inScope((begin) => {
          const next = stream(seed);
          const count = lengths.reduce((a, b) => a + b, 0);
          const width = dim + 2;
          const data = h.putF32(randomFloats(next, 10 * width, true), skew);
          const sources = h.putI32([data, 5 * width, width, 0, data + 5 * width * 4, 5 * width, 1, 0]);
          const words = Array.from({ length: count }, () => {
            const flat = next() < 0.5;
            return flat ? (1n << 32n) | BigInt(Math.floor(next() * (4 * width))) : BigInt(Math.floor(next() * 5));
          });
          const [offsets, rows] = [h.putI64(words), h.alloc(count * 4)];
          assert.equal(both(begin, 'layoutResolve', offsets, 0, count, sources, 2, width, rows), -1);
          const samples = h.putI32(splitsOf(lengths));
          const batch = lengths.length;
          const [rowStride, positionStride] = [4 * dim + 3, dim];
          const out = h.putF32(randomFloats(next, batch * rowStride), skew);
          const flag = Number(shared);
          const place = [rows, samples, batch, flag, 2, dim, pooling, 4, out, rowStride, positionStride] as const;
          both(begin, 'layoutForwardF32', ...place);
          both(begin, 'layoutBackwardF32', ...place, 0.7);
        }),
    ),
    { numRuns: 80 },
  );
});

t.test('a row outside its source is reported by its id', async (t) => {
  inScope((begin) => {
    const sources = h.putI32([h.alloc(40), 10, 5, 0]);
    const at = (...words: bigint[]) =>
      both(begin, 'layoutResolve', h.putI64(words), 0, words.length, sources, 1, 5, h.alloc(64));
    t.equal(at(0n, 1n), -1);
    t.equal(at(0n, 2n), 1);
    t.equal(at(1n << 32n), 0);
    t.equal(at(0xffffffffn), 0, 'a place beyond 32 bits of floats');
  });
});
