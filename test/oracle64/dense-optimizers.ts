/**
 * @file Steps of dense variables: those of Monolith after its specification, those of TensorFlow after its formulas.
 */
import { add, type Bounded, choose, div, exact, less, mul, neg, rounded, sqrt, square, sub } from './bounded.js';
import { adamStep, ftrlMoments, ROW_RULES } from './row-optimizers.js';

export interface DenseStep {
  readonly w: Bounded;
  readonly slots: readonly Bounded[];
  readonly g: Bounded;
  readonly eta: Bounded;
  /** Steps done so far. */
  readonly steps: number;
}
/** A rule by component. `slots` are asked for by these names. */
export interface DenseRule {
  readonly slots: readonly string[];
  readonly initial: readonly number[];
  /** The new weight, then the new slots. */
  step(step: DenseStep): readonly Bounded[];
}
export type DenseOptions = Readonly<Record<string, number | boolean>>;

const ONE = exact(1);
const ZERO = exact(0);
const read = (options: DenseOptions, key: string, fallback: number) => rounded(Number(options[key] ?? fallback));

/** The rule of a table's rows for one component, with the slots of TensorFlow. */
function likeRows(name: string, slots: readonly string[], options: DenseOptions): DenseRule {
  const rule = ROW_RULES[name]!(options);
  return {
    slots,
    initial: rule.initial(1).map(({ v }) => v),
    step: ({ w, slots: state, g, eta, steps }) => {
      const next = rule.step({ w: [w], state, g: [g], eta, globalStep: steps });
      return [...next.w, ...next.state];
    },
  };
}

/** The power of a beta that `steps` products have made. */
function power(beta: Bounded, steps: number): Bounded {
  let result = beta;
  for (let i = 0; i < steps; i++) result = mul(result, beta);
  return result;
}

function adam(options: DenseOptions, defaults: DenseOptions): DenseRule {
  const { betas, step } = adamStep(options, defaults);
  return {
    slots: ['m', 'v'],
    initial: [0, 0],
    step: ({ w, slots: [m, v], g, eta, steps }) =>
      step({ w, m: m!, v: v!, g, eta, powers: betas.map((beta) => power(beta, steps)) }),
  };
}

export const DENSE_RULES: Readonly<Record<string, (options: DenseOptions) => DenseRule>> = {
  GradientDescent: () => ({ slots: [], initial: [], step: ({ w, g, eta }) => [sub(w, mul(eta, g))] }),
  Momentum: (options) => ({
    slots: ['momentum'],
    initial: [0],
    step: ({ w, slots: [old], g, eta }) => {
      const mu = read(options, 'momentum', 0.9);
      const now = add(mul(mu, old!), g);
      return [sub(w, mul(eta, options.useNesterov === true ? add(g, mul(mu, now)) : now)), now];
    },
  }),
  Adagrad: (options) => likeRows('adagrad', ['accumulator'], options),
  Adam: (options) => adam(options, { beta2: 0.999, epsilon: 1e-8 }),
  Ftrl: (options) => ({
    slots: ['accum', 'linear'],
    initial: [Number(options.initialAccumulatorValue ?? 0.1), 0],
    step: ({ w, slots: [n, z], g, eta }) => {
      const [l1, l2] = [read(options, 'l1RegularizationStrength', 0), read(options, 'l2RegularizationStrength', 0)];
      const [n1, z1] = ftrlMoments(w, n!, z!, g, eta);
      if (eta.v === 0) return [w, n1, z1];
      const isNegative = less(z1, ZERO);
      const size = choose(isNegative, neg(z1), z1);
      const signed = choose(isNegative, neg(l1), l1);
      const curvature = add(div(add(read(options, 'beta', 0), sqrt(n1)), eta), mul(exact(2), l2));
      return [choose(less(l1, size), div(sub(signed, z1), curvature), ZERO), n1, z1];
    },
  }),
  Adamom: (options) => ({
    slots: ['m', 'v', 'c'],
    initial: [0, 0, 0],
    step: ({ w, slots: [m, v, c], g, eta }) => {
      const [ada, mom] = [read(options, 'adaDecay', 0.9999), read(options, 'momDecay', 0.99)];
      const epsilon = read(options, 'epsilon', 1e-6);
      const h = add(mul(read(options, 'weightDecay', 0), w), g);
      const m1 = add(mul(mom, m!), mul(sub(ONE, mom), h));
      const v1 = add(mul(ada, v!), square(h));
      const c1 = add(mul(ada, c!), ONE);
      const root = options.useV2 === true ? add(sqrt(div(v1, c1)), epsilon) : sqrt(add(div(v1, c1), epsilon));
      return [sub(w, div(mul(m1, eta), root)), m1, v1, c1];
    },
  }),
  Rmsprop: (options) => ({
    slots: ['m', 'v'],
    initial: [0, 0],
    step: ({ w, slots: [m, v], g, eta }) => {
      if (options.updateSlots === false) return [w, m!, v!];
      const [beta1, beta2] = [read(options, 'beta1', 0.99), read(options, 'beta2', 0.999)];
      const epsilon = read(options, 'epsilon', 1e-8);
      const h = add(mul(read(options, 'weightDecay', 0), w), g);
      const isSecond = options.useV2 === true;
      const v1 = isSecond ? add(mul(beta2, v!), square(h)) : add(v!, mul(sub(square(h), v!), sub(ONE, beta2)));
      const root = isSecond ? add(sqrt(v1), epsilon) : sqrt(add(v1, epsilon));
      const m1 = add(mul(beta1, m!), div(mul(h, eta), root));
      return [sub(w, m1), m1, v1];
    },
  }),
  /** Configs of tables for variables. */
  'rows sgd': (options) => likeRows('sgd', [], options),
  'rows adagrad': (options) => likeRows('adagrad', ['accumulator'], options),
  'rows ftrl': (options) => likeRows('ftrl', ['accum', 'linear'], options),
  'rows adam': (options) => adam(options, { beta2: 0.99, epsilon: 0.01 }),
};
