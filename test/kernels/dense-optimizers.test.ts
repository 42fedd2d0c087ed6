import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { denseReference, randomFloats, runBoth, stream } from './both.js';
import { KernelHarness } from './harness.js';

const h = await KernelHarness.create();

/** Lengths the table code uses (1 to 64) and a long range; every operand off its alignment by its own amount. */
const ranges = fc.record({
  n: fc.oneof(fc.integer({ min: 0, max: 64 }), fc.constant(1000)),
  skews: fc.array(fc.constantFrom(0, 4, 8, 12), { minLength: 4, maxLength: 4 }),
  lr: fc.constantFrom(0.01, 0.1, 1, 1e-4),
  decay: fc.constantFrom(0, 0.1, 1e-3),
  beta: fc.constantFrom(0, 1),
  l1: fc.constantFrom(0, 0.5, 3),
  l2: fc.constantFrom(0, 0.1),
  seed: fc.integer(),
});

t.test('sgd, adagrad and ftrl steps equal their references bit for bit', async () => {
  fc.assert(
    fc.property(ranges, ({ n, skews, lr, decay, beta, l1, l2, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const begin = h.arena.mark();
        const [w, g, norm, zero] = [
          h.putF32(randomFloats(next, n), skews[0]),
          h.putF32(randomFloats(next, n), skews[1]),
          h.putF32(randomFloats(next, n).map(Math.abs), skews[2]),
          h.putF32(randomFloats(next, n), skews[3]),
        ];
        runBoth(h, begin, 'applySgdF32', [w, g, n, lr]);
        runBoth(h, begin, 'applyAdagradF32', [w, norm, g, n, lr, decay]);
        for (let step = 0; step < 2; step++) {
          runBoth(h, begin, 'applyFtrlF32', [w, norm, zero, g, n, lr, beta, l1, l2]);
        }
      }),
    ),
    { numRuns: 200 },
  );
});

t.test('ftrl pushes a negative accumulator out by l1 and does not shrink a positive one', async (t) => {
  h.scope(() => {
    const [w, norm, zero, g] = [h.putF32([0, 0, 0]), h.putF32([0, 0, 0]), h.putF32([0, 0, 0]), h.putF32([2, -2, 0.25])];
    h.wasm.applyFtrlF32(w, norm, zero, g, 3, 1, 0, 0.5, 0);
    t.same([...h.f32(w, 3)], [-1, 1.25, 0]);
  });
});

interface ParityCase {
  readonly module: string;
  readonly case: string;
  readonly input: {
    readonly config: Readonly<Record<string, number>>;
    readonly w0: readonly number[];
    readonly steps: readonly { readonly grad: readonly number[]; readonly lr: readonly number[] }[];
  };
  readonly expected: { readonly w: readonly (readonly number[])[]; readonly norm?: readonly number[] };
  readonly tolerance: { readonly abs: number };
  readonly source_test: string;
}

type Step = (at: { w: number; norm: number; zero: number; g: number }, n: number, lr: number) => void;

/** One step of the optimizer a parity case is about, with the defaults of its configuration message. */
function stepOf(parity: ParityCase, plain: boolean): Step {
  const { config } = parity.input;
  const value = (name: string) => config[name] ?? 0;
  const kernels = plain
    ? {
        sgd: denseReference.applySgdF32.bind(null, h.views),
        adagrad: denseReference.applyAdagradF32.bind(null, h.views),
        ftrl: denseReference.applyFtrlF32.bind(null, h.views),
      }
    : { sgd: h.wasm.applySgdF32, adagrad: h.wasm.applyAdagradF32, ftrl: h.wasm.applyFtrlF32 };
  const { beta, l1, l2 } = {
    beta: value('beta'),
    l1: value('l1_regularization_strength'),
    l2: value('l2_regularization_strength'),
  };
  switch (parity.module) {
    case 'opt.sgd':
      return ({ w, g }, n, lr) => kernels.sgd(w, g, n, lr);
    case 'opt.adagrad':
      return ({ w, norm, g }, n, lr) => kernels.adagrad(w, norm, g, n, lr, value('weight_decay_factor'));
    default:
      return ({ w, norm, zero, g }, n, lr) => kernels.ftrl(w, norm, zero, g, n, lr, beta, l1, l2);
  }
}

const fixture = new URL('../../../test/fixtures/parity-sparse.json', import.meta.url);
const cases = (JSON.parse(readFileSync(fixture, 'utf8')) as ParityCase[]).filter(({ module }) =>
  ['opt.sgd', 'opt.adagrad', 'opt.ftrl'].includes(module),
);

t.equal(cases.length, 5, 'the parity cases of these optimizers were found');
for (const parity of cases) {
  for (const plain of [false, true]) {
    t.test(
      `${parity.module} ${parity.case} (${parity.source_test}) on ${plain ? 'the reference' : 'wasm'}`,
      async (t) => {
        h.scope(() => {
          const { w0, config, steps } = parity.input;
          const n = w0.length;
          const accumulator = new Array<number>(n).fill(config.initial_accumulator_value ?? 0.1);
          const at = { w: h.putF32(w0), norm: h.putF32(accumulator), zero: h.alloc(n * 4), g: h.alloc(n * 4) };
          const step = stepOf(parity, plain);
          for (const [index, { grad, lr }] of steps.entries()) {
            h.views.f32.set(grad, at.g >>> 2);
            step(at, n, lr[0]!);
            for (const [i, expected] of parity.expected.w[index]!.entries()) {
              const found = h.f32(at.w, n)[i]!;
              t.ok(Math.abs(found - expected) <= parity.tolerance.abs, `w[${i}] is ${expected}`, { found, expected });
            }
          }
          if (parity.expected.norm) t.same([...h.f32(at.norm, n)], parity.expected.norm);
        });
      },
    );
  }
}
