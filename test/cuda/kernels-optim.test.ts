/** @file CUDA optimizers of variables and of table rows, in the simulator: equal to their references bit for bit. */
import t from 'tap';
import type { Views } from '../../src/memory/views.js';
import * as dense from '../../src/runtime/reference/dense/optimizers.js';
import * as optim from '../../src/runtime/reference/optim.js';
import { addCountI64 } from '../../src/runtime/reference/program.js';
import { randomFloats, stream } from '../kernels/both.js';
import type { KernelHarness } from '../kernels/harness.js';
import { type Plain, SCHEDULES, withTwin } from './twin.js';

/** Positive, as sums of squares are. */
const positives = (next: () => number, count: number) => randomFloats(next, count).map((x) => Math.abs(x) + 1e-3);

const SIZES = [0, 1, 3, 255, 256, 1000, 2600];

t.test('dense optimizers equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const next = stream(i);
        const n = SIZES[i % SIZES.length]!;
        const begin = h.arena.mark();
        const [w, g, m] = [0, 1, 2].map(() => h.putF32(randomFloats(next, n))) as [number, number, number];
        const [norm, zero] = [h.putF32(positives(next, n)), h.putF32(randomFloats(next, n))];
        const count = h.putF32(positives(next, n));
        const run = (name: string, plain: unknown, args: readonly number[]) =>
          twin.run(h, begin, name, plain as Plain, args);
        run('applySgdF32', dense.applySgdF32, [w, g, n, 0.05]);
        run('applyAdagradF32', dense.applyAdagradF32, [w, norm, g, n, 0.05, 0.01]);
        run('applyFtrlF32', dense.applyFtrlF32, [w, norm, zero, g, n, 0.05, 0.1, 0.3, 0.01]);
        run('applyMomentumF32', optim.applyMomentumF32, [w, m, g, n, 0.05, 0.01, 0.9, i % 2]);
        const rates = [0.05, 0.99, 0.9, 1e-6, 0.01];
        run('applyAdamomF32', optim.applyAdamomF32, [w, m, norm, count, g, n, ...rates, i % 2, i % 3 === 0 ? 0 : 1]);
        run('applyDenseRmspropF32', optim.applyDenseRmspropF32, [w, m, norm, g, n, ...rates, i % 2]);
        const state = h.putF32([...randomFloats(next, n), ...positives(next, n), 0.81, i === 0 ? 1e-38 : 0.98]);
        const betas = [0.9, 0.99] as const;
        // The reference raises the powers with the weights; here that is a launch of its own.
        const keepPowers = (v: Views, ...args: number[]) => {
          const at = state / 4 + 2 * n;
          const powers = v.f32.slice(at, at + 2);
          (optim.applyAdamF32 as unknown as Plain)(v, ...args);
          v.f32.set(powers, at);
        };
        run('applyAdamF32', keepPowers, [w, state, g, n, 0.05, ...betas, 0.01, 1e-6, i % 2]);
        const raise = (v: Views, at: number) =>
          (optim.applyAdamF32 as unknown as Plain)(v, w, at, g, 0, 0.05, ...betas, 0, 0, 0);
        run('applyAdamPowersF32', raise as Plain, [state + 8 * n, ...betas]);
        run('addCountI64', addCountI64, [h.putI64([2n ** 32n - 1n + BigInt(i)]), 4096]);
      });
    }
  })(t),
);

interface RowOptimizer {
  readonly name: string;
  /** Floats of state for `dim` weights. */
  readonly floats: (dim: number) => number;
  readonly values: readonly number[];
  readonly plain: (m: Views, w: number, state: number, g: number, n: number) => void;
}

const rates = [0.05, 0.9, 0.99, 0.01, 1e-6] as const;

const ROW_OPTIMIZERS: readonly RowOptimizer[] = [
  {
    name: 'stepRowsAdagradF32',
    floats: (n) => n,
    values: [0.05, 0.01],
    plain: (m, w, s, g, n) => dense.applyAdagradF32(m, w, s, g, n, 0.05, 0.01),
  },
  {
    name: 'stepRowsDecoupledAdagradF32',
    floats: (n) => n,
    values: [0.05, 0.01],
    plain: (m, w, s, g, n) => optim.applyDecoupledAdagradF32(m, w, s, g, n, 0.05, 0.01),
  },
  ...[0, 1].flatMap((flag): RowOptimizer[] => [
    {
      name: 'stepRowsMomentumF32',
      floats: (n) => n,
      values: [0.05, 0.01, 0.9, flag],
      plain: (m, w, s, g, n) => optim.applyMomentumF32(m, w, s, g, n, 0.05, 0.01, 0.9, flag),
    },
    {
      name: 'stepRowsRmspropF32',
      floats: (n) => n,
      values: [0.05, 0.01, 0.9, flag],
      plain: (m, w, s, g, n) =>
        (flag ? optim.applyRmspropV2F32 : optim.applyRmspropF32)(m, w, s, g, n, 0.05, 0.01, 0.9),
    },
    {
      name: 'stepRowsFtrlF32',
      floats: (n) => 2 * n,
      values: [0.05, 0.1, 0.3, 0.01, flag],
      plain: (m, w, s, g, n) =>
        (flag ? optim.applyStandardFtrlF32 : dense.applyFtrlF32)(m, w, s, s + n * 4, g, n, 0.05, 0.1, 0.3, 0.01),
    },
    {
      name: 'stepRowsAdamF32',
      floats: (n) => 2 * n + 2,
      values: [...rates, flag],
      plain: (m, w, s, g, n) => optim.applyAdamF32(m, w, s, g, n, ...rates, flag),
    },
    {
      name: 'stepRowsAmsgradF32',
      floats: (n) => 3 * n + 2,
      values: [...rates, flag],
      plain: (m, w, s, g, n) => optim.applyAmsgradF32(m, w, s, g, n, ...rates, flag),
    },
  ]),
  {
    name: 'stepRowsAdadeltaF32',
    floats: (n) => 2 * n,
    values: [0.05, 0.01, 0.9, 1e-6],
    plain: (m, w, s, g, n) => optim.applyAdadeltaF32(m, w, s, g, n, 0.05, 0.01, 0.9, 1e-6),
  },
];

/** Rows of a table, weights then state, and gradients of some of them. */
function layOutRows(h: KernelHarness, i: number, floats: (dim: number) => number) {
  const next = stream(i + 7);
  const [rows, dim] = [1 + Math.floor(next() * 40), [1, 4, 7, 16, 33, 64][i % 6]!];
  const stride = dim + floats(dim) + (i % 3);
  const [gradStride, count] = [dim + (i % 2), Math.floor(next() * (rows + 1))];
  const begin = h.arena.mark();
  const table = h.putF32(positives(next, rows * stride).map((x) => Math.min(x, 0.9)));
  const grad = h.putF32(randomFloats(next, count * gradStride));
  // A step through the rows that meets none twice.
  const index = Int32Array.from({ length: rows }, (_, k) => k).sort(() => next() - 0.5);
  // Gradients that belong to no row are passed over.
  if (i % 5 === 2) index[Math.floor(rows / 2)] = -1;
  const at = i % 4 === 3 ? 0 : h.putI32(index);
  const rowOf = (k: number) => (at === 0 ? k : index[k]!);
  return { begin, table, stride, grad, gradStride, at, count, dim, rowOf };
}

t.test('optimizers of rows equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    for (const { name, floats, values, plain } of ROW_OPTIMIZERS) {
      for (let i = 0; i < SCHEDULES; i++) {
        h.scope(() => {
          const { begin, table, stride, grad, gradStride, at, count, dim, rowOf } = layOutRows(h, i, floats);
          const rowsOf = (m: Views) => {
            for (let k = 0; k < count; k++) {
              if (rowOf(k) < 0) continue;
              const row = table + rowOf(k) * stride * 4;
              plain(m, row, row + dim * 4, grad + k * gradStride * 4, dim);
            }
          };
          const args = [table, stride, table + dim * 4, stride, at, grad, gradStride, count, dim, ...values];
          twin.run(h, begin, name, rowsOf, args);
        });
      }
    }
  })(t),
);

t.test('optimizers of rows without state equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const { begin, table, stride, grad, gradStride, at, count, dim, rowOf } = layOutRows(h, i, () => 0);
        const steps = { stepRowsSgdF32: dense.applySgdF32, stepRowsMovingAverageF32: optim.applyMovingAverageF32 };
        for (const [name, step] of Object.entries(steps)) {
          const rowsOf = (m: Views) => {
            for (let k = 0; k < count; k++) {
              if (rowOf(k) < 0) continue;
              step(m, table + rowOf(k) * stride * 4, grad + k * gradStride * 4, dim, 0.3);
            }
          };
          twin.run(h, begin, name, rowsOf, [table, stride, at, grad, gradStride, count, dim, 0.3]);
        }
      });
    }
  })(t),
);
