import fc from 'fast-check';
import t from 'tap';
import type { Views } from '../../src/memory/views.js';
import * as reference from '../../src/runtime/backends/reference/compress.js';
import { halfFromF32, halfToF32 } from '../../src/runtime/backends/reference/half.js';
import type { CompressKernels } from '../../src/runtime/backends/wasm/calls/compress.js';
import { BatchSoftmaxInitializer, planInitializer, StreamInitializer } from '../../src/sparse/config/initializers.js';
import { Fp16Compressor, Fp32Compressor, OneBitCompressor } from '../../src/sparse/config/optimizers.js';
import { hashNetScale, makeRetriever } from '../../src/sparse/config/retriever.js';
import { combineCompressors, makeCompressor } from '../support/float-compressor.js';
import { randomFloats, stream, within } from './both.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';

type Twins = {
  readonly [K in keyof CompressKernels]: (
    m: Views,
    ...args: Parameters<CompressKernels[K]>
  ) => ReturnType<CompressKernels[K]>;
};
const twins: Twins = reference;
const h = await KernelHarness.create(16 << 20);

const inputs = fc.record({
  n: fc.integer({ min: 0, max: 67 }),
  skews: fc.tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 0, max: 15 })),
  bits: fc.array(fc.integer(), { minLength: 67, maxLength: 67 }),
  r: fc.constantFrom(1, 5, 0.3),
  scale: fc.constantFrom(1, 2.4494898, 0.25),
  seed: fc.integer(),
});

t.test('halves and fixed steps equal the references bit for bit, for any bits and any alignment', async () => {
  fc.assert(
    fc.property(inputs, ({ n, skews, bits, r, seed }) =>
      h.scope(() => {
        const begin = h.arena.mark();
        const src = h.alloc(300, skews[0]);
        const dst = h.alloc(300, skews[1]);
        const view = new DataView(h.buffer);
        const next = stream(seed);
        for (let i = 0; i < n; i++) {
          // Half of them around the range of halves, where rounding, subnormals and overflow are.
          if (next() < 0.5) view.setInt32(src + 4 * i, bits[i]!, true);
          else view.setFloat32(src + 4 * i, (next() - 0.5) * 2 ** Math.floor(next() * 46 - 28), true);
        }
        runPair(h, begin, h.wasm.encodeHalfF32, twins.encodeHalfF32, [src, dst, n]);
        runPair(h, begin, h.wasm.encodeFixedR8F32, twins.encodeFixedR8F32, [src, dst, n, r]);
        runPair(h, begin, h.wasm.decodeFixedR8F32, twins.decodeFixedR8F32, [dst, src, n, r]);
        runPair(h, begin, h.wasm.quantizeFixedR8F32, twins.quantizeFixedR8F32, [src, src, n, r]);
      }),
    ),
    { numRuns: 150 },
  );
});

t.test('every half decodes to its value and encodes to itself', async (t) => {
  h.scope(() => {
    const begin = h.arena.mark();
    const count = 65536;
    const halves = h.alloc(count * 2);
    const floats = h.alloc(count * 4);
    const back = h.alloc(count * 2);
    new Uint16Array(h.buffer, halves, count).forEach((_, i, all) => {
      all[i] = i;
    });
    runPair(h, begin, h.wasm.decodeHalfF32, twins.decodeHalfF32, [halves, floats, count]);
    h.wasm.encodeHalfF32(floats, back, count);
    const found = new Uint16Array(h.buffer, back, count);
    const wrong = Array.from(found.keys()).filter(
      (i) => found[i] !== i && !((i & 0x7c00) === 0x7c00 && (i & 0x3ff) !== 0),
    );
    t.same(wrong, []);
  });
});

t.test('half rounds to even and overflows from 65520 on', async (t) => {
  t.equal(halfToF32(halfFromF32(65519.99)), 65504);
  t.equal(halfToF32(halfFromF32(65520)), Number.POSITIVE_INFINITY);
  t.equal(halfToF32(halfFromF32(2049)), 2048);
  t.equal(halfToF32(halfFromF32(2051)), 2052);
  t.equal(halfToF32(halfFromF32(2 ** -25)), 0);
  t.equal(halfToF32(halfFromF32(1.5 * 2 ** -24)), 2 ** -23);
});

t.test('one bit and hash net agree with the references', async () => {
  fc.assert(
    fc.property(inputs, ({ n, skews, scale, seed }) =>
      h.scope(() => {
        const begin = h.arena.mark();
        const next = stream(seed);
        const w = h.putF32(randomFloats(next, n), skews[0] & 12);
        const g = h.putF32(randomFloats(next, n), skews[1] & 12);
        const bytes = h.alloc(n);
        runPair(h, begin, h.wasm.encodeOneBitF32, twins.encodeOneBitF32, [w, bytes, n, scale, 0.1]);
        runPair(h, begin, h.wasm.decodeOneBitF32, twins.decodeOneBitF32, [bytes, g, n, 0.1]);
        runPair(h, begin, h.wasm.hashNetForwardF32, twins.hashNetForwardF32, [w, g, n, scale, 0.1], within(4));
        // Near saturation one unit of the tanh is a large part of what is left of 1 - y.
        const loose = (a: number, b: number) => within(8, 4e-8)(a, b);
        h.views.f32.set(new Float32Array(n).fill(1), g >>> 2);
        runPair(h, begin, h.wasm.hashNetBackwardF32, twins.hashNetBackwardF32, [w, g, n, scale, 0.1], loose);
      }),
    ),
    { numRuns: 100 },
  );
});

t.test('the initializer stream is MT19937 with the default seed', async (t) => {
  h.scope(() => {
    const begin = h.arena.mark();
    const generator = h.alloc(2500);
    const out = h.alloc(4000);
    runPair(h, begin, h.wasm.seedMt, twins.seedMt, [generator, 5489]);
    const words = [1, 2, 3].map(() => h.wasm.nextMt(generator) >>> 0);
    t.same(words, [3499211612, 581869302, 3890346734]);
    runPair(h, begin, h.wasm.fillUniformMtF32, twins.fillUniformMtF32, [generator, out, 1000, -1, 1]);
    runPair(h, begin, h.wasm.nextMt, twins.nextMt, [generator]);
    h.wasm.seedMt(generator, 5489);
    h.wasm.fillUniformMtF32(generator, out, 1000, -0.05, 0.05);
    const plain = new Float32Array(1000);
    new StreamInitializer().fill(planInitializer({ randomUniform: {} }), plain);
    t.same(h.f32(out, 1000), plain, 'the class draws the same');
  });
});

t.test('initializers fill or say what is wrong', async (t) => {
  t.same(planInitializer({ ones: {} }), { kind: 'constant', value: 1 });
  t.same(planInitializer(BatchSoftmaxInitializer(3)), { kind: 'constant', value: 3 });
  t.throws(() => BatchSoftmaxInitializer(0.5), { message: 'init_step_interval should be >= 1, while got 0.5' });
  t.throws(() => planInitializer({}), { code: 'ML_INITIALIZER' });
});

t.test('combined compressors lie one after the other and have a name', async (t) => {
  const memory = { kernels: h.wasm, bytes: h.views.u8 };
  const parts = [makeCompressor(Fp16Compressor(), 1, memory), makeCompressor(OneBitCompressor(), 2, memory)];
  const whole = combineCompressors([...parts, makeCompressor(Fp32Compressor(), 1, memory)]);
  t.equal(whole.name, 'Fp16(D=1)|OneBit(D=2)|Fp32(D=1)');
  t.equal(whole.sizeBytes, 8);
  h.scope(() => {
    const [src, bytes, out] = [h.putF32([1, -2, 3, 4, 5]), h.alloc(8), h.alloc(20)];
    whole.encode(src, bytes);
    whole.decode(bytes, out);
    t.same([...h.f32(out, 5)], [1, -0.05, 0.05, 4, 0].map(Math.fround));
  });
  t.throws(() => makeCompressor({}, 1, memory), { code: 'ML_COMPRESSOR' });
});

t.test('only quantized segments are shown other than they are', async (t) => {
  h.scope(() => {
    const memory = { kernels: h.wasm, views: h.views, scaleAt: h.alloc(4) };
    const [w, out, g] = [h.putF32([0.3]), h.alloc(4), h.putF32([1])];
    makeRetriever({ fp16: {} }, 1, memory).retrieve(w, out);
    t.equal(h.f32(out, 1)[0], Math.fround(0.3));
    const fixed = makeRetriever({ fixedR8: { r: 1 } }, 1, memory);
    fixed.retrieve(w, out);
    fixed.backward(w, g, 0n);
    t.same([h.f32(out, 1)[0], h.f32(g, 1)[0]], [0.296875, 1]);
    makeRetriever({ oneBit: { stepSize: 100 } }, 1, memory).backward(w, g, 100n);
    t.equal(h.f32(memory.scaleAt, 1)[0], Math.fround(1.5 ** 0.5), 'the scale is renewed at multiples of the step size');
    t.equal(hashNetScale({ stepSize: 100, initScale: 1, maxScale: 1.1, amplitude: 1 }, 1, 100n), Math.fround(1.1));
  });
});
