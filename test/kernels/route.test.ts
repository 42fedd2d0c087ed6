/** @file Routes: ids of slices merged by owner and gradients summed, against their twins and against a plain model. */
import assert from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { mix64BigInt } from '../../src/memory/hash.js';
import { wordsOf } from '../../src/memory/record-layout.js';
import {
  ROUTE,
  ROUTE_CELLS,
  ROUTE_FIRST,
  ROUTE_SLICE,
  ROUTE_SLICE_WORDS,
  ROUTE_WORDS,
} from '../../src/memory/route-layout.js';
import { PARTITIONS } from '../../src/memory/table-layout.js';
import * as counting from '../../src/runtime/backends/reference/counts.js';
import * as twins from '../../src/runtime/backends/reference/table.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';

const h = await KernelHarness.create();
const DIM = 3;
const STRIDE = 4;

/** A slice: unique ids that are stepped, unique others that are read, and how often the former came. */
interface SliceIds {
  readonly stepped: readonly bigint[];
  readonly read: readonly bigint[];
}

const floorMod = (id: bigint, n: bigint) => ((id % n) + n) % n;

/** Lays a route out: its address, and those of the sums and of each slice's places and counts. */
function putRoute(slices: readonly SliceIds[], owners: number) {
  const all = slices.reduce((sum, { stepped, read }) => sum + stepped.length + read.length, 0);
  const parts = slices.map(({ stepped, read }, s) => {
    const ids = [...stepped, ...read];
    const at = h.putI64(ids);
    const [order, offsets] = [h.alloc(ids.length * 4), h.alloc((PARTITIONS + 1) * 4)];
    h.wasm.partitionByHash(at, ids.length, PARTITIONS, order, offsets);
    const sums = h.alloc(ids.length * STRIDE * 4);
    for (let i = 0; i < stepped.length * STRIDE; i++) h.views.f32[sums / 4 + i] = (s + 1) * 0.1 + i;
    const counts = h.putI32(stepped.map((_, i) => 1 + ((i + s) % 5)));
    return {
      ids: at,
      order,
      offsets,
      trained: h.putI32([stepped.length]),
      place: h.alloc(ids.length * 4),
      counts,
      sums,
    };
  });
  const records = h.putI32(parts.flatMap(({ sums: _, ...record }) => wordsOf(ROUTE_SLICE, ROUTE_SLICE_WORDS, record)));
  const route = {
    owners,
    slices: slices.length,
    records,
    ids: h.alloc(all * 8),
    ends: h.alloc((2 * owners + 1) * 4),
    order: h.alloc(all * 4),
    offsets: h.alloc((PARTITIONS + 1) * 4),
    counts: h.alloc(all * 4),
    gradients: h.alloc(all * STRIDE * 4),
    stride: STRIDE,
    dim: DIM,
    groups: h.alloc(PARTITIONS * 2 * owners * 4),
    found: h.alloc(all * 8),
    places: h.alloc(all * 4),
    cells: h.alloc(all * ROUTE_CELLS * 4),
    partitions: PARTITIONS,
  };
  const at = h.putI32(wordsOf(ROUTE, ROUTE_WORDS, route));
  return { at, route, parts, sums: h.putI32(parts.map(({ sums }) => sums)), cursors: h.alloc(2 * owners * 4) };
}

const partitionOf = (id: bigint) => Number(mix64BigInt(id) >> 58n);

/** The order that the page of the layout promises. */
function wantedOrder(slices: readonly SliceIds[], owners: number) {
  const stepped = new Set(slices.flatMap((slice) => slice.stepped));
  const read = new Set(slices.flatMap((slice) => slice.read).filter((id) => !stepped.has(id)));
  const sorted = (ids: Iterable<bigint>) => [...ids].sort((a, b) => partitionOf(a) - partitionOf(b));
  const groups = [stepped, read].map((ids) => sorted(ids));
  return Array.from({ length: owners }, (_, owner) =>
    groups.map((ids) => ids.filter((id) => floorMod(id, BigInt(owners)) === BigInt(owner))),
  );
}

/** Runs all kernels of a route as `shares` threads would, each beside its twin. */
function runRoute({ at, route, parts, sums, cursors }: ReturnType<typeof putRoute>, begin: number, shares: number) {
  const cut = (share: number) => Math.floor((PARTITIONS * share) / shares);
  const pair = (kernel: never, twin: never, args: number[]) => runPair(h, begin, kernel, twin, args);
  const each = (body: (first: number, end: number) => void) => {
    for (let share = 0; share < shares; share++) body(cut(share), cut(share + 1));
  };
  each((first, end) => pair(h.wasm.routeGroups as never, twins.routeGroups as never, [at, first, end]));
  each((first, end) => pair(h.wasm.routeIds as never, twins.routeIds as never, [at, first, end, cursors]));
  each((first, end) => pair(h.wasm.mergeRoute as never, twins.mergeRoute as never, [at, first, end, sums]));
  for (const { place, trained, counts } of parts) {
    const n = h.views.u32[trained / 4]!;
    const out = h.alloc(n * 4);
    pair(h.wasm.rowsOfRoute as never, twins.rowsOfRoute as never, [place, n, 4096, STRIDE, out]);
    h.i32(out, n).forEach((row, i) => {
      assert.equal(row, 4096 + (h.views.u32[place / 4 + i]! & ~ROUTE_FIRST) * STRIDE * 4);
    });
    pair(h.wasm.countsOfRoute as never, twins.countsOfRoute as never, [place, n, route.counts, counts]);
  }
}

const id = fc.oneof(fc.bigInt({ min: -40n, max: 40n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
const slice = fc
  .tuple(fc.uniqueArray(id, { maxLength: 40 }), fc.nat(40))
  .map(([ids, n]): SliceIds => ({ stepped: ids.slice(0, n), read: ids.slice(n) }));

t.test('each id of all slices comes once, at its owner, in the order that is promised', async () => {
  fc.assert(
    fc.property(
      fc.array(slice, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(1, 2, 3, 7),
      fc.constantFrom(1, 2, 3),
      (slices, owners, shares) =>
        h.scope(() => {
          const begin = h.arena.mark();
          const laid = putRoute(slices, owners);
          runRoute(laid, begin, shares);
          const { route, parts } = laid;
          const wanted = wantedOrder(slices, owners);
          const ids = wanted.flat(2);
          assert.deepEqual([...h.i64(route.ids, ids.length)], ids);
          let end = 0;
          const ends = [0, ...wanted.flat().map((group) => (end += group.length))];
          assert.deepEqual([...h.i32(route.ends, ends.length)], ends);
          const stepped = wanted.flatMap(([own]) => own!);
          const offsets = h.i32(route.offsets, PARTITIONS + 1);
          assert.equal(offsets[PARTITIONS], stepped.length);
          const order = h.i32(route.order, stepped.length);
          for (let p = 0; p < PARTITIONS; p++) {
            const firstSeen = [...new Set(slices.flatMap((each) => each.stepped))].filter(
              (one) => partitionOf(one) === p,
            );
            const inOrder = [...order.subarray(offsets[p], offsets[p + 1])].map((index) => ids[index]!);
            assert.deepEqual(new Set(inOrder), new Set(firstSeen));
          }
          ids.forEach((one, index) => {
            const sum = new Float32Array(DIM);
            let [count, met] = [0, 0];
            slices.forEach((each, s) => {
              const u = each.stepped.indexOf(one);
              if (u < 0) return;
              for (let c = 0; c < DIM; c++) {
                const value = h.views.f32[parts[s]!.sums / 4 + u * STRIDE + c]!;
                sum[c] = met === 0 ? value : sum[c]! + value;
              }
              met++;
              count += 1 + ((u + s) % 5);
            });
            assert.equal(h.views.u32[route.counts / 4 + index], count);
            if (met > 0) assert.deepEqual(h.f32(route.gradients + index * STRIDE * 4, DIM), sum);
          });
          slices.forEach((each, s) => {
            [...each.stepped, ...each.read].forEach((one, u) => {
              assert.equal(ids[h.views.u32[parts[s]!.place / 4 + u]! & ~ROUTE_FIRST], one);
            });
          });
        }),
    ),
    { numRuns: 60 },
  );
});

t.test('ids are as many as there is room for: all of a batch in one partition, each in every slice', async () => {
  h.scope(() => {
    const begin = h.arena.mark();
    const crowd: bigint[] = [];
    for (let one = 0n; crowd.length < 90; one++) if (partitionOf(one) === 5) crowd.push(one);
    const slices = Array.from({ length: 4 }, () => ({ stepped: crowd, read: [] }));
    const laid = putRoute(slices, 3);
    runRoute(laid, begin, 2);
    assert.equal(h.views.u32[laid.route.ends / 4 + 6], 90);
  });
});

t.test('shares of a list are all of it, once', async () => {
  fc.assert(
    fc.property(fc.nat(2 ** 31), fc.integer({ min: 1, max: 64 }), (n, shares) =>
      h.scope(() => {
        const begin = h.arena.mark();
        const count = h.putI32([n]);
        let at = 100;
        for (let share = 0; share < shares; share++) {
          const args = [100, count, share, shares, 1];
          assert.equal(
            (runPair(h, begin, h.wasm.shareAt as never, counting.shareAt as never, args) as number) >>> 0,
            at,
          );
          const own = runPair(h, begin, h.wasm.shareOf as never, counting.shareOf as never, args.slice(1, 4));
          at += (own as number) >>> 0;
        }
        assert.equal(at, 100 + n);
      }),
    ),
    { numRuns: 20 },
  );
});
