/** @file Gradients sorted by id on the host: every entry once, by id, in the order of the CPU. */
import fc from 'fast-check';
import t from 'tap';
import { GradientSort, type GradientSource, WORDS_PER_ENTRY } from '../../src/runtime/backends/cuda/gradient-sort.js';

/** The sorted list as ids and their entries. */
function segmentsOf(words: Uint32Array, segments: number): [number, number[]][] {
  return Array.from({ length: segments }, (_, s): [number, number[]] => {
    const begin = s === 0 ? 0 : words[2 * s - 1]!;
    return [words[2 * s]!, [...words.subarray(2 * segments + begin, 2 * segments + words[2 * s + 1]!)]];
  });
}

/** Groups pairs of an id and an entry by id, in the order ids first come. */
function grouped(pairs: readonly (readonly [number, number])[]): [number, number[]][] {
  const members = new Map<number, number[]>();
  for (const [id, entry] of pairs) members.set(id, [...(members.get(id) ?? []), entry]);
  return [...members];
}

/** A memory of words: three registers, then the arrays they point to. */
function memoryOf(inverse: readonly number[], splits: readonly number[], rows: number): Uint32Array {
  const [at, then] = [3, 3 + inverse.length];
  return Uint32Array.from([at * 4, then * 4, rows, ...inverse, ...splits]);
}

const UNIQUE = 12;
const REGISTERS = { inverse: 0, splits: 1, rows: 2 };

t.test('ragged ids, all of them or the first of each example', async (t) => {
  const batches = fc.record({
    lengths: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 20 }),
    first: fc.constantFrom(0, 7),
    firstN: fc.integer({ min: 0, max: 3 }),
    ids: fc.array(fc.integer({ min: 0, max: UNIQUE - 1 }), { minLength: 100, maxLength: 100 }),
  });
  fc.assert(
    fc.property(batches, fc.integer({ min: 1, max: 2 }), ({ lengths, first, firstN, ids }, steps) => {
      const splits: number[] = [first];
      for (const length of lengths) splits.push(splits.at(-1)! + length);
      const values = splits.at(-1)! - first;
      const memory = memoryOf(ids.slice(0, values), splits, lengths.length);
      const words = new Uint32Array((values + 1) * WORDS_PER_ENTRY);
      const sort = new GradientSort({ kind: 'ragged', ...REGISTERS, firstN }, UNIQUE, words);
      // What a step leaves behind must not change the next.
      for (let step = 0; step < steps; step++) sort.sort(memory);
      const pairs = lengths.flatMap((length, r) =>
        Array.from({ length: firstN === 0 ? length : Math.min(length, firstN) }, (_, k) => {
          return [ids[splits[r]! - first + k]!, firstN === 0 ? r : r * firstN + k] as const;
        }),
      );
      t.same(segmentsOf(words, sort.segments), grouped(pairs));
    }),
    { numRuns: 60 },
  );
});

t.test('slices: blocks of 32 rows, pieces, rows, ids', async (t) => {
  const batches = fc.record({
    rows: fc.constantFrom(0, 1, 31, 32, 33, 70),
    ids: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
    seed: fc.integer({ min: 1, max: 1000 }),
  });
  fc.assert(
    fc.property(batches, ({ rows, ids, seed }) => {
      const idsPerRow = ids.reduce((sum, count) => sum + count, 0);
      const inverse = Array.from({ length: rows * idsPerRow }, (_, i) => (i * seed) % UNIQUE);
      // Two pieces show the same ids.
      const starts = ids.map((_, p) => ids.slice(0, p).reduce((sum, count) => sum + count, 0));
      const pieces = [...ids, ids[0]!].map((count, p) => ({ first: starts[p % ids.length]!, ids: count }));
      const source: GradientSource = { kind: 'slices', ...REGISTERS, idsPerRow, pieces };
      const words = new Uint32Array((rows * (idsPerRow + ids[0]!) + 1) * WORDS_PER_ENTRY);
      const sort = new GradientSort(source, UNIQUE, words);
      sort.sort(memoryOf(inverse, [], rows));
      const pairs: [number, number][] = [];
      for (let block = 0; block < rows; block += 32) {
        pieces.forEach(({ first, ids: count }, p) => {
          for (let r = block; r < Math.min(block + 32, rows); r++) {
            for (let i = 0; i < count; i++) pairs.push([inverse[r * idsPerRow + first + i]!, r * pieces.length + p]);
          }
        });
      }
      t.same(segmentsOf(words, sort.segments), grouped(pairs));
    }),
    { numRuns: 40 },
  );
});
