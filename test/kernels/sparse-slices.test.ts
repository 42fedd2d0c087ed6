import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import * as reference from '../../src/runtime/backends/reference/sparse.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create(16 << 20);

const float = fc.float({ noDefaultInfinity: true, noNaN: true, min: -1e6, max: 1e6 });
const piece = fc.record({
  ids: fc.constantFrom(1, 1, 1, 2, 3),
  floats: fc.oneof(fc.constantFrom(1, 4, 16, 17), fc.integer({ min: 1, max: 40 })),
  offset: fc.integer({ min: 0, max: 5 }),
  slack: fc.integer({ min: 0, max: 3 }),
  adds: fc.boolean(),
});
const batches = fc.record({
  // Around the block of 32 rows and beyond it.
  rows: fc.oneof(fc.constantFrom(0, 1, 31, 32, 33, 70), fc.integer({ min: 0, max: 40 })),
  unique: fc.integer({ min: 1, max: 9 }),
  pieces: fc.array(piece, { minLength: 1, maxLength: 5 }),
  skew: fc.constantFrom(0, 4, 8, 12),
  floats: fc.array(float, { minLength: 1, maxLength: 40 }),
  picks: fc.array(fc.nat(), { minLength: 1, maxLength: 97 }),
});
type Batch = typeof batches extends fc.Arbitrary<infer T> ? T : never;

function layOut({ rows, unique, pieces, skew, floats, picks }: Batch) {
  const fill = (n: number, salt: number) =>
    Array.from({ length: n }, (_, i) => Math.fround(floats[(i + salt) % floats.length]! * (1 + i / 7)));
  const idsPerRow = pieces.reduce((sum, { ids }) => sum + ids, 0);
  const width = Math.max(...pieces.map(({ floats: count, offset }) => count + offset));
  const weights = h.putF32(fill(unique * width, 1), skew);
  const rowPtrs = h.putI32(Array.from({ length: unique }, (_, u) => weights + u * width * 4));
  const inverse = h.putI32(Array.from({ length: rows * idsPerRow }, (_, i) => picks[i % picks.length]! % unique));
  let first = 0;
  const matrices = pieces.map(({ floats: count, slack }, i) => {
    const values = fill(rows * (count + slack), i + 2);
    return { at: h.putF32(values, skew), values };
  });
  const words = pieces.flatMap(({ ids, floats: count, offset, slack, adds }, i) => {
    first += ids;
    return [first - ids, ids, offset * 4, count, matrices[i]!.at, (count + slack) * 4, adds ? 1 : 0, 0];
  });
  return { idsPerRow, width, rowPtrs, inverse, list: h.putI32(words), matrices };
}

t.test('gatherSlicesF32 gives the bits of the reference', async () => {
  fc.assert(
    fc.property(batches, (batch) =>
      h.scope(() => {
        const { idsPerRow, rowPtrs, inverse, list, matrices } = layOut(batch);
        const after = (run: () => void) => {
          for (const { at, values } of matrices) h.views.f32.set(values, at / 4);
          run();
          return matrices.map(({ at, values }) => [...h.i32(at, values.length)]);
        };
        const operands = [rowPtrs, inverse, idsPerRow, batch.rows, list, batch.pieces.length] as const;
        assert.deepEqual(
          after(() => h.wasm.gatherSlicesF32(...operands)),
          after(() => reference.gatherSlicesF32(h.views, ...operands)),
        );
      }),
    ),
  );
});

t.test('scatterSlicesF32 gives the bits of the reference', async () => {
  fc.assert(
    fc.property(batches, (batch) =>
      h.scope(() => {
        const { idsPerRow, width, inverse, list } = layOut(batch);
        const start = Array.from({ length: batch.unique * width }, (_, i) => i / 3);
        const after = (run: (sums: number) => void) => {
          const sums = h.putF32(start, batch.skew);
          run(sums);
          return [...h.i32(sums, start.length)];
        };
        const operands = [inverse, idsPerRow, batch.rows, list, batch.pieces.length] as const;
        assert.deepEqual(
          after((sums) => h.wasm.scatterSlicesF32(...operands, sums, width, 0)),
          after((sums) => reference.scatterSlicesF32(h.views, ...operands, sums, width, 0)),
        );
      }),
    ),
  );
});

t.test(
  'uniqueColumnsI64 and countColumnsU32 give what the reference gives, also with cells touched ahead',
  async () => {
    const matrix = fc.record({
      rows: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constantFrom(255, 256, 257, 600)),
      stride: fc.integer({ min: 1, max: 6 }),
      columns: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 6 }),
      vocab: fc.constantFrom(2n, 50n, 1n << 40n),
      cells: fc.constantFrom(8192, 65536),
      seed: fc.bigInt({ min: 1n, max: 1n << 60n }),
    });
    fc.assert(
      fc.property(matrix, ({ rows, stride, columns: wanted, vocab, cells, seed }) =>
        h.scope(() => {
          const columns = wanted.filter((column) => column < stride);
          const ids = h.putI64(
            Array.from({ length: rows * stride }, (_, i) =>
              BigInt.asIntN(64, ((seed * BigInt(i + 1) * 0x9e3779b97f4a7c15n) >> 7n) % vocab),
            ),
          );
          const list = h.putI32(columns);
          const all = rows * columns.length;
          const after = (
            unique: typeof h.wasm.uniqueColumnsI64,
            count: typeof h.wasm.countColumnsU32,
          ): [number, bigint[], number[], number[]] => {
            const [table, uids, inverse] = [h.alloc(cells * 16), h.alloc(all * 8 + 8), h.alloc(all * 4)];
            const found = unique(ids, stride, rows, list, columns.length, table, cells - 1, 7, 0, uids, inverse);
            const counts = h.alloc(found * 4);
            count(inverse, rows, columns.length, counts);
            return [found, [...h.i64(uids, found)], [...h.i32(inverse, all)], [...h.i32(counts, found)]];
          };
          assert.deepEqual(
            after(h.wasm.uniqueColumnsI64, h.wasm.countColumnsU32),
            after(
              (...operands) => reference.uniqueColumnsI64(h.views, ...operands),
              (...operands) => reference.countColumnsU32(h.views, ...operands),
            ),
          );
        }),
      ),
      { numRuns: 40 },
    );
    h.scope(() => {
      const ids = h.putI64(Array.from({ length: 80 }, (_, i) => BigInt(i)));
      const [table, uids, inverse] = [h.alloc(64 * 16), h.alloc(800), h.alloc(400)];
      const operands = [ids, 1, 80, h.putI32([0]), 1, table, 63, 1, 0, uids, inverse] as const;
      assert.equal(h.wasm.uniqueColumnsI64(...operands), -1, 'more ids than cells');
    });
  },
);
