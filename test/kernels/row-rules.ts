/** @file Rules of row optimizers in f64, written from docs/tables.md and not from the kernels. */
import type { OPTIMIZER_NUMBER } from '../../src/memory/optimizer-layout.js';

/** A row before or after a step: weights and state, in f64. */
export interface Row {
  readonly w: number[];
  readonly state: number[];
}

export interface Step extends Row {
  readonly g: number[];
  readonly lr: number;
  readonly flags: number;
  readonly initial: number;
  /** The parameters in the order of the block. */
  readonly p: readonly number[];
}

/** A row after a step, and for each weight what it is a sum of: rounding is measured by that. */
export interface Stepped extends Row {
  readonly size: number[];
}

export interface Rule {
  readonly floats: (n: number) => number;
  readonly values: (next: () => number) => number[];
  /** First state, where it is not all 0 or the initial accumulator. */
  readonly first?: (state: number[], step: Pick<Step, 'p' | 'initial'>) => void;
  readonly step: (step: Step) => Stepped;
  /**
   * At a rate of 0 the weights stay; those of momentum go on by what earlier steps gave them, and two have no such
   * rate.
   */
  readonly staysAtZero: boolean;
}

export const squared = (x: readonly number[]) => x.reduce((sum, v) => sum + v * v, 0);
export const pick = (next: () => number, ...from: number[]) => from[Math.floor(next() * from.length)]!;
/** x / y where y is a root: nothing by nothing is nothing. */
export const over = (x: number, y: number) => (x === 0 && y === 0 ? 0 : x / y);

export const adagrad = ({ w, state, g, lr, p, flags }: Step): Stepped => {
  const decoupled = (flags & 4) !== 0;
  const h = g.map((x, i) => x + (decoupled ? 0 : p[0]! * w[i]!));
  const norm = state.map((x, i) => x + h[i]! ** 2);
  const moves = h.map((x, i) => lr * over(x, Math.sqrt(norm[i]!)));
  const shrink = decoupled ? lr * p[0]! : 0;
  return {
    w: w.map((x, i) => x - moves[i]! - shrink * x),
    state: norm,
    size: w.map((x, i) => Math.abs(x) * (1 + shrink) + Math.abs(moves[i]!) + lr * Math.abs(p[0]! * w[i]!)),
  };
};

export const adam =
  (keepsMax: boolean) =>
  (step: Step): Stepped => {
    const { w, state, g, lr, p, flags } = step;
    const n = w.length;
    const [b1, b2, decay, eps] = p as [number, number, number, number];
    const powers = state.slice(-2);
    const rate = (lr * Math.sqrt(1 - powers[1]!)) / (1 - powers[0]!);
    const h = g.map((x, i) => x + decay * w[i]!);
    const m = h.map((x, i) => state[i]! + (x - state[i]!) * (1 - b1));
    const v = h.map((x, i) => state[n + i]! + (x * x - state[n + i]!) * (1 - b2));
    const top = v.map((x, i) => (keepsMax ? Math.max(x, state[2 * n + i]!) : x));
    const direction = m.map((x, i) => ((flags & 1) !== 0 ? h[i]! * (1 - b1) + b1 * x : x));
    const moves = direction.map((x, i) => over(x * rate, Math.sqrt(top[i]!) + eps));
    // Terms that cancel in m leave their rounding.
    const terms = h.map((x, i) => over((Math.abs(x) + 2 * Math.abs(state[i]!)) * rate, Math.sqrt(top[i]!) + eps));
    return {
      w: w.map((x, i) => x - moves[i]!),
      state: [...m, ...v, ...(keepsMax ? top : []), powers[0]! * b1, powers[1]! * b2],
      size: w.map((x, i) => Math.abs(x) + terms[i]!),
    };
  };

export const momentum = ({ w, state, g, lr, p, flags }: Step): Stepped => {
  const [decay, mu] = p as [number, number];
  const dx = g.map((x, i) => lr * (x + decay * w[i]!));
  const after = state.map((x, i) => mu * x - dx[i]!);
  return {
    w: w.map((x, i) => ((flags & 1) !== 0 ? x - mu * state[i]! + (1 + mu) * after[i]! : x + after[i]!)),
    state: after,
    size: w.map((x, i) => Math.abs(x) + 3 * (Math.abs(state[i]!) + lr * (Math.abs(g[i]!) + decay * Math.abs(x)))),
  };
};

export const rmsprop =
  (second: boolean) =>
  (step: Step): Stepped => {
    const { w, state, g, p } = step;
    const [decay, mu, configured] = p as [number, number, number];
    const lr = second ? step.lr : configured;
    const dx = g.map((x, i) => x + decay * w[i]!);
    const after = state.map((x, i) => mu * x + (second ? 1 : 1 - mu) * dx[i]! ** 2);
    const moves = dx.map((x, i) => (lr / (Math.sqrt(after[i]!) + 1)) * x);
    return {
      w: w.map((x, i) => x - moves[i]!),
      state: after,
      size: w.map((x, i) => Math.abs(x) + Math.abs(moves[i]!)),
    };
  };

export const adadelta = ({ w, state, g, lr, p }: Step): Stepped => {
  const n = w.length;
  const [decay, rho, eps] = p as [number, number, number];
  const hs = g.map((x, i) => x + decay * w[i]!);
  const a = hs.map((x, i) => state[i]! * rho + x * x * (1 - rho));
  const u = hs.map((x, i) => over(Math.sqrt(state[n + i]! + eps) * x, Math.sqrt(a[i]! + eps)));
  return {
    w: w.map((x, i) => x - u[i]! * lr),
    state: [...a, ...u.map((x, i) => state[n + i]! * rho + x * x * (1 - rho))],
    size: w.map((x, i) => Math.abs(x) + Math.abs(u[i]! * lr) + decay * Math.abs(x) * lr),
  };
};

export const ftrl = ({ w, state, g, lr, p, flags }: Step): Stepped => {
  const n = w.length;
  const [beta, l1, l2] = p as [number, number, number];
  const norm = g.map((x, i) => state[i]! + x * x);
  if (lr === 0) {
    const z = g.map((x, i) => state[n + i]! + x);
    return { w, state: [...norm, ...z], size: w.map(Math.abs) };
  }
  const pull = norm.map((x, i) => ((Math.sqrt(x) - Math.sqrt(state[i]!)) / lr) * w[i]!);
  const z = g.map((x, i) => state[n + i]! + x - pull[i]!);
  const scale = norm.map((x) => Math.sqrt(x) + beta + l2 * lr);
  const side = (x: number) => ((flags & 2) !== 0 ? (x < 0 ? -1 : 1) : x < 0 ? 1 : 0);
  return {
    w: z.map((x, i) => (Math.abs(x) > l1 ? over(lr * (side(x) * l1 - x), scale[i]!) : 0)),
    state: [...norm, ...z],
    // Roots of sums that are nearly equal cancel; so may the three terms of z.
    size: z.map((_, i) =>
      over(
        lr * (l1 + Math.abs(state[n + i]!) + Math.abs(g[i]!)) + 2 * Math.sqrt(norm[i]!) * Math.abs(w[i]!),
        scale[i]!,
      ),
    ),
  };
};

export const groupFtrl = (step: Step): Stepped => {
  const { w, lr, p } = step;
  const [beta, l1, l2] = p as [number, number, number];
  const plain = ftrl({ ...step, flags: 2, p: [beta, 0, l2] });
  if (lr === 0) return plain;
  const z = plain.state.slice(w.length);
  const c = Math.sqrt(squared(z));
  const factor = c < l1 || c === 0 ? 0 : (c - l1) / c;
  return { ...plain, w: plain.w.map((x) => x * factor), size: plain.size };
};

export const groupAdagrad = ({ w, state, g, lr, p }: Step): Stepped => {
  const [beta, l2, decay] = p as [number, number, number];
  const hs = g.map((x, i) => x + decay * w[i]!);
  const q = state[0]! + Math.max(...hs.map((x) => x * x));
  const root = beta + Math.sqrt(q);
  if (lr === 0 || root === 0) return { w, state: [q], size: w.map(Math.abs) };
  const l = lr / root;
  // The rule times l: the same for any rate, and finite for all.
  const y = hs.map((x, i) => l * x - w[i]!);
  const c = Math.sqrt(squared(y));
  const size = w.map((x, i) => Math.abs(x) + l * Math.abs(hs[i]!) + l * l2);
  if (c < l * l2 || c === 0) return { w: w.map(() => 0), state: [q], size };
  return { w: y.map((x) => (-x * (c - l * l2)) / c), state: [q], size };
};

export const powersFirst: Rule['first'] = (state, { p }) => state.splice(-2, 2, p[0]!, p[1]!);
export const zeros: Rule['first'] = (state) => state.fill(0);
export const ftrlFirst: Rule['first'] = (state) => state.fill(0, state.length / 2);
export const someDecay = (next: () => number) => pick(next, 0, 0.01);
export const ftrlValues = (next: () => number) => [pick(next, 0, 1), pick(next, 0, 0.01), pick(next, 0, 0.1)];
export const betas = (next: () => number) => [0.9, 0.99, someDecay(next), pick(next, 0, 1e-8, 0.01)];
export const adamRule = (keepsMax: boolean): Rule => ({
  floats: (n) => (keepsMax ? 3 : 2) * n + 2,
  values: betas,
  first: (state, step) => {
    state.fill(0);
    powersFirst(state, step);
  },
  step: adam(keepsMax),
  staysAtZero: true,
});

export const RULES: Readonly<Partial<Record<keyof typeof OPTIMIZER_NUMBER, Rule>>> = {
  sgd: {
    floats: () => 0,
    values: () => [],
    step: ({ w, g, lr, state }) => ({
      w: w.map((x, i) => x - lr * g[i]!),
      state,
      size: w.map((x, i) => Math.abs(x) + lr * Math.abs(g[i]!)),
    }),
    staysAtZero: true,
  },
  movingAverage: {
    floats: () => 0,
    values: (next) => [pick(next, 0, 0.5, 0.9)],
    step: ({ w, g, state, p }) => ({
      w: w.map((x, i) => p[0]! * x + (1 - p[0]!) * g[i]!),
      state,
      size: w.map((x, i) => Math.abs(x) + Math.abs(g[i]!)),
    }),
    staysAtZero: false,
  },
  adagrad: { floats: (n) => n, values: (next) => [someDecay(next)], step: adagrad, staysAtZero: true },
  dynamicWdAdagrad: { floats: (n) => n, values: (next) => [someDecay(next)], step: adagrad, staysAtZero: true },
  momentum: {
    floats: (n) => n,
    values: (next) => [someDecay(next), 0.9],
    first: zeros,
    step: momentum,
    staysAtZero: false,
  },
  rmsprop: {
    floats: (n) => n,
    values: (next) => [someDecay(next), 0.9, 0.1],
    first: zeros,
    step: rmsprop(false),
    staysAtZero: false,
  },
  rmspropv2: {
    floats: (n) => n,
    values: (next) => [someDecay(next), 0.9],
    first: zeros,
    step: rmsprop(true),
    staysAtZero: true,
  },
  adadelta: {
    floats: (n) => 2 * n,
    values: (next) => [someDecay(next), 0.9, pick(next, 0, 0.01)],
    first: zeros,
    step: adadelta,
    staysAtZero: true,
  },
  adam: adamRule(false),
  amsgrad: adamRule(true),
  ftrl: { floats: (n) => 2 * n, values: ftrlValues, first: ftrlFirst, step: ftrl, staysAtZero: true },
  groupFtrl: { floats: (n) => 2 * n, values: ftrlValues, first: ftrlFirst, step: groupFtrl, staysAtZero: true },
  groupAdagrad: {
    floats: () => 1,
    values: (next) => [pick(next, 0, 1), pick(next, 0, 0.01), someDecay(next)],
    step: groupAdagrad,
    staysAtZero: true,
  },
};
