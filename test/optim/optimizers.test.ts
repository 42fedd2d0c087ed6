import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ExponentialDecay } from '../../src/base/rates/schedules.js';
import { loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import {
  AdagradOptimizer,
  AdamOptimizer,
  AdamomOptimizer,
  FtrlOptimizer,
  GradientDescentOptimizer,
  MomentumOptimizer,
  RmspropOptimizer,
  ShampooOptimizer,
} from '../../src/compat/optimizers.js';
import { clipByNorm } from '../../src/graph/ops/clip.js';
import { VARIABLES } from '../../src/graph/ops/state.js';
import type { MinimizeOptions, Optimizer } from '../../src/optim/optimizer.js';
import type { Session } from '../../src/runtime/session/session.js';
import { BACKENDS, openSession } from '../runtime/with-session.js';
import { fedModel, feedOf, trainFed } from './one-step.js';

type State = { w: number; [slot: string]: number };
interface Case {
  readonly make: () => Optimizer;
  /** Slots by what their names end in, with the names `rule` knows them by. */
  readonly slots: Readonly<Record<string, string>>;
  /** The rule in f64, for one weight at a step that `done` came before. */
  readonly rule: (state: State, g: number, done: number) => void;
  readonly initial?: Readonly<Record<string, number>>;
}

const schedule = new ExponentialDecay({ initialLearningRate: 0.2, decaySteps: 3, decayRate: 0.5 });

const CASES: Readonly<Record<string, Case>> = {
  sgd: {
    make: () => new GradientDescentOptimizer({ learningRate: schedule }),
    slots: {},
    rule: (s, g, done) => {
      s.w -= 0.2 * 0.5 ** (done / 3) * g;
    },
  },
  momentum: {
    make: () => new MomentumOptimizer({ learningRate: schedule, momentum: 0.9 }),
    slots: { '/Momentum': 'a' },
    rule: (s, g, done) => {
      s.a = 0.9 * s.a! + g;
      s.w -= 0.2 * 0.5 ** (done / 3) * s.a;
    },
  },
  'momentum of Nesterov': {
    make: () => new MomentumOptimizer({ learningRate: 0.1, momentum: 0.9, useNesterov: true }),
    slots: { '/Momentum': 'a' },
    rule: (s, g) => {
      s.a = 0.9 * s.a! + g;
      s.w -= 0.1 * (g + 0.9 * s.a);
    },
  },
  adagrad: {
    make: () => new AdagradOptimizer({ learningRate: 0.3 }),
    slots: { '/Adagrad': 'n' },
    initial: { n: 0.1 },
    rule: (s, g) => {
      s.n! += g * g;
      s.w -= (0.3 * g) / Math.sqrt(s.n!);
    },
  },
  ftrl: {
    make: () =>
      new FtrlOptimizer({
        learningRate: 0.2,
        beta: 0.5,
        l1RegularizationStrength: 0.01,
        l2RegularizationStrength: 0.05,
      }),
    slots: { '/Ftrl': 'n', '/Ftrl_1': 'z' },
    initial: { n: 0.1 },
    rule: (s, g) => {
      const n = s.n! + g * g;
      s.z! += g - ((Math.sqrt(n) - Math.sqrt(s.n!)) / 0.2) * s.w;
      s.n = n;
      const quadratic = (Math.sqrt(n) + 0.5) / 0.2 + 2 * 0.05;
      s.w = Math.abs(s.z!) > 0.01 ? (Math.sign(s.z!) * 0.01 - s.z!) / quadratic : 0;
    },
  },
  adam: {
    make: () => new AdamOptimizer({ learningRate: 0.05 }),
    slots: { '/Adam': 'm', '/Adam_1': 'v' },
    rule: (s, g, done) => {
      const rate = (0.05 * Math.sqrt(1 - 0.999 ** (done + 1))) / (1 - 0.9 ** (done + 1));
      s.m = 0.9 * s.m! + 0.1 * g;
      s.v = 0.999 * s.v! + 0.001 * g * g;
      s.w -= (rate * s.m) / (Math.sqrt(s.v) + 1e-8);
    },
  },
  adamom: {
    make: () => new AdamomOptimizer({ learningRate: 0.1, weightDecay: 0.01, adaDecay: 0.99, momDecay: 0.9 }),
    slots: { '/Adamom/m': 'm', '/Adamom/v': 'v', '/Adamom/c': 'c' },
    rule: (s, g) => {
      const gradient = 0.01 * s.w + g;
      s.m = 0.9 * s.m! + 0.1 * gradient;
      s.v = 0.99 * s.v! + gradient ** 2;
      s.c = 0.99 * s.c! + 1;
      s.w -= (s.m * 0.1) / Math.sqrt(s.v / s.c + 1e-6);
    },
  },
  rmsprop: {
    make: () => new RmspropOptimizer({ learningRate: 0.1, weightDecay: 0.1, beta1: 0.9, beta2: 0.9, epsilon: 0.1 }),
    slots: { '/Rmsprop/m': 'm', '/Rmsprop/v': 'v' },
    rule: (s, g) => {
      const gradient = 0.1 * s.w + g;
      s.v! += (gradient ** 2 - s.v!) * 0.1;
      s.m = 0.9 * s.m! + (gradient * 0.1) / Math.sqrt(s.v! + 0.1);
      s.w -= s.m;
    },
  },
  'rmsprop v2': {
    make: () => new RmspropOptimizer({ learningRate: 0.1, beta1: 0.9, beta2: 0.9, epsilon: 0.1, useV2: true }),
    slots: { '/Rmsprop/m': 'm', '/Rmsprop/v': 'v' },
    rule: (s, g) => {
      s.v = 0.9 * s.v! + g * g;
      s.m = 0.9 * s.m! + (g * 0.1) / (Math.sqrt(s.v) + 0.1);
      s.w -= s.m;
    },
  },
};

const SIZE = [7, 5, 6] as const;
const [ROWS, COLUMNS, STEPS] = SIZE;

/** The weights and slots after all steps, by the rule. */
function ruled({ slots, rule, initial = {} }: Case): State[] {
  const zeros = Object.fromEntries(Object.values(slots).map((slot) => [slot, 0]));
  const states = Array.from({ length: ROWS * COLUMNS }, (_, i): State => ({ ...zeros, ...initial, w: Math.cos(i) }));
  for (let step = 0; step < STEPS; step++) {
    const { gradient } = feedOf(ROWS, COLUMNS, step);
    states.forEach((state, i) => {
      rule(state, gradient[i]!, step);
    });
  }
  return states;
}

const made = (cases: Readonly<Record<string, () => Optimizer>>) =>
  Object.fromEntries(Object.entries(cases).map(([name, make]) => [name, make()]));
const MAKERS = Object.fromEntries(Object.entries(CASES).map(([name, { make }]) => [name, make]));

for (const backend of BACKENDS) {
  t.test(`every optimizer follows its rule, with its slots by TensorFlow's names: ${backend}`, async (t) => {
    const model = fedModel(SIZE, made(MAKERS));
    await trainFed(model, SIZE, { backend, threads: backend === 'wasm' ? 3 : 2 }, (session) => {
      for (const [name, one] of Object.entries(CASES)) {
        const states = ruled(one);
        for (const [suffix, key] of [['', 'w'] as const, ...Object.entries(one.slots)]) {
          const found = [...(session.readVariable(`${name}${suffix}`) as Float32Array)];
          const wrong = found.findIndex((x, i) => !(Math.abs(x - states[i]![key]!) <= 2e-5 * (1 + Math.abs(x))));
          t.equal(wrong, -1, `${name}${suffix}`, { found: found[wrong], wanted: states[wrong]?.[key] });
        }
      }
      t.equal(session.globalStep, STEPS);
    });
  });
}

const ALL: Readonly<Record<string, () => Optimizer>> = {
  ...MAKERS,
  shampoo: () => new ShampooOptimizer({ warmup: 2, tau1: 2, tau2: 1, eigenHead: 2, eigenTail: 2 }),
};

const allOf = (session: Session) =>
  Object.fromEntries(session.variableNames.map((name) => [name, session.readVariable(name).slice()]));

t.test('the bits do not depend on the number of threads', async (t) => {
  const size = [40, 33, 5] as const;
  const clip: MinimizeOptions['clip'] = (pairs) => pairs.map(([g, w]) => [g && clipByNorm(g, 0.5), w]);
  const run = (threads: number) =>
    trainFed(fedModel(size, made(ALL), { clip }), size, { threads, deterministic: true }, allOf);
  t.same(await run(1), await run(3));
});

t.test('a restored session goes on as the saved one, whatever the optimizer', async (t) => {
  const modelDir = mkdtempSync(join(tmpdir(), 'optimizers-'));
  t.teardown(() => rmSync(modelDir, { recursive: true }));
  const open = async () => {
    const model = fedModel(SIZE, made(ALL));
    return { model, session: await openSession(model.graph, { threads: 2 }) };
  };
  const [first, second] = [await open(), await open()];
  const step = ({ model, session }: typeof first, at: number) =>
    session.run([model.train], feedOf(ROWS, COLUMNS, at).feeds);
  for (let at = 0; at < 5; at++) await step(first, at);
  const { path } = await saveCheckpoint(modelDir, snapshotSession(first.session, 'm'));
  await restoreSession(second.session, await loadCheckpoint(path));
  t.same(allOf(second.session), allOf(first.session), 'restored is saved');
  for (let at = 5; at < 8; at++) for (const one of [first, second]) await step(one, at);
  t.same(allOf(second.session), allOf(first.session), 'both go on alike');
  await Promise.all([first.session.close(), second.session.close()]);
});

t.test('adam has one pair of powers for all variables, and shampoo slots of every axis', async (t) => {
  const names = (optimizer: Optimizer) =>
    fedModel([3, 2], { w: optimizer })
      .graph.getCollection(VARIABLES)
      .map((tensor) => tensor.op.name);
  t.same(names(new AdamOptimizer()), ['w', 'beta1_power', 'beta2_power', 'w/Adam', 'w/Adam_1', 'global_step']);
  const shampoo = new ShampooOptimizer({ eigenHead: 1, eigenTail: 1 });
  const model = fedModel([3, 2], { w: shampoo });
  const w = model.variables.get('w')!;
  const shapes = Object.fromEntries(model.graph.getCollection(VARIABLES).map(({ op, spec }) => [op.name, spec.shape]));
  t.same(shapes, {
    w: [3, 2],
    global_step: [],
    'w/Shampoo/s0': [3, 3],
    'w/Shampoo/g0': [3, 3],
    'w/Shampoo/pvec0': [3, 2],
    'w/Shampoo/pval0': [2],
    'w/Shampoo/o0': [],
    'w/Shampoo/s1': [2, 2],
    'w/Shampoo/g1': [2, 2],
    'w/Shampoo/pvec1': [2, 2],
    'w/Shampoo/pval1': [2],
    'w/Shampoo/o1': [],
    'w/Shampoo/d': [3, 2],
    'w/Shampoo/m': [3, 2],
    'w/Shampoo/pm': [3, 2],
  });
  t.equal(shampoo.getSlot(w, 'pval1')?.op.name, 'w/Shampoo/pval1');
  t.equal(shampoo.getSlot(w, 'none'), undefined);
  t.same(new AdamOptimizer().getSlotNames(), []);
  t.same(shampoo.getSlotNames(), [
    'd',
    'g0',
    'g1',
    'm',
    'o0',
    'o1',
    'pm',
    'pval0',
    'pval1',
    'pvec0',
    'pvec1',
    's0',
    's1',
  ]);
});

t.test('an option that is not a number is refused before it gets into weights', async (t) => {
  const options = { learningRate: 0.1 } as ConstructorParameters<typeof MomentumOptimizer>[0];
  t.throws(() => new MomentumOptimizer(options), { code: 'ML_FLAG', message: /Momentum: .* undefined/ });
  t.throws(() => new AdamOptimizer({ beta1: Number.NaN }), { code: 'ML_FLAG', message: /NaN/ });
});
