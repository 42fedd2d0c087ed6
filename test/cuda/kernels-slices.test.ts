/** @file CUDA kernels of slices of rows, in the simulator: the lookups of features with a fixed number of ids. */
import fc from 'fast-check';
import t from 'tap';
import { DEVICE_PIECE, DEVICE_PIECE_WORDS } from '../../src/memory/device-record-layout.js';
import { writeAddress } from '../../src/memory/device-table-layout.js';
import { PIECE } from '../../src/memory/record-layout.js';
import { GradientSort, WORDS_PER_ENTRY } from '../../src/runtime/backends/cuda/gradient-sort.js';
import * as sparse from '../../src/runtime/backends/reference/sparse.js';
import { randomFloats, stream } from '../kernels/both.js';
import type { KernelHarness } from '../kernels/harness.js';
import { type DeviceOperand, type Plain, SCHEDULES, withTwin } from './twin.js';

const references = sparse as unknown as Record<string, Plain>;

const batches = fc.record({
  rows: fc.constantFrom<number[]>(0, 1, 7, 31, 33, 70),
  unique: fc.integer({ min: 1, max: 9 }),
  pieces: fc.array(
    fc.record({
      ids: fc.constantFrom(1, 1, 2, 3),
      floats: fc.oneof(fc.constantFrom(1, 4, 16, 17), fc.integer({ min: 1, max: 40 })),
      offset: fc.integer({ min: 0, max: 5 }),
      slack: fc.integer({ min: 0, max: 3 }),
      adds: fc.boolean(),
      /** Goes to the matrix of the piece before, if its rows fit. */
      shares: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  /** Whether pieces begin and end at whole quads. */
  quads: fc.boolean(),
  skew: fc.constantFrom(0, 4, 8, 12),
  seed: fc.integer(),
});
type Batch = typeof batches extends fc.Arbitrary<infer T> ? T : never;

function layOut(h: KernelHarness, { rows, unique, pieces: drawn, quads, skew, seed }: Batch) {
  const next = stream(seed);
  const scale = quads ? 4 : 1;
  const pieces = drawn.map((piece) => {
    return { ...piece, floats: Math.ceil(piece.floats / scale) * scale, offset: piece.offset * scale };
  });
  const begin = h.arena.mark();
  const idsPerRow = pieces.reduce((sum, { ids }) => sum + ids, 0);
  const width = Math.max(...pieces.map(({ floats, offset }) => floats + offset));
  const weights = h.putF32(randomFloats(next, unique * width), skew);
  const addresses = Array.from({ length: unique }, (_, u) => weights + u * width * 4);
  const inverse = Array.from({ length: rows * idsPerRow }, () => Math.floor(next() * unique));
  const words: number[][] = [];
  let first = 0;
  for (const { ids, floats, offset, slack, adds, shares } of pieces) {
    const before = words.at(-1);
    const stays = before !== undefined && shares && before[5]! >= floats * 4;
    const [matrix, stride] = stays
      ? [before[4]!, before[5]!]
      : [h.putF32(randomFloats(next, rows * (floats + slack)), skew), (floats + slack) * 4];
    words.push([first, ids, offset * 4, floats, matrix, stride, adds ? 1 : 0, 0]);
    first += ids;
  }
  const places = h.putI32(inverse);
  return { begin, next, idsPerRow, width, weights, addresses, inverse, places, words, list: h.putI32(words.flat()) };
}

/** Pieces as the CUDA kernels have them, with addresses of 64 bits. */
function devicePieces(words: readonly (readonly number[])[], base: number): Uint32Array {
  const list = new Uint32Array(words.length * DEVICE_PIECE_WORDS);
  words.forEach((piece, i) => {
    const at = i * DEVICE_PIECE_WORDS;
    for (const name of Object.keys(PIECE) as (keyof typeof PIECE)[])
      list[at + DEVICE_PIECE[name]] = piece[PIECE[name]]!;
    writeAddress(list, at + DEVICE_PIECE.matrix, base + piece[PIECE.matrix]!);
  });
  return list;
}

function forBatches(
  h: KernelHarness,
  body: (batch: Batch, laid: ReturnType<typeof layOut>, pieces: DeviceOperand) => void,
): void {
  fc.assert(
    fc.property(batches, (batch) =>
      h.scope(() => {
        const laid = layOut(h, batch);
        body(batch, laid, (base: number) => devicePieces(laid.words, base));
      }),
    ),
    { numRuns: SCHEDULES },
  );
}

t.test('slices of rows go to their matrices as on the CPU, bit for bit', (t) =>
  withTwin((twin, h) => {
    forBatches(h, ({ rows }, { begin, idsPerRow, width, weights, addresses, places, words, list }, pieces) => {
      const rowPtrs = h.putI32(addresses);
      const middle = [places, idsPerRow, rows] as const;
      const args = [rowPtrs, ...middle, list, words.length];
      const plain = references.gatherSlicesF32!;
      const devicePtrs = BigUint64Array.from(addresses, BigInt);
      twin.run(h, begin, 'gatherSlicesF32', plain, args, undefined, [devicePtrs, ...middle, pieces, words.length]);
      const dense = [weights, width, ...middle, pieces, words.length];
      twin.run(h, begin, 'gatherSlicesRowsF32', plain, args, undefined, dense);
    });
  })(t),
);

/** What the host makes of the ids of a batch, for segmentSumSlicesF32. */
function sorted(
  h: KernelHarness,
  rows: number,
  { words, places, idsPerRow }: ReturnType<typeof layOut>,
  unique: number,
) {
  const registers = h.putI32([places, rows]) / 4;
  const pieces = words.map(([first, ids]) => ({ first: first!, ids: ids! }));
  const list = new Uint32Array(Math.max(1, rows * idsPerRow) * WORDS_PER_ENTRY);
  const source = { kind: 'slices', inverse: registers, idsPerRow, rows: registers + 1, pieces } as const;
  const sort = new GradientSort(source, unique, list);
  sort.sort(h.views.u32);
  return [list, sort.segments] as const;
}

/** Features with more ids than a chain is good for. */
const LARGE = [true, false].map(
  (quads): Batch => ({
    ...{ rows: 2100, unique: 3, quads, skew: 0, seed: 3 },
    pieces: ([1, 2] as const).map((ids) => ({ ids, floats: 4, offset: ids - 1, slack: 0, adds: true, shares: false })),
  }),
);

t.test('gradients of slices summed by segment equal those of the CPU bit for bit', (t) =>
  withTwin((twin, h) => {
    const check = ({ rows, unique, quads }: Batch, laid: ReturnType<typeof layOut>, pieces: DeviceOperand) => {
      const { begin, next, idsPerRow, width, places, words, list } = laid;
      const stride = width + (quads ? 0 : 1);
      const sums = h.putF32(randomFloats(next, unique * stride), 8);
      // The reference sums many ids in blocks if there is a scratch, and has no other use for it.
      const args = [places, idsPerRow, rows, list, words.length, sums, stride, 1];
      const segments = sorted(h, rows, laid, unique);
      const most = Math.max(...words.map(([, ids]) => ids!));
      const operands = [...segments, pieces, words.length, sums, stride, width, quads ? 1 : 0, rows, most];
      twin.run(h, begin, 'segmentSumSlicesF32', references.scatterSlicesF32!, args, undefined, operands);
    };
    forBatches(h, check);
    for (const batch of LARGE) {
      h.scope(() => {
        const laid = layOut(h, batch);
        check(batch, laid, (base: number) => devicePieces(laid.words, base));
      });
    }
  })(t),
);

t.test('gradients of slices added by atomics equal those of the CPU where no order matters', (t) =>
  withTwin((twin, h) => {
    forBatches(h, ({ rows, unique }, laid, pieces) => {
      const { begin, next, idsPerRow, width, places, words, list } = laid;
      // Whole numbers, whose sums are exact.
      const whole = (count: number) => Float32Array.from({ length: count }, () => Math.floor(next() * 64) - 32);
      for (const [, , , , matrix, stride] of words) h.views.f32.set(whole((rows * stride!) / 4), matrix! / 4);
      const sums = h.putF32(whole(unique * (width + 1)), 8);
      const args = [places, idsPerRow, rows, list, words.length, sums, width + 1, 0];
      const operands = [places, idsPerRow, rows, pieces, words.length, sums, width + 1, 0];
      twin.run(h, begin, 'scatterSlicesF32', references.scatterSlicesF32!, args, undefined, operands);
    });
  })(t),
);
