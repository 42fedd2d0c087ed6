import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { wordsInOrder } from '../../src/runtime/backends/reference/twin.js';
import { thisEngine } from '../../src/runtime/backends/wasm/engine.js';
import { compileFlags } from '../../src/runtime/backends/wasm/kernel-experiments.js';
import { KernelSelfTest } from '../../src/runtime/backends/wasm/kernel-self-test.js';
import { compileKernels } from '../../src/runtime/backends/wasm/load-kernels.js';
import { RELAXED_SIMD } from '../../src/runtime/backends/wasm/wasm-features.js';
import { KERNEL } from '../../src/runtime/kernels/kernels.js';
import { missing } from '../requirement.js';
import { blockSizes, type GemmSize, gemmSizes, layOut } from './gemm-cases.js';
import { KernelHarness } from './harness.js';

const hasRelaxed = thisEngine.withFlags(compileFlags(thisEngine, 'relaxed'), () => thisEngine.validate(RELAXED_SIMD));

const MEMORY_BYTES = 16 << 20;
/** Relative error of one rounding of f32. */
const ROUNDING = 2 ** -24;

/** Runs the kernel, holds every element of C to the sum in f64, and all other memory to what it was, and returns C. */
function multiply(h: KernelHarness, size: GemmSize): Float32Array {
  const { begin, args, checkScratch } = layOut(h, size);
  const { a, aRowStride, aColStride, b, bRowStride, bColStride, c, cStride, m, n, k, acc } = wordsInOrder(
    KERNEL.gemmF32,
    args,
  );
  const before = h.f32(begin, (h.arena.mark() - begin) >>> 2);
  h.wasm.gemmF32(...args);
  checkScratch();
  const after = h.f32(begin, before.length);
  const at = (address: number, index: number) => ((address - begin) >>> 2) + index;
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      const place = at(c, i * cStride + j);
      let sum = acc ? before[place]! : 0;
      let size = Math.abs(sum);
      for (let p = 0; p < k; p++) {
        const term = before[at(a, i * aRowStride + p * aColStride)]! * before[at(b, p * bRowStride + j * bColStride)]!;
        sum += term;
        size += Math.abs(term);
      }
      if (!(Math.abs(after[place]! - sum) <= 2 * (k + 1) * ROUNDING * size)) {
        throw new Error(`gemmF32(${args}): c[${i}, ${j}] is ${after[place]}, not ${sum}`);
      }
      before[place] = after[place]!;
    }
  }
  const stray = before.findIndex((value, i) => !Object.is(value, after[i]));
  if (stray >= 0) throw new Error(`gemmF32(${args}): wrote ${after[stray]} over ${before[stray]} beside C`);
  return h.f32(c, m * cStride);
}

const skip = hasRelaxed ? false : missing('relaxed-simd', 'this engine has none');

for (const variant of ['relaxed', 'wide'] as const) {
  t.test(`${variant} products are within rounding of the sum, and exact where sums are`, { skip }, async (t) => {
    const h = await KernelHarness.create(MEMORY_BYTES, await compileKernels(variant));
    fc.assert(
      fc.property(gemmSizes, (size) => h.scope(() => void multiply(h, size))),
      { numRuns: 300 },
    );
    for (const size of blockSizes()) h.scope(() => multiply(h, { ...size, integers: size.k < 1000 }));
    t.equal(new KernelSelfTest(await compileKernels(variant)).mismatch(), null, 'the self-test agrees');
  });
}

t.test('relaxed and wide products are the same bits', { skip }, async (t) => {
  const [relaxed, wide] = await Promise.all(
    (['relaxed', 'wide'] as const).map(async (variant) =>
      KernelHarness.create(MEMORY_BYTES, await compileKernels(variant)),
    ),
  );
  fc.assert(
    fc.property(gemmSizes, (size) => {
      const results = [relaxed!, wide!].map((h) => h.scope(() => multiply(h, size)));
      return results[0]!.every((value, i) => Object.is(value, results[1]![i]));
    }),
    { numRuns: 100 },
  );
  t.ok(new KernelSelfTest(await compileKernels('wide')).equals(new KernelSelfTest(await compileKernels('relaxed'))));
});

for (const variant of ['plain', 'relaxed', 'wide'] as const) {
  t.test(
    `${variant} rows are the same bits in whatever slice they are`,
    { skip: variant !== 'plain' && skip },
    async (t) => {
      const h = await KernelHarness.create(MEMORY_BYTES, await compileKernels(variant));
      for (const { m, n, k } of [
        { m: 61, n: 43, k: 90 },
        { m: 40, n: 1, k: 33 },
        { m: 33, n: 17, k: 600 },
      ]) {
        h.scope(() => {
          const size: GemmSize = {
            ...{ m, n, k, pads: [0, 0, 0], skews: [0, 0, 0, 0], layouts: ['rows', 'columns'] },
            ...{ acc: 1, integers: false, seed: 7 },
          };
          const { args } = layOut(h, size);
          const words = wordsInOrder(KERNEL.gemmF32, args);
          const { a, aRowStride, c, cStride } = words;
          const start = h.f32(c, m * n);
          h.wasm.gemmF32(...args);
          const whole = h.f32(c, m * n);
          for (const rows of [1, 3, 5, 16, 19]) {
            h.views.f32.set(start, c >>> 2);
            for (let row = 0; row < m; row += rows) {
              const place = { a: a + row * aRowStride * 4, c: c + row * cStride * 4 };
              const slice = { ...words, ...place, m: Math.min(rows, m - row) };
              h.wasm.gemmF32(...KERNEL.gemmF32.words.map(({ name }) => slice[name as keyof typeof slice]));
            }
            t.same(h.f32(c, m * n), whole, `${m}x${k}x${n} in slices of ${rows}`);
          }
        });
      }
    },
  );
}

t.test('the self-test sees a kernel that is wrong', async (t) => {
  // The plain module with one instruction of its code changed: f32x4.mul (0xfd 0xe6 0x01) becomes f32x4.min (0xfd 0xe8
  // 0x01).
  const bytes = readFileSync(new URL('../../kernels.wasm', import.meta.url));
  for (let i = 0; i + 2 < bytes.length; i++) {
    if (bytes[i] === 0xfd && bytes[i + 1] === 0xe6 && bytes[i + 2] === 0x01) bytes[i + 1] = 0xe8;
  }
  t.match(new KernelSelfTest(new WebAssembly.Module(bytes)).mismatch(), /wrong/);
  t.equal(new KernelSelfTest(await compileKernels()).mismatch(), null);
});
