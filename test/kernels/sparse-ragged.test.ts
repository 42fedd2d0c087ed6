import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import * as reference from '../../src/runtime/backends/reference/sparse.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';

const h = await KernelHarness.create(32 << 20);

const splitsOf = fc
  .tuple(fc.nat(20), fc.array(fc.oneof(fc.nat(3), fc.nat(40)), { maxLength: 30 }))
  .map(([first, lengths]) => {
    const splits = [first];
    for (const n of lengths) splits.push(splits.at(-1)! + n);
    return splits;
  });

t.test('row ids follow the splits, also of a slice that starts above zero', async () => {
  fc.assert(
    fc.property(splitsOf, (splits) =>
      h.scope(() => {
        const rows = splits.length - 1;
        const count = splits.at(-1)! - splits[0]!;
        const expected = splits.slice(1).flatMap((end, r) => new Array<number>(end - splits[r]!).fill(r));
        const at = h.putI32(splits);
        const wide = h.putI64(splits.map(BigInt));
        const out = h.alloc(count * 8);
        for (const run of [h.wasm.rowIdsFromSplits, reference.rowIdsFromSplits.bind(undefined, h.views)]) {
          h.views.u8.fill(0xee, out, out + count * 8);
          run(at, rows, out);
          assert.deepEqual([...h.i32(out, count)], expected);
        }
        for (const run of [h.wasm.rowIdsFromSplitsI64, reference.rowIdsFromSplitsI64.bind(undefined, h.views)]) {
          h.views.u8.fill(0xee, out, out + count * 8);
          run(wide, rows, out);
          assert.deepEqual([...h.i64(out, count)].map(Number), expected);
        }
      }),
    ),
    { numRuns: 60 },
  );
});

/**
 * Lays pieces out `gap` bytes apart and copies them packed, in reverse order: what arrived, what should have, what lies
 * behind.
 */
function copyReversed(lengths: readonly number[], gap: number, run: (at: number, count: number) => number) {
  return h.scope(() => {
    const total = lengths.reduce((sum, n) => sum + n, 0);
    const span = total + lengths.length * gap;
    const src = h.alloc(span + 64);
    for (let i = 0; i < span; i++) h.views.u8[src + i] = (i * 131) >>> 3;
    const dst = h.alloc(total + 8, 3);
    let from = src + 1;
    const pieces = lengths.map((bytes) => {
      const piece = { from, bytes };
      from += bytes + gap;
      return piece;
    });
    const expected = Buffer.concat(pieces.toReversed().map((p) => h.views.u8.slice(p.from, p.from + p.bytes)));
    let to = dst;
    const words = pieces.toReversed().flatMap((piece) => {
      to += piece.bytes;
      return [piece.from, to - piece.bytes, piece.bytes];
    });
    const result = run(h.putI32(words), pieces.length);
    const behind = [...h.views.u8.slice(to, to + 8)];
    return { result, same: expected.equals(h.views.u8.slice(dst, to)), behind };
  });
}
const ARRIVED = { result: 0, same: true, behind: [0, 0, 0, 0, 0, 0, 0, 0] };

t.test('pieces of any size and alignment arrive whole, and nothing is written behind the last', async () => {
  const sizes = fc.array(fc.oneof(fc.nat(20), fc.nat(300), fc.integer({ min: 1000, max: 1100 })), { maxLength: 150 });
  fc.assert(
    fc.property(sizes, fc.nat(9), (lengths, gap) => {
      assert.deepEqual(copyReversed(lengths, gap, h.wasm.copyPieces), ARRIVED);
      assert.deepEqual(copyReversed(lengths, gap, reference.copyPieces.bind(undefined, h.views)), ARRIVED);
    }),
    { numRuns: 30 },
  );
});

t.test('pieces scattered over more than the cache arrive whole', async (t) => {
  const lengths = Array.from({ length: 200 }, (_, i) => (i * 37) % 400);
  t.same(copyReversed(lengths, 20_000, h.wasm.copyPieces), ARRIVED);
});

t.test('rows of matrices are packed and unpacked, whatever lies between them', async () => {
  const matrix = fc.record({
    rows: fc.nat(12),
    floats: fc.nat(20),
    from: fc.nat(5),
    to: fc.nat(5),
    wide: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(matrix, { maxLength: 6 }), (matrices) =>
      h.scope(() => {
        const begin = h.arena.mark();
        const wanted: (() => void)[] = [];
        const words = matrices.flatMap(({ rows, floats, from: fromGap, to: toGap, wide }) => {
          // Rows of a kilobyte and more are copied another way.
          const bytes = (floats + (wide ? 256 : 0)) * 4;
          const [fromBytes, toBytes] = [bytes + fromGap * 4, bytes + toGap * 4];
          const from = h.putF32(Array.from({ length: (rows * fromBytes) / 4 }, (_, i) => i + 0.5));
          const to = h.alloc(rows * toBytes);
          wanted.push(() => {
            for (let r = 0; r < rows; r++) {
              const [there, here] = [h.f32(to + r * toBytes, bytes / 4), h.f32(from + r * fromBytes, bytes / 4)];
              assert.deepEqual(there, here);
            }
          });
          return [from, to, rows, bytes, fromBytes, toBytes];
        });
        const args = [h.putI32(words), matrices.length];
        runPair(h, begin, h.wasm.copyMatrices as never, reference.copyMatrices as never, args);
        for (const check of wanted) check();
      }),
    ),
    { numRuns: 40 },
  );
});
