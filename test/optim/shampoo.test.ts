import fc from 'fast-check';
import t from 'tap';
import { ShampooOptimizer } from '../../src/compat/optimizers.js';
import { inverseRootScratch, SHAMPOO, SHAMPOO_AXIS, SHAMPOO_AXIS_WORDS } from '../../src/memory/dense-layout.js';
import * as reference from '../../src/runtime/backends/reference/optim.js';
import { randomFloats, stream } from '../kernels/both.js';
import { KernelHarness } from '../kernels/harness.js';
import { runPair } from '../kernels/pair.js';
import { BACKENDS, openSession } from '../runtime/with-session.js';
import { fedModel, feedOf } from './one-step.js';
import { axisStatistic, inverseRoot, PlainShampoo, precondition } from './plain-shampoo.js';

const h = await KernelHarness.create(16 << 20);

const roots = fc.record({
  k: fc.integer({ min: 1, max: 12 }),
  rank: fc.integer({ min: 1, max: 5 }),
  rest: fc.integer({ min: 1, max: 9 }),
  head: fc.integer({ min: 0, max: 6 }),
  tail: fc.integer({ min: 0, max: 6 }),
  seed: fc.integer(),
});

t.test('inverse roots and what they do to a tensor equal the reference, and the formulas in f64', async () => {
  fc.assert(
    fc.property(roots, ({ k, rank, rest, head, tail, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const half = randomFloats(next, k * 3).map((x) => x * 0.1);
        const matrix = Float32Array.from({ length: k * k }, (_, at) => {
          const [i, j] = [Math.floor(at / k), at % k];
          return half[i * 3]! * half[j * 3]! + half[i * 3 + 1]! * half[j * 3 + 1]! + (i === j ? 0.01 * (i + 1) : 0);
        });
        const kept = Math.min(k, head + tail);
        // Before what is compared: the reference needs no packed panels and leaves them alone.
        const packed = h.alloc(64 << 10);
        const begin = h.arena.mark();
        const x = randomFloats(next, k * rest);
        const [s, from] = [h.putF32(matrix), h.putF32(x)];
        const [pvec, pval, o, out] = [h.alloc(k * kept * 4), h.alloc(kept * 4), h.alloc(4), h.alloc(k * rest * 4)];
        const [projected, scratch] = [h.alloc(rest * kept * 4), h.alloc(inverseRootScratch(k) * 8)];
        // Between the steps of the diagonal: an eigenvalue that is the damping itself, where all else is 0, is above it
        // or not by how it is rounded.
        const options = [2 * rank, head, tail, 0.015] as const;
        runPair(h, begin, h.wasm.inverseRootF32, reference.inverseRootF32, [s, k, ...options, pvec, pval, o, scratch]);
        const operands = [from, k, rest, pvec, kept, pval, o, out, projected, packed];
        runPair(h, begin, h.wasm.preconditionF32, reference.preconditionF32, operands);
        const [vectors, values] = [h.f32(pvec, k * kept), h.f32(pval, kept)];
        const root = { size: k, rank: kept, vectors, values, offset: h.f32(o, 1)[0]! };
        close(h.f32(out, k * rest), precondition(x, root), 1e-4, 'kernel and formula');
        const plain = inverseRoot(matrix, k, ...options);
        // Vectors of like eigenvalues are free, so what the operators do is compared and not what they are made of.
        close(precondition(x, plain), precondition(x, root), 2e-3, 'both inverse roots');
      }),
    ),
    { numRuns: 80 },
  );
});

function close(found: ArrayLike<number>, wanted: ArrayLike<number>, tolerance: number, what: string): void {
  const scale = 1 + Math.max(0, ...Array.from(wanted, Math.abs));
  for (let i = 0; i < wanted.length; i++) {
    if (Math.abs(found[i]! - wanted[i]!) <= tolerance * scale) continue;
    throw new Error(`${what}: at ${i} ${found[i]} and not ${wanted[i]}`);
  }
}

interface Block {
  readonly block: number;
  readonly variable: number;
  readonly gradient: number;
  readonly sums: readonly number[];
}

/** A block of the kernel with all it points to, zero but for the weights. */
function putBlock(
  shape: readonly number[],
  options: Readonly<Record<string, number>>,
  weights: Float32Array,
  packed: number,
): Block {
  const count = weights.length;
  const [variable, gradient] = [h.putF32(weights), h.alloc(count * 4)];
  const kept = (k: number) => Math.min(k, options.eigenHead! + options.eigenTail!);
  const block = h.alloc((SHAMPOO.axes + SHAMPOO_AXIS_WORDS * shape.length) * 4);
  const floats = { beta1: options.beta1!, beta2: options.beta2!, damping: options.damping! };
  const words: Record<string, number> = { rank: shape.length, count, variable, gradient, ...options };
  for (const name of ['d', 'm', 'pm', 'work', 'otherWork'] as const) words[name] = h.alloc(count * 4);
  words.projected = h.alloc(Math.max(1, ...shape.map((k) => (count / k) * kept(k))) * 4);
  words.eigen = h.alloc(Math.max(1, ...shape.map(inverseRootScratch)) * 8);
  words.gemm = packed;
  for (const [name, at] of Object.entries(SHAMPOO)) h.views.u32[block / 4 + at] = words[name] ?? 0;
  for (const [name, value] of Object.entries(floats)) h.views.f32[block / 4 + SHAMPOO[name as 'beta1']] = value;
  const sums = shape.map((k, i) => {
    const axis = block / 4 + SHAMPOO.axes + i * SHAMPOO_AXIS_WORDS;
    const sizes = { s: k * k, g: k * k, pvec: k * kept(k), pval: kept(k), o: 1 } as const;
    h.views.u32.set([k, kept(k)], axis);
    for (const [slot, size] of Object.entries(sizes)) {
      h.views.u32[axis + SHAMPOO_AXIS[slot as keyof typeof sizes]] = h.alloc(size * 4);
    }
    return h.views.u32[axis + SHAMPOO_AXIS.s]!;
  });
  return { block, variable, gradient, sums };
}

const steps = fc.record({
  shape: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 4 }),
  beta2: fc.constantFrom(0.9, 1),
  warmup: fc.nat(4),
  tau1: fc.integer({ min: 1, max: 3 }),
  tau2: fc.integer({ min: 1, max: 3 }),
  kept: fc.integer({ min: 2, max: 12 }),
  seed: fc.integer(),
});

t.test('whole steps of any rank equal the reference bit for bit, and the formulas in f64', async () => {
  fc.assert(
    fc.property(steps, ({ shape, beta2, warmup, tau1, tau2, kept, seed }) =>
      h.scope(() => {
        const next = stream(seed);
        const count = shape.reduce((product, k) => product * k, 1);
        // Damping above the noise: where eigenvalues lie at its edge, f32 and f64 may keep different ones.
        const options = {
          beta1: 0.9,
          beta2,
          warmup,
          tau1,
          tau2,
          eigenHead: kept,
          eigenTail: kept,
          dampingEpsilon: 0.5,
        };
        const plain = new PlainShampoo({ ...options, learningRate: 0.1 });
        const slots = plain.createSlots(shape);
        const weights = Float32Array.from({ length: count }, () => next() - 0.5);
        const packed = h.alloc(64 << 10);
        const begin = h.arena.mark();
        const { block, variable, gradient } = putBlock(shape, { ...options, damping: 0.5 }, weights, packed);
        for (let step = 0; step < 9; step++) {
          const g = Float32Array.from({ length: count }, () => next() - 0.5);
          h.views.f32.set(g, gradient / 4);
          plain.step(weights, g, slots, step);
          runPair(h, begin, h.wasm.applyShampooF32, reference.applyShampooF32, [block, 0.1, step]);
          // Of equal eigenvalues on both sides of the cut either may be kept: only whole spectra have one operator.
          if (shape.every((k) => k <= 2 * kept)) close(h.f32(variable, count), weights, 5e-3, `step ${step}`);
        }
      }),
    ),
    { numRuns: 40 },
  );
});

t.test('statistics contract all axes but one, and are added again until they are new', async (t) => {
  h.scope(() => {
    const options = { beta1: 0, beta2: 1, warmup: 100, tau1: 1, tau2: 2, eigenHead: 9, eigenTail: 9, damping: 1e-3 };
    const { block, gradient, sums } = putBlock([2, 3], options, new Float32Array(6), h.alloc(64 << 10));
    h.views.f32.set([1, 2, 3, 4, 5, 6], gradient / 4);
    h.wasm.applyShampooF32(block, 0, 0);
    h.views.f32.fill(9, gradient / 4, gradient / 4 + 6);
    h.wasm.applyShampooF32(block, 0, 1);
    t.same(
      [...h.f32(sums[0]!, 4)],
      [14, 32, 32, 77].map((x) => 2 * x),
    );
    t.same(
      [...h.f32(sums[1]!, 9)],
      [17, 22, 27, 22, 29, 36, 27, 36, 45].map((x) => 2 * x),
    );
    t.same([...axisStatistic([1, 2, 3, 4, 5, 6], [2, 3], 1)], [17, 22, 27, 22, 29, 36, 27, 36, 45]);
  });
});

for (const backend of BACKENDS) {
  t.test(`in a graph, each variable steps by the formulas, through warm-up and after: ${backend}`, async (t) => {
    const options = {
      warmup: 3,
      tau1: 2,
      tau2: 2,
      eigenHead: 2,
      eigenTail: 1,
      learningRate: 0.1,
      dampingEpsilon: 0.05,
    };
    const names = ['a0', 'b0', 'c0'];
    const size = [6, 4] as const;
    const model = fedModel(size, Object.fromEntries(names.map((name) => [name, new ShampooOptimizer(options)])));
    const session = await openSession(model.graph, { backend, threads: 2 });
    const plain = new PlainShampoo(options);
    const slots = plain.createSlots([...size]);
    const weights = Float32Array.from({ length: 24 }, (_, i) => Math.cos(i));
    for (let step = 0; step < 9; step++) {
      const { feeds, gradient } = feedOf(...size, step);
      await session.run([model.train], feeds);
      plain.step(weights, gradient, slots, step);
    }
    for (const name of names) {
      close(session.readVariable(name) as Float32Array, weights, 2e-3, name);
      close(session.readVariable(`${name}/Shampoo/s1`) as Float32Array, slots.axes[1]!.sum, 1e-5, 's1');
      close(session.readVariable(`${name}/Shampoo/o0`) as Float32Array, [slots.axes[0]!.root.offset], 1e-4, 'o0');
    }
    t.same(session.readVariable('b0'), session.readVariable('a0'), 'whoever owns it');
    await session.close();
  });
}
