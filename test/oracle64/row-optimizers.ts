/**
 * @file Steps of rows, after the formulas and defaults of the specification of tables. State is in the order of memory.
 *
 * L is the weight decay, h the gradient with it. Right-hand sides use old values unless they are marked with a 1.
 */
import { add, type Bounded, choose, div, exact, less, max, mul, neg, sqrt, square, sub } from './bounded.js';
import {
  byComponent,
  decayed,
  fill,
  type Make,
  norm,
  ONE,
  type Options,
  reader,
  type Vector,
  ZERO,
} from './row-rule.js';

const adagrad: Make = (options) => {
  const read = reader(options, { initialAccumulatorValue: 0.1, weightDecayFactor: 0 });
  return byComponent({
    initial: [read('initialAccumulatorValue')],
    step: (w, [n], g, eta) => {
      const h = decayed(g, read('weightDecayFactor'), w);
      const n1 = add(n!, square(h));
      return [sub(w, mul(div(eta, sqrt(n1)), h)), n1];
    },
  });
};

const dynamicWdAdagrad: Make = (options) => {
  const read = reader(options, { initialAccumulatorValue: 0.1, weightDecayFactor: 0 });
  const [decay, apart] = [read('weightDecayFactor'), options.decoupleWeightDecay === true];
  return byComponent({
    initial: [read('initialAccumulatorValue')],
    step: (w, [n], g, eta) => {
      const h = apart ? g : decayed(g, decay, w);
      const n1 = add(n!, square(h));
      const moved = sub(w, mul(div(eta, sqrt(n1)), h));
      return [apart ? sub(moved, mul(mul(eta, decay), w)) : moved, n1];
    },
  });
};

const isZero = ({ v, e }: Bounded): boolean => v === 0 && e === 0;

/** s = (sqrt(n') - sqrt(n)) / eta, and z' = z + (g - s * w). At rate zero weights stay, and sums take the gradient. */
export function ftrlMoments(w: Bounded, n: Bounded, z: Bounded, g: Bounded, eta: Bounded): [Bounded, Bounded] {
  const n1 = add(n, square(g));
  if (isZero(eta)) return [n1, add(z, g)];
  const s = div(sub(sqrt(n1), sqrt(n)), eta);
  return [n1, add(z, sub(g, mul(s, w)))];
}

function ftrlOptions(options: Options, beta: number, initialAccumulatorValue: number) {
  const strengths = { l1RegularizationStrength: 0, l2RegularizationStrength: 0 };
  const read = reader(options, { beta, initialAccumulatorValue, ...strengths });
  const [l1, l2] = [read('l1RegularizationStrength'), read('l2RegularizationStrength')];
  return { first: read('initialAccumulatorValue'), beta: read('beta'), l1, l2 };
}

const ftrl: Make = (options) => {
  const { first, beta, l1, l2 } = ftrlOptions(options, 0, 0.1);
  return byComponent({
    initial: [first, ZERO],
    step: (w, [n, z], g, eta) => {
      const [n1, z1] = ftrlMoments(w, n!, z!, g, eta);
      if (isZero(eta)) return [w, n1, z1];
      const isNegative = less(z1, ZERO);
      const size = choose(isNegative, neg(z1), z1);
      const pushed = choose(isNegative, l1, ZERO);
      const below = add(add(sqrt(n1), beta), mul(l2, eta));
      return [choose(less(l1, size), div(mul(eta, sub(pushed, z1)), below), ZERO), n1, z1];
    },
  });
};

const groupFtrl: Make = (options) => {
  const { first, beta, l1, l2 } = ftrlOptions(options, 1, 0);
  return {
    initial: (dim) => [...fill(dim, first), ...fill(dim, ZERO)],
    step: ({ w, state, g, eta }) => {
      const dim = w.length;
      const moments = w.map((weight, c) => ftrlMoments(weight, state[c]!, state[dim + c]!, g[c]!, eta));
      const c = norm(moments.map(([, z]) => z));
      const isSmall = isZero(c) ? true : less(c, l1);
      const next = moments.map(([n, z], i) => {
        if (isZero(eta)) return w[i]!;
        const below = add(add(beta, sqrt(n)), mul(l2, eta));
        return choose(isSmall, ZERO, isSmall ? ZERO : div(mul(mul(eta, z), div(sub(l1, c), c)), below));
      });
      return { w: next, state: [...moments.map(([n]) => n), ...moments.map(([, z]) => z)] };
    },
  };
};

const adadelta: Make = (options) => {
  const read = reader(options, { weightDecayFactor: 0, averagingRatio: 0.9, epsilon: 0.01 });
  const [rho, eps] = [read('averagingRatio'), read('epsilon')];
  const mix = (old: Bounded, now: Bounded) => add(mul(old, rho), mul(square(now), sub(ONE, rho)));
  return byComponent({
    initial: [ZERO, ZERO],
    step: (w, [a, u], g, eta) => {
      const h = decayed(g, read('weightDecayFactor'), w);
      const a1 = mix(a!, h);
      const by = mul(div(sqrt(add(u!, eps)), sqrt(add(a1, eps))), h);
      return [sub(w, mul(by, eta)), a1, mix(u!, by)];
    },
  });
};

export interface AdamState {
  readonly w: Bounded;
  readonly m: Bounded;
  readonly v: Bounded;
  /** The largest v so far, where the rule keeps it. */
  readonly most?: Bounded | undefined;
  readonly g: Bounded;
  readonly eta: Bounded;
  /** Powers of the betas. */
  readonly powers: Vector;
}

/** The step of one component, for rows and for variables: the new weight, m, v and, where it is kept, the largest v. */
export function adamStep(options: Options, defaults: Options) {
  const read = reader(options, { beta1: 0.9, weightDecayFactor: 0, ...defaults });
  const [beta1, beta2, eps] = [read('beta1'), read('beta2'), read('epsilon')];
  const step = ({ w, m, v, most, g, eta, powers: [p1, p2] }: AdamState): readonly [Bounded, ...Bounded[]] => {
    const rate = div(mul(eta, sqrt(sub(ONE, p2!))), sub(ONE, p1!));
    const h = decayed(g, read('weightDecayFactor'), w);
    const m1 = add(m, mul(sub(h, m), sub(ONE, beta1)));
    const v1 = add(v, mul(sub(square(h), v), sub(ONE, beta2)));
    const ahead = options.useNesterov === true ? add(mul(h, sub(ONE, beta1)), mul(beta1, m1)) : m1;
    const most1 = most && max(most, v1);
    const next = sub(w, div(mul(ahead, rate), add(sqrt(most1 ?? v1), eps)));
    return most1 ? [next, m1, v1, most1] : [next, m1, v1];
  };
  return { betas: [beta1, beta2] as const, step };
}

const adamLike =
  (hasLargest: boolean): Make =>
  (options) => {
    const { betas, step } = adamStep(options, { beta2: 0.99, epsilon: 0.01 });
    return byComponent({
      initial: hasLargest ? [ZERO, ZERO, ZERO] : [ZERO, ZERO],
      shared: betas,
      advance: (powers) => powers.map((power, i) => mul(power, betas[i]!)),
      step: (w, [m, v, most], g, eta, powers) => step({ w, m: m!, v: v!, most, g, eta, powers }),
    });
  };

const momentum: Make = (options) => {
  const read = reader(options, { weightDecayFactor: 0, momentum: 0.9 });
  const mu = read('momentum');
  return byComponent({
    initial: [ZERO],
    step: (w, [n], g, eta) => {
      const dx = mul(eta, decayed(g, read('weightDecayFactor'), w));
      const n1 = sub(mul(mu, n!), dx);
      if (options.useNesterov !== true) return [add(w, n1), n1];
      return [add(sub(w, mul(mu, n!)), mul(add(ONE, mu), n1)), n1];
    },
  });
};

/** The first version steps by the configured rate, whatever the schedule says. */
const rmspropLike =
  (version: 1 | 2): Make =>
  (options) => {
    const read = reader(options, { weightDecayFactor: 0, momentum: 0.9, learningRate: 0.01 });
    const mu = read('momentum');
    return byComponent({
      initial: [ZERO],
      step: (w, [n], g, eta) => {
        const dx = decayed(g, read('weightDecayFactor'), w);
        const share = version === 1 ? mul(sub(ONE, mu), square(dx)) : square(dx);
        const n1 = add(mul(mu, n!), share);
        const rate = version === 1 ? read('learningRate') : eta;
        return [sub(w, mul(div(rate, add(sqrt(n1), ONE)), dx)), n1];
      },
    });
  };

const groupAdagrad: Make = (options) => {
  const read = reader(options, {
    beta: 0,
    initialAccumulatorValue: 0.1,
    l2RegularizationStrength: 0,
    weightDecayFactor: 0,
  });
  const l2 = read('l2RegularizationStrength');
  return {
    initial: () => [read('initialAccumulatorValue')],
    step: ({ w, state, g, eta }) => {
      const h = w.map((weight, c) => decayed(g[c]!, read('weightDecayFactor'), weight));
      const q1 = add(state[0]!, h.map(square).reduce(max));
      if (isZero(eta)) return { w, state: [q1] };
      const l = div(eta, add(read('beta'), sqrt(q1)));
      const z = h.map((one, c) => sub(one, div(w[c]!, l)));
      const c = norm(z);
      const isSmall = isZero(c) ? true : less(c, l2);
      const shrunk = isSmall ? ZERO : mul(l, div(sub(c, l2), c));
      return { w: z.map((one) => choose(isSmall, ZERO, neg(mul(shrunk, one)))), state: [q1] };
    },
  };
};

export const ROW_RULES: Readonly<Record<string, Make>> = {
  sgd: () => byComponent({ initial: [], step: (w, _, g, eta) => [sub(w, mul(eta, g))] }),
  adagrad,
  dynamicWdAdagrad,
  ftrl,
  groupFtrl,
  adadelta,
  adam: adamLike(false),
  amsgrad: adamLike(true),
  momentum,
  movingAverage: (options) => {
    const mu = reader(options, { momentum: 0.9 })('momentum');
    return byComponent({ initial: [], step: (w, _, g) => [add(mul(mu, w), mul(sub(ONE, mu), g))] });
  },
  rmsprop: rmspropLike(1),
  rmspropv2: rmspropLike(2),
  groupAdagrad,
  /** Its state is the step an id was seen at last, a whole number; gradients do not count. */
  batchSoftmax: () => ({
    initial: () => [ZERO],
    step: ({ w, state, eta, globalStep }) => {
      const since = sub(exact(globalStep), state[0]!);
      return { w: w.map((one) => add(mul(sub(ONE, eta), one), mul(eta, since))), state: [exact(globalStep)] };
    },
  }),
};
