import fc from 'fast-check';
import t from 'tap';
import { numberRepeatsU32 } from '../../src/runtime/backends/reference/sparse.js';
import { thisEngine } from '../../src/runtime/backends/wasm/engine.js';
import { compileFlags } from '../../src/runtime/backends/wasm/kernel-experiments.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { RELAXED_SIMD } from '../../src/runtime/backends/wasm/wasm-features.js';
import { missing } from '../requirement.js';
import { identical, randomFloats, runBoth, type Same, stream } from './both.js';
import { KernelHarness } from './harness.js';

const cases = fc.record({
  rows: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(97, 230)),
  n: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(32, 64, 100)),
  /** Columns before each field, its columns, and how many ids it draws from. */
  fields: fc.array(
    fc.record({
      gap: fc.constantFrom(0, 0, 1, 5),
      columns: fc.constantFrom(1, 4, 7, 8, 16, 18),
      ids: fc.constantFrom(1, 3, 20, 1000),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  rest: fc.constantFrom<number>(0, 1, 13),
  /** Columns of the input's gradient left out in front and behind, when the fields leave room for it. */
  skips: fc.boolean(),
  wants: fc.constantFrom('both', 'dx', 'dw'),
  pads: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }),
  acc: fc.integer({ min: 0, max: 1 }),
  integers: fc.boolean(),
  seed: fc.integer(),
});
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

/** Operands of both kernels in a harness. */
function layOut(h: KernelHarness, { rows, n, fields, rest, pads, seed, integers }: Case) {
  const next = stream(seed);
  const values = (count: number) =>
    integers ? Float32Array.from({ length: count }, () => Math.floor(next() * 9) - 4) : randomFloats(next, count);
  const width = Math.max(...fields.map(({ columns }) => columns));
  const k = fields.reduce<number>((sum, { gap, columns }) => sum + gap + columns, rest);
  const inverse = Array.from({ length: rows * fields.length }, (_, i) =>
    Math.floor(next() * fields[i % fields.length]!.ids),
  );
  const begin = h.arena.mark();
  const stride = rows + 1;
  const [numbers, order] = [h.alloc(stride * fields.length * 4), h.alloc(stride * fields.length * 4)];
  const [starts, counts] = [h.alloc((stride + 2) * fields.length * 4), h.alloc(fields.length * 4)];
  numberRepeatsU32(h.views, h.putI32(inverse), fields.length, rows, 0, numbers, order, starts, stride, counts);

  const xStride = k + pads[0]!;
  const x = values(rows * xStride);
  let column: number = 0;
  const words = fields.flatMap(({ gap, columns, ids }, j) => {
    const first = column + gap;
    column = first + columns;
    const vectors = values(Math.min(ids, 1000) * columns);
    for (let r = 0; r < rows; r++) {
      const id = inverse[r * fields.length + j]!;
      for (let c = 0; c < columns; c++) x[r * xStride + first + c] = vectors[id * columns + c]!;
    }
    const [at, startsAt] = [j * stride * 4, j * (stride + 2) * 4];
    return [first, columns, numbers + at, order + at, starts + startsAt, counts + j * 4, 0, 0];
  });
  const [nStride, dxStride] = [n + pads[1]!, k + pads[2]!];
  return {
    ...{ begin, k, width, xStride, nStride, dxStride },
    ...{ x: h.putF32(x), w: h.putF32(values(k * n)), fields: h.putI32(words), first: fields[0]!.gap, end: column },
    out: h.putF32(values(rows * nStride)),
    grad: h.putF32(values(rows * nStride)),
    dx: h.putF32(values(rows * dxStride)),
    dw: h.putF32(values(k * n)),
  };
}

/** Scratch behind what the arena counts as taken, and a check that nothing was written behind it. */
function scratchOf(h: KernelHarness, bytes: number) {
  const mark = h.arena.mark();
  const scratch = h.alloc(bytes);
  h.arena.release(mark);
  const check = () => {
    const guard = h.views.u8.subarray(scratch + bytes, scratch + bytes + 64);
    if (guard.some((byte) => byte !== 0)) throw new Error(`a kernel wrote past its ${bytes} bytes of scratch`);
  };
  return { scratch, check };
}

function forward(h: KernelHarness, size: Case, same: Same): void {
  const { rows, n, fields, acc } = size;
  const o = layOut(h, size);
  const bytes = h.wasm.gemmRepeatsScratchBytes(rows, n, o.k, fields.length, o.width) >>> 0;
  const { scratch, check } = scratchOf(h, bytes);
  const sizes = [rows, n, o.k, o.fields, fields.length, o.width] as const;
  runBoth(h, o.begin, 'gemmRepeatsF32', [o.x, o.xStride, o.w, o.out, o.nStride, ...sizes, acc, scratch], same);
  check();
}

function backward(h: KernelHarness, size: Case, same: Same): void {
  const { rows, n, fields, acc, wants, skips } = size;
  const o = layOut(h, size);
  const bytes = h.wasm.gemmRepeatsGradScratchBytes(rows, n, o.k, fields.length, o.width) >>> 0;
  const { scratch, check } = scratchOf(h, bytes);
  const [from, count] = skips ? [o.first, o.end - o.first] : [0, o.k];
  const sides = [wants === 'dw' ? 0 : o.dx, o.dxStride, from, count, acc, wants === 'dx' ? 0 : o.dw] as const;
  const sizes = [rows, n, o.k, o.fields, fields.length, o.width, scratch] as const;
  runBoth(h, o.begin, 'gemmRepeatsGradF32', [o.x, o.xStride, o.w, o.grad, o.nStride, ...sides, ...sizes], same);
  check();
}

const hasRelaxed = thisEngine.withFlags(compileFlags(thisEngine, 'relaxed'), () => thisEngine.validate(RELAXED_SIMD));

for (const variant of ['plain', 'relaxed', 'wide'] as const) {
  const skip = variant === 'plain' || hasRelaxed ? false : missing('relaxed-simd', 'this engine has none');
  t.test(`${variant} products of rows that repeat are those of the reference`, { skip }, async () => {
    const h = await KernelHarness.create(64 << 20, await compileKernels(variant));
    // Floats are up to 32: sums of products of a few hundred are exact to about 2^-7 of them at the worst.
    const near: Same = (wasm, plain) => Object.is(wasm, plain) || Math.abs(wasm - plain) <= 2 ** -7;
    const same = (size: Case) => (variant === 'plain' || size.integers ? identical : near);
    for (const run of [forward, backward]) {
      fc.assert(
        fc.property(cases, (size) => h.scope(() => run(h, size, same(size)))),
        { numRuns: variant === 'plain' ? 120 : 50 },
      );
    }
  });
}

t.test('many columns beside few that repeat fit the scratch', async () => {
  const h = await KernelHarness.create(64 << 20);
  // Of k = 520 blocks are 260 long, of the 512 columns outside of the field they are not.
  const fields: Case['fields'] = [{ gap: 0, columns: 8, ids: 1 }];
  const size: Case = {
    ...{
      rows: 9,
      n: 512,
      fields,
      rest: 512,
      skips: false,
      wants: 'both',
      pads: [0, 0, 0],
      acc: 0,
      integers: true,
      seed: 3,
    },
  };
  for (const run of [forward, backward]) h.scope(() => run(h, size, identical));
});

t.test('where every row is the same, the product of one row is all there is', async (t) => {
  const h = await KernelHarness.create();
  h.scope(() => {
    const [x, w] = [h.putF32([2, 3, 2, 3, 2, 3, 2, 3]), h.putF32([1, 10, 100, 1000])];
    const numbers = h.putI32([0, 0, 0, 0]);
    const order = h.putI32([0, 1, 2, 3]);
    const fields = h.putI32([0, 2, numbers, order, h.putI32([0, 4]), h.putI32([1]), 0, 0]);
    const [out, grad] = [h.alloc(32), h.putF32([1, 0, 1, 0, 1, 0, 0, 1])];
    const scratch = h.alloc(1 << 20);
    h.wasm.gemmRepeatsF32(x, 2, w, out, 2, 4, 2, 2, fields, 1, 2, 0, scratch);
    t.same([...h.f32(out, 8)], [302, 3020, 302, 3020, 302, 3020, 302, 3020]);
    const [dx, dw] = [h.alloc(32), h.alloc(16)];
    h.wasm.gemmRepeatsGradF32(x, 2, w, grad, 2, dx, 2, 0, 2, 0, dw, 4, 2, 2, fields, 1, 2, scratch);
    t.same([...h.f32(dx, 8)], [13, 1300, 0, 0, 0, 0, 0, 0], 'the first row has the sum');
    t.same([...h.f32(dw, 4)], [6, 2, 9, 3]);
  });
});
