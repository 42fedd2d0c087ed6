import fc from 'fast-check';
import t from 'tap';
import { OPTIMIZER_NUMBER, PARAMETER_BLOCK, PARAMETER_BLOCK_BYTES } from '../../src/memory/optimizer-layout.js';
import type { Views } from '../../src/memory/views.js';
import { halfFromF32, halfToF32 } from '../../src/runtime/backends/reference/half.js';
import * as reference from '../../src/runtime/backends/reference/optim.js';
import type { OptimKernels } from '../../src/runtime/backends/wasm/calls/optim.js';
import { randomFloats, stream } from './both.js';
import { KernelHarness } from './harness.js';
import { runPair } from './pair.js';

type Twins = {
  readonly [K in keyof OptimKernels]: (m: Views, ...args: Parameters<OptimKernels[K]>) => ReturnType<OptimKernels[K]>;
};
const twins: Twins = reference;
const h = await KernelHarness.create(16 << 20);
const KINDS = Object.entries(OPTIMIZER_NUMBER);

/** Floats of state of `n` weights, by kind; batch_softmax counts its i64 as two. */
const STATE_FLOATS: Readonly<Record<string, (n: number) => number>> = {
  adagrad: (n) => n,
  sgd: () => 0,
  ftrl: (n) => 2 * n,
  dynamicWdAdagrad: (n) => n,
  adadelta: (n) => 2 * n,
  adam: (n) => 2 * n + 2,
  amsgrad: (n) => 3 * n + 2,
  momentum: (n) => n,
  movingAverage: () => 0,
  rmsprop: (n) => n,
  rmspropv2: (n) => n,
  groupFtrl: (n) => 2 * n,
  batchSoftmax: () => 2,
  groupAdagrad: () => 1,
};

const rows = fc.record({
  n: fc.integer({ min: 1, max: 67 }),
  skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 3, maxLength: 3 }),
  rate: fc.constantFrom(0.01, 0.1, 1, 1e-4),
  flags: fc.integer({ min: 0, max: 7 }),
  initial: fc.constantFrom(0, 0.1, 1),
  values: fc.array(fc.constantFrom(0, 0.1, 0.5, 0.9, 0.99, 1e-3, 1, 3), { minLength: 4, maxLength: 4 }),
  specials: fc.boolean(),
  seed: fc.integer(),
});

function putParameters(rate: number, flags: number, initial: number, values: readonly number[], step: bigint): number {
  const at = h.alloc(PARAMETER_BLOCK_BYTES);
  h.views.f32[at / 4] = rate;
  h.views.u32[at / 4 + 1] = flags;
  h.views.f32[at / 4 + 2] = initial;
  h.views.f32.set(values, (at + PARAMETER_BLOCK.values) / 4);
  h.views.i64[(at + PARAMETER_BLOCK.globalStep) / 8] = step;
  return at;
}

for (const [name, kind] of KINDS) {
  t.test(`${name}: first state and three steps equal the reference bit for bit`, async () => {
    fc.assert(
      fc.property(rows, ({ n, skews, rate, flags, initial, values, specials, seed }) =>
        h.scope(() => {
          const next = stream(seed);
          const begin = h.arena.mark();
          const dim = name === 'batchSoftmax' ? 1 : n;
          const w = h.putF32(randomFloats(next, dim), skews[0]);
          // Whatever was in the memory before must not matter.
          const state = h.putF32(randomFloats(next, STATE_FLOATS[name]!(dim)), skews[1]);
          const g = h.putF32(new Float32Array(dim), skews[2]);
          const parameters = putParameters(rate, flags, initial, values, BigInt(Math.floor(next() * 1e6)));
          runPair(h, begin, h.wasm.initOptimizerState, twins.initOptimizerState, [kind, state, dim, parameters]);
          for (let step = 0; step < 3; step++) {
            h.views.f32.set(randomFloats(next, dim, specials), g >>> 2);
            const args = [kind, w, state, g, dim, parameters];
            runPair(h, begin, h.wasm.applyOptimizerF32, twins.applyOptimizerF32, args);
          }
        }),
      ),
      { numRuns: 60 },
    );
  });
}

t.test('an unknown number and a negative step are told and change nothing', async (t) => {
  h.scope(() => {
    const w = h.putF32([1]);
    const state = h.alloc(8);
    const parameters = putParameters(0.1, 0, 0, [0, 0, 0, 0], -1n);
    t.equal(h.wasm.applyOptimizerF32(13, w, state, w, 1, parameters), -2);
    t.equal(h.wasm.applyOptimizerF32(OPTIMIZER_NUMBER.batchSoftmax, w, state, w, 1, parameters), -1);
    t.same([...h.f32(w, 1)], [1]);
  });
});

t.test('adam counts the steps of its own row in the powers', async (t) => {
  h.scope(() => {
    const [w, g, state] = [h.putF32([0]), h.putF32([1]), h.alloc(16)];
    const parameters = putParameters(0.1, 0, 0, [0.5, 0.25, 0, 0.01], 0n);
    h.wasm.initOptimizerState(OPTIMIZER_NUMBER.adam, state, 1, parameters);
    for (let step = 0; step < 2; step++) h.wasm.applyOptimizerF32(OPTIMIZER_NUMBER.adam, w, state, g, 1, parameters);
    t.same([...h.f32(state + 8, 2)], [0.125, 0.015625]);
  });
});

t.test('powers of adam run down to zero and not into subnormals', async (t) => {
  h.scope(() => {
    const begin = h.arena.mark();
    const [w, g, state] = [h.putF32([0]), h.putF32([1]), h.alloc(16)];
    const parameters = putParameters(0.1, 0, 0, [0.5, 0.75, 0, 0.01], 0n);
    h.wasm.initOptimizerState(OPTIMIZER_NUMBER.adam, state, 1, parameters);
    for (let step = 0; step < 330; step++) {
      const args = [OPTIMIZER_NUMBER.adam, w, state, g, 1, parameters];
      runPair(h, begin, h.wasm.applyOptimizerF32, twins.applyOptimizerF32, args);
    }
    t.same([...h.f32(state + 8, 2)], [0, 0]);
  });
});

t.test('a group row whose norm is zero becomes zero and not NaN', async (t) => {
  h.scope(() => {
    for (const kind of [OPTIMIZER_NUMBER.groupAdagrad, OPTIMIZER_NUMBER.groupFtrl]) {
      const [w, g, state] = [h.putF32([0, 0]), h.putF32([0, 0]), h.alloc(16)];
      h.wasm.applyOptimizerF32(kind, w, state, g, 2, putParameters(0.1, 0, 0, [1, 0, 0, 0], 0n));
      t.same([...h.f32(w, 2)], [0, 0]);
    }
  });
});

t.test('delay compensation and rounding to half equal their references', async (t) => {
  fc.assert(
    fc.property(rows, ({ n, skews, values, specials, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const begin = h.arena.mark();
        const put = (skew: number | undefined) => h.putF32(randomFloats(next, n, specials), skew);
        const [g, w, latest] = [put(skews[0]), put(skews[1]), put(skews[2])];
        runPair(h, begin, h.wasm.compensateDelayF32, twins.compensateDelayF32, [g, w, latest, n, values[0]!]);
        runPair(h, begin, h.wasm.nextMwc, twins.nextMwc, [h.putI32([0, 1])]);
        const [id, step] = [BigInt(seed) * 0x1234567_89abcden, BigInt(Math.floor(next() * 2 ** 40))];
        const key = BigInt.asUintN(64, h.wasm.roundingKey(seed, id, step));
        t.equal(key, twins.roundingKey(h.views, seed, id, step), 'keys are equal');
        const round = (rounds: OptimKernels['roundToHalfF32']) => {
          rounds(w, n, key, 5);
          return h.views.u32.slice(w / 4, w / 4 + n);
        };
        const before = h.f32(w, n);
        const rounded = round(h.wasm.roundToHalfF32);
        h.views.f32.set(before, w / 4);
        t.same(
          rounded,
          round((...args) => twins.roundToHalfF32(h.views, ...args)),
          'rounded weights are equal',
        );
      }),
    ),
    { numRuns: 100 },
  );
});

t.test('a rounded weight is a half, and an exact half stays as it is', async (t) => {
  const any = fc.float({ noNaN: true, min: -60000, max: 60000 });
  fc.assert(
    fc.property(any, fc.float({ noNaN: true, min: 0, max: 1 }), (x, p) => {
      const rounded = h.wasm.roundToHalf(x, p);
      return Object.is(halfToF32(halfFromF32(rounded)), rounded);
    }),
  );
  for (const x of [0, -0, 1, -2, 65504, 2 ** -24, Number.POSITIVE_INFINITY])
    t.ok(Object.is(h.wasm.roundToHalf(x, 1), x));
});
