import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { mix64BigInt } from '../../src/memory/hash.js';
import * as reference from '../../src/runtime/backends/reference/sparse.js';
import { idsOfOneBucket, longestRun } from '../sparse/colliding-keys.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create(64 << 20);
type Unique = (...args: [number, number, number, number, number, number, number, number]) => number;
const wasm: Unique = h.wasm.uniqueI64;
const plain: Unique = (...args) => reference.uniqueI64(h.views, ...args);

const id = fc.oneof(
  fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }),
  fc.bigInt({ min: -3n, max: 20n }),
  fc.constantFrom(0n, -1n, 1n << 62n, -(1n << 63n), (1n << 63n) - 1n),
);

/** Runs several features through one generation and checks uids and inverses against a Map. */
function uniqueTogether(
  kernel: Unique,
  features: readonly bigint[][],
  cells: number,
  table: number,
  generation: number,
) {
  return h.scope(() => {
    const total = features.reduce((sum, ids) => sum + ids.length, 0);
    const uids = h.alloc(total * 8);
    const expected = new Map<bigint, number>();
    let count = 0;
    const inverses = features.map((ids) => {
      const at = h.putI64(ids);
      const inverse = h.alloc(ids.length * 4);
      count = kernel(at, ids.length, table, cells - 1, generation, count, uids, inverse);
      return h.i32(inverse, ids.length);
    });
    const want = features.map((ids) =>
      ids.map((id) => {
        if (!expected.has(id)) expected.set(id, expected.size);
        return expected.get(id);
      }),
    );
    return {
      got: { count, uids: [...h.i64(uids, count)], inverses: inverses.map((x) => [...x]) },
      want: { count: expected.size, uids: [...expected.keys()], inverses: want },
    };
  });
}

for (const [name, kernel] of [
  ['wasm', wasm],
  ['reference', plain],
] as const) {
  t.test(`${name}: ids of several features are uniqued into one index space, in first-seen order`, async () => {
    h.scope(() => {
      const table = h.alloc(512 * 16);
      let generation = 1;
      fc.assert(
        fc.property(fc.array(fc.array(id, { maxLength: 40 }), { maxLength: 5 }), (features) => {
          const { got, want } = uniqueTogether(kernel, features, 512, table, generation++);
          assert.deepEqual(got, want);
        }),
        { numRuns: 100 },
      );
    });
  });

  t.test(`${name}: a table filled to the last cell still answers, and the next id is refused`, async (t) => {
    h.scope(() => {
      const table = h.alloc(64 * 16);
      const ids = Array.from({ length: 64 }, (_, i) => BigInt(i) * 7919n);
      const { got, want } = uniqueTogether(kernel, [ids, ids], 64, table, 0xffffffff);
      t.same(got, want);
      const uids = h.alloc(65 * 8);
      const one = h.putI64([-5n]);
      t.equal(kernel(one, 1, table, 63, 0xffffffff, 64, uids, h.alloc(4)), -1);
      t.equal(kernel(one, 1, table, 63, 1, 0, uids, h.alloc(4)), 1, 'another generation starts empty');
    });
  });

  t.test(`${name}: ids that share a home cell are told apart`, async (t) => {
    const collided: bigint[] = [];
    for (let i = 0n; collided.length < 12; i++) if ((mix64BigInt(i) & 63n) === 62n) collided.push(i);
    h.scope(() => {
      const { got, want } = uniqueTogether(kernel, [[...collided, ...collided.toReversed()]], 64, h.alloc(64 * 16), 7);
      t.same(got, want);
    });
  });

  t.test(`${name}: ids that were made to share a cell lie apart`, async (t) => {
    h.scope(() => {
      const [cells, generation] = [8192, 7];
      const table = h.alloc(cells * 16);
      const { got, want } = uniqueTogether(kernel, [idsOfOneBucket(4000)], cells, table, generation);
      t.same(got, want);
      const run = longestRun(cells, (cell) => h.views.u32[table / 4 + cell * 4 + 2] === generation);
      t.ok(run < 500, `${run} cells in a row`);
    });
  });

  t.test(`${name}: no ids leave everything as it was`, async (t) => {
    h.scope(() => t.equal(kernel(h.alloc(8), 0, h.alloc(64 * 16), 63, 1, 5, h.alloc(8), h.alloc(8)), 5));
  });
}

t.test('the chunked walk over a large table gives what the plain one gives', async (t) => {
  for (const n of [65, 256, 257, 3001]) {
    h.scope(() => {
      const ids = Array.from({ length: n }, (_, i) => (mix64BigInt(BigInt(i)) % BigInt(n)) - 50n);
      const table = h.alloc(65536 * 16);
      const { got, want } = uniqueTogether(wasm, [ids, ids.slice(0, 100)], 65536, table, 3);
      t.same(got, want);
    });
  }
});

t.test('the table both versions leave behind is the same', async (t) => {
  const ids = Array.from({ length: 200 }, (_, i) => mix64BigInt(BigInt(i % 90)));
  const tables = [wasm, plain].map((kernel) =>
    h.scope(() => {
      const table = h.alloc(256 * 16);
      uniqueTogether(kernel, [ids], 256, table, 9);
      return [...h.i32(table, 256 * 4)];
    }),
  );
  t.same(tables[0], tables[1]);
});

t.test('the rule for table sizes keeps a table at most half full', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1 << 24 }), (maxIds) => {
      const cells = h.wasm.uniqueTableCells(maxIds);
      return (
        cells === reference.uniqueTableCells(h.views, maxIds) && cells >= 2 * maxIds && (cells & (cells - 1)) === 0
      );
    }),
  );
});

t.test('partitions and gathered ids agree with the reference', async () => {
  fc.assert(
    fc.property(fc.array(id, { maxLength: 150 }), fc.integer({ min: 0, max: 6 }), (ids, bits) =>
      h.scope(() => {
        const n = ids.length;
        const partitions = 1 << bits;
        const at = h.putI64(ids);
        const run = (call: (order: number, offsets: number, gathered: number) => void) => {
          const blocks = [h.alloc(n * 4), h.alloc(partitions * 4 + 4), h.alloc(n * 8)] as const;
          call(...blocks);
          const [order, offsets, gathered] = blocks;
          return [h.i32(order, n), h.i32(offsets, partitions + 1), h.i64(gathered, n)] as const;
        };
        const fromWasm = run((order, offsets, gathered) => {
          h.wasm.partitionByHash(at, n, partitions, order, offsets);
          h.wasm.gatherI64(at, order, n, gathered);
        });
        const fromReference = run((order, offsets, gathered) => {
          reference.partitionByHash(h.views, at, n, partitions, order, offsets);
          reference.gatherI64(h.views, at, order, n, gathered);
        });
        assert.deepEqual(fromWasm, fromReference);
        const [, offsets, gathered] = fromWasm;
        const partition = (one: bigint) => Number(mix64BigInt(one) >> BigInt(64 - bits));
        gathered.forEach((one, i) => {
          const p = partition(one);
          assert.ok(offsets[p]! <= i && i < offsets[p + 1]!, `id ${one} is in partition ${p}`);
        });
      }),
    ),
    { numRuns: 60 },
  );
});
