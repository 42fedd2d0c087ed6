/**
 * @file Row optimizers at the edges: rates of 0, tiny and huge ones, no gradient, sums that are 0. Held to their rules
 * in f64, written from docs/tables.md and not from the kernels.
 */
import t from 'tap';
import { OPTIMIZER_NUMBER, PARAMETER_BLOCK, PARAMETER_BLOCK_BYTES } from '../../src/memory/optimizer-layout.js';
import * as reference from '../../src/runtime/backends/reference/optim.js';
import { rounds } from '../support/rounds.js';
import { stream } from './both.js';
import { KernelHarness } from './harness.js';
import { pick, type Row, RULES, type Rule } from './row-rules.js';

const h = await KernelHarness.create(16 << 20);
const ROUNDS = rounds({ quick: 40, deep: 400, variable: 'MONOLITH_OPTIMIZER_ROUNDS' });

const KERNELS = {
  wasm: h.wasm.applyOptimizerF32,
  reference: (...args: Parameters<typeof h.wasm.applyOptimizerF32>) => reference.applyOptimizerF32(h.views, ...args),
} as const;

const RATES = [0, 1e-30, 1e-12, 0.1, 1, 1e10];

/** Gradients that may be nothing, for a weight or for the whole row. */
function gradients(next: () => number, n: number): number[] {
  const none = next() < 0.2;
  return Array.from({ length: n }, () => (none || next() < 0.2 ? 0 : Math.fround((next() - 0.5) * 4)));
}

const rounded = (values: readonly number[]) => values.map(Math.fround);

for (const [name, rule] of Object.entries(RULES) as [keyof typeof OPTIMIZER_NUMBER, Rule][]) {
  for (const [backend, apply] of Object.entries(KERNELS)) {
    t.test(`${name} of ${backend} follows its rule in f64 at any rate, with and without gradients`, async (t) => {
      for (let seed = 0; seed < ROUNDS; seed++) {
        h.scope(() => {
          const next = stream(seed);
          const n = 1 + Math.floor(next() * 9);
          const [initial, flags] = [
            pick(next, 0, 0.1),
            name === 'dynamicWdAdagrad' ? pick(next, 0, 4) : pick(next, 0, 1, 2, 3),
          ];
          const p = rounded(rule.values(next));
          const at = h.alloc(PARAMETER_BLOCK_BYTES);
          h.views.u32[(at + PARAMETER_BLOCK.flags) / 4] = flags;
          h.views.f32.set(p, (at + PARAMETER_BLOCK.values) / 4);
          const state = new Array<number>(rule.floats(n)).fill(Math.fround(initial));
          rule.first?.(state, { p, initial });
          let row: Row = { w: rounded(Array.from({ length: n }, () => (next() < 0.1 ? 0 : next() - 0.5))), state };
          // One rate and 0: sums of ftrl hold the rate they were made with, and go beyond f32 where it leaps.
          const rate = Math.fround(pick(next, ...RATES));
          for (let turn = 0; turn < 4; turn++) {
            const lr = turn > 0 && next() < 0.2 ? 0 : rate;
            const g = gradients(next, n);
            const [wAt, stateAt, gAt] = [h.putF32(row.w), h.putF32(row.state), h.putF32(g)];
            h.views.f32[(at + PARAMETER_BLOCK.rate) / 4] = lr;
            apply(OPTIMIZER_NUMBER[name], wAt, stateAt, gAt, n, at);
            const [w, slots] = [[...h.f32(wAt, n)], [...h.f32(stateAt, row.state.length)]];
            const want = rule.step({ ...row, g, lr, flags, initial, p });
            const where = JSON.stringify({ seed, turn, lr, flags, p, g, w: row.w, state: row.state });
            const bad = w.findIndex((x, i) => !(Math.abs(x - want.w[i]!) <= 2e-5 * want.size[i]! + 1e-30));
            if (bad >= 0) t.fail(`weight ${bad} is ${w[bad]} and not ${want.w[bad]}: ${where}`);
            if (lr === 0 && rule.staysAtZero && w.some((x, i) => x !== row.w[i])) t.fail(`a rate of 0 moves: ${where}`);
            // The next step begins with what the kernel has: errors do not add up.
            if (![...w, ...slots].every(Number.isFinite))
              return void t.fail(`not finite: ${[...w, ...slots]}: ${where}`);
            row = { w, state: slots };
          }
        });
      }
      t.pass(`${ROUNDS} rows`);
    });
  }
}
