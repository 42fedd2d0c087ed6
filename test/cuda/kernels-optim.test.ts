/** @file CUDA optimizers of variables and of table rows, in the simulator: equal to their references bit for bit. */
import t from 'tap';
import type { Views } from '../../src/memory/views.js';
import { addCountI64 } from '../../src/runtime/backends/reference/counts.js';
import * as dense from '../../src/runtime/backends/reference/dense/optimizers.js';
import * as optim from '../../src/runtime/backends/reference/optim.js';
import { randomFloats, stream } from '../kernels/both.js';
import type { KernelHarness } from '../kernels/harness.js';
import { type Plain, SCHEDULES, withTwin } from './twin.js';

/** Positive, as sums of squares are. */
const positives = (next: () => number, count: number) => randomFloats(next, count).map((x) => Math.abs(x) + 1e-3);

/** A third of the runs has a rate of 0, a third sums and gradients that are 0. */
const rateOf = (run: number) => (run % 3 === 1 ? 0 : 0.05);
const withZeros = (run: number, next: () => number, values: Float32Array) =>
  run % 3 === 2 ? values.map((x) => (next() < 0.3 ? 0 : x)) : values;

const SIZES = [0, 1, 3, 255, 256, 1000, 2603];

t.test('dense optimizers equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const next = stream(i);
        const n = SIZES[i % SIZES.length]!;
        const begin = h.arena.mark();
        // Quads where all arrays are aligned: in two of three runs one of them is not.
        const skew = (index: number) => (i % 3 > 0 && index === i % 6 ? 4 + 4 * (i % 3) : 0);
        const put = (index: number, values: Float32Array) => h.putF32(values, skew(index));
        const [w, g, m] = [0, 1, 2].map((at) => put(at, withZeros(i, next, randomFloats(next, n)))) as [
          number,
          number,
          number,
        ];
        const [norm, zero] = [put(3, withZeros(i, next, positives(next, n))), put(4, randomFloats(next, n))];
        const count = put(5, withZeros(i, next, positives(next, n)));
        const [lr, epsilon] = [rateOf(i), i % 3 === 2 ? 0 : 1e-6];
        const run = (name: string, plain: unknown, args: readonly number[]) =>
          twin.run(h, begin, name, plain as Plain, args);
        run('applySgdF32', dense.applySgdF32, [w, g, n, 0.05]);
        run('applyAdagradF32', dense.applyAdagradF32, [w, norm, g, n, lr, 0.01]);
        run('applyFtrlF32', dense.applyFtrlF32, [w, norm, zero, g, n, lr, 0.1, 0.3, 0.01]);
        run('applyStandardFtrlF32', optim.applyStandardFtrlF32, [w, norm, zero, g, n, lr, 0.1, 0.3, 0.01]);
        run('applyDenseMomentumF32', optim.applyDenseMomentumF32, [w, m, g, n, lr, 0.9, i % 2]);
        const powers = h.putF32([0.81, 0.98]);
        const adam = [lr, powers, powers + 4, 0.9, 0.99, 0.01, epsilon, i % 2];
        run('applyDenseAdamF32', optim.applyDenseAdamF32, [w, m, norm, g, n, ...adam]);
        run('applyMomentumF32', optim.applyMomentumF32, [w, m, g, n, lr, 0.01, 0.9, i % 2]);
        const rates = [lr, 0.99, 0.9, epsilon, 0.01];
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
        run('applyAdamF32', keepPowers, [w, state, g, n, lr, ...betas, 0.01, epsilon, i % 2]);
        const raise = (v: Views, at: number) =>
          (optim.applyAdamF32 as unknown as Plain)(v, w, at, g, 0, lr, ...betas, 0, 0, 0);
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

const betas = [0.9, 0.99, 0.01, 1e-6] as const;

const rowOptimizers = (lr: number): readonly RowOptimizer[] => [
  {
    name: 'stepRowsAdagradF32',
    floats: (n) => n,
    values: [lr, 0.01],
    plain: (m, w, s, g, n) => dense.applyAdagradF32(m, w, s, g, n, lr, 0.01),
  },
  {
    name: 'stepRowsDecoupledAdagradF32',
    floats: (n) => n,
    values: [lr, 0.01],
    plain: (m, w, s, g, n) => optim.applyDecoupledAdagradF32(m, w, s, g, n, lr, 0.01),
  },
  ...[0, 1].flatMap((flag): RowOptimizer[] => [
    {
      name: 'stepRowsMomentumF32',
      floats: (n) => n,
      values: [lr, 0.01, 0.9, flag],
      plain: (m, w, s, g, n) => optim.applyMomentumF32(m, w, s, g, n, lr, 0.01, 0.9, flag),
    },
    {
      name: 'stepRowsRmspropF32',
      floats: (n) => n,
      values: [lr, 0.01, 0.9, flag],
      plain: (m, w, s, g, n) => (flag ? optim.applyRmspropV2F32 : optim.applyRmspropF32)(m, w, s, g, n, lr, 0.01, 0.9),
    },
    {
      name: 'stepRowsFtrlF32',
      floats: (n) => 2 * n,
      values: [lr, 0.1, 0.3, 0.01, flag],
      plain: (m, w, s, g, n) =>
        (flag ? optim.applyStandardFtrlF32 : dense.applyFtrlF32)(m, w, s, s + n * 4, g, n, lr, 0.1, 0.3, 0.01),
    },
    {
      name: 'stepRowsAdamF32',
      floats: (n) => 2 * n + 2,
      values: [lr, ...betas, flag],
      plain: (m, w, s, g, n) => optim.applyAdamF32(m, w, s, g, n, lr, ...betas, flag),
    },
    {
      name: 'stepRowsAmsgradF32',
      floats: (n) => 3 * n + 2,
      values: [lr, ...betas, flag],
      plain: (m, w, s, g, n) => optim.applyAmsgradF32(m, w, s, g, n, lr, ...betas, flag),
    },
  ]),
  {
    name: 'stepRowsGroupAdagradF32',
    floats: () => 1,
    values: [lr, 0.1, 0.3, 0.01],
    plain: (m, w, s, g, n) => optim.applyGroupAdagradF32(m, w, s, g, n, lr, 0.1, 0.3, 0.01),
  },
  {
    name: 'stepRowsGroupFtrlF32',
    floats: (n) => 2 * n,
    values: [lr, 0.1, 3, 0.01],
    plain: (m, w, s, g, n) => optim.applyGroupFtrlF32(m, w, s, g, n, lr, 0.1, 3, 0.01),
  },
  {
    name: 'stepRowsAdadeltaF32',
    floats: (n) => 2 * n,
    values: [lr, 0.01, 0.9, 1e-6],
    plain: (m, w, s, g, n) => optim.applyAdadeltaF32(m, w, s, g, n, lr, 0.01, 0.9, 1e-6),
  },
];

/** 2^32 - 1 names no row. */
const NO_ROW = -1;

/** Rows of a table, weights then state, and gradients of some of them. */
function layOutRows(h: KernelHarness, i: number, floats: (dim: number) => number) {
  const next = stream(i + 7);
  const [rows, dim] = [1 + Math.floor(next() * 40), [1, 4, 7, 16, 33, 64][i % 6]!];
  // In half of the runs rows and gradients begin at whole quads where they have them.
  const even = i % 4 < 2;
  const stride = even ? Math.ceil((dim + floats(dim)) / 4) * 4 : dim + floats(dim) + (i % 3);
  const [gradStride, count] = [dim + (even ? 0 : i % 2), Math.floor(next() * (rows + 1))];
  const begin = h.arena.mark();
  const table = h.putF32(withZeros(i, next, positives(next, rows * stride)).map((x) => Math.min(x, 0.9)));
  const grad = h.putF32(withZeros(i, next, randomFloats(next, count * gradStride)));
  // A step through the rows that meets none twice, and passes some gradients over.
  const index = Int32Array.from({ length: rows }, (_, k) => k).sort(() => next() - 0.5);
  for (let k = 0; k < rows; k++) if (next() < 0.1) index[k] = NO_ROW;
  const at = i % 5 === 3 ? 0 : h.putI32(index);
  const rowOf = (k: number) => (at === 0 ? k : index[k]!);
  return { begin, table, stride, grad, gradStride, at, count, dim, rowOf };
}

t.test('optimizers of rows equal their references bit for bit', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      for (const { name, floats, values, plain } of rowOptimizers(rateOf(i))) {
        h.scope(() => {
          const { begin, table, stride, grad, gradStride, at, count, dim, rowOf } = layOutRows(h, i, floats);
          const rowsOf = (m: Views) => {
            for (let k = 0; k < count; k++) {
              if (rowOf(k) === NO_ROW) continue;
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
              if (rowOf(k) !== NO_ROW) step(m, table + rowOf(k) * stride * 4, grad + k * gradStride * 4, dim, 0.3);
            }
          };
          twin.run(h, begin, name, rowsOf, [table, stride, at, grad, gradStride, count, dim, 0.3]);
        }
      });
    }
  })(t),
);

t.test('the step of batch_softmax equals its reference bit for bit', (t) =>
  withTwin((twin, h) => {
    for (let i = 0; i < SCHEDULES; i++) {
      h.scope(() => {
        const { begin, table, stride, at, count, rowOf } = layOutRows(h, i, () => 2);
        const state = table + stride * 4 - 8;
        const now = 2n ** BigInt(i + 10) + 7n;
        const [low, high] = [Number(now & 0xffffffffn), Number(now >> 32n)];
        for (let row = 0; row < count; row++) h.views.u32.set([low - row, high], state / 4 + row * stride);
        const rowsOf = (m: Views) => {
          for (let k = 0; k < count; k++) {
            const row = rowOf(k) * stride * 4;
            if (row >= 0) optim.applyBatchSoftmaxF32(m, table + row, state + row, 0.3, now);
          }
        };
        const args = [table, stride, state, stride, at, count, 0.3, low, high];
        twin.run(h, begin, 'stepRowsBatchSoftmaxF32', rowsOf, args);
      });
    }
  })(t),
);
