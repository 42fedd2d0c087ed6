import t from 'tap';
import * as ml from '../../../src/index.js';

const near = (found: number, wanted: number) => Math.abs(found - wanted) < 1e-12;
const at = (rate: ml.schedules.LearningRateFunction, ...steps: number[]) => steps.map((step) => rate.call(step));

t.test('schedules give the rates of tf.train', async (t) => {
  const decay = { initialLearningRate: 0.1, decaySteps: 10, decayRate: 0.5 };
  const cases: [ml.schedules.LearningRateFunction, [number, number][]][] = [
    [
      ml.schedules.constant(0.3),
      [
        [0, 0.3],
        [99, 0.3],
      ],
    ],
    [
      ml.schedules.exponentialDecay(decay),
      [
        [0, 0.1],
        [5, 0.1 * Math.SQRT1_2],
        [20, 0.025],
      ],
    ],
    [
      ml.schedules.exponentialDecay({ ...decay, staircase: true }),
      [
        [9, 0.1],
        [10, 0.05],
        [29, 0.025],
      ],
    ],
    [
      ml.schedules.inverseTimeDecay(decay),
      [
        [0, 0.1],
        [10, 0.1 / 1.5],
        [20, 0.05],
      ],
    ],
    [
      ml.schedules.inverseTimeDecay({ ...decay, staircase: true }),
      [
        [9, 0.1],
        [19, 0.1 / 1.5],
      ],
    ],
    [
      ml.schedules.piecewiseConstantDecay([10, 20], [1, 0.5, 0.1]),
      [
        [0, 1],
        [10, 1],
        [11, 0.5],
        [20, 0.5],
        [21, 0.1],
      ],
    ],
    [
      ml.schedules.cosineDecay({ initialLearningRate: 1, decaySteps: 10 }),
      [
        [0, 1],
        [5, 0.5],
        [10, 0],
        [30, 0],
      ],
    ],
    [
      ml.schedules.cosineDecay({ initialLearningRate: 1, decaySteps: 10, alpha: 0.2 }),
      [
        [5, 0.6],
        [10, 0.2],
      ],
    ],
    [
      ml.schedules.cosineDecayRestarts({ initialLearningRate: 1, firstDecaySteps: 10, mMul: 0.5 }),
      // Periods begin at 0, 10, 30, 70.
      [
        [0, 1],
        [5, 0.5],
        [10, 0.5],
        [20, 0.25],
        [30, 0.25],
        [50, 0.125],
        [70, 0.125],
      ],
    ],
    [
      ml.schedules.cosineDecayRestarts({ initialLearningRate: 1, firstDecaySteps: 4, tMul: 1, mMul: 0.5 }),
      [
        [2, 0.5],
        [4, 0.5],
        [6, 0.25],
        [8, 0.25],
      ],
    ],
    [
      ml.schedules.warmup({ warmupSteps: 4, after: 0.4 }),
      [
        [0, 0],
        [1, 0.1],
        [4, 0.4],
        [9, 0.4],
      ],
    ],
    [
      ml.schedules.warmup({ warmupSteps: 10, after: ml.schedules.exponentialDecay(decay), initialLearningRate: 0.01 }),
      [
        [0, 0.01],
        [5, 0.03],
        [10, 0.05],
        [20, 0.025],
      ],
    ],
  ];
  for (const [rate, points] of cases) {
    for (const [step, wanted] of points) t.ok(near(rate.call(step), wanted), `${rate} at ${step}`, { wanted });
  }
});

t.test('schedules print their parameters, by which equal ones are found', async (t) => {
  const warmup = ml.schedules.warmup({ warmupSteps: 4, after: ml.schedules.constant(1) });
  t.equal(
    `${warmup}`,
    'LearningRateFunction("Warmup",Params:after=LearningRateFunction("ConstantRate",Params:learning_rate=1.0),' +
      'initial_learning_rate=0.0,warmup_steps=4)',
  );
  const pieces = ml.schedules.piecewiseConstantDecay([5], [1, 0.5]);
  t.equal(`${pieces}`, 'LearningRateFunction("PiecewiseConstantDecay",Params:boundaries=[5],values=[1.0, 0.5])');
});

t.test('a table follows the same schedules', async (t) => {
  const learningRate = ml.schedules.exponentialDecay({ initialLearningRate: 1, decaySteps: 1, decayRate: 0.5 });
  const segment = { dim: 1, initializer: ml.sparse.zeros(), optimizer: ml.sparse.sgd(), learningRate };
  const memory = await ml.tables.TableMemory.create({ budgetBytes: 1 << 20 });
  const table = ml.tables.HashTable.create(memory, ml.defineTable('t', [segment]));
  const ids = BigInt64Array.of(1n);
  for (const globalStep of [0, 1, 2]) table.optimize(ids, Float32Array.of(-1), { globalStep });
  t.same([...table.lookup(ids)], [1.75]);
});

t.test('schedules that cannot be are refused', async (t) => {
  const decay = { initialLearningRate: 1, decaySteps: 0, decayRate: 1 };
  for (const make of [
    () => ml.schedules.exponentialDecay(decay),
    () => ml.schedules.cosineDecay({ initialLearningRate: 1, decaySteps: 0 }),
    () => ml.schedules.cosineDecayRestarts({ initialLearningRate: 1, firstDecaySteps: 1, tMul: 0.5 }),
    () => ml.schedules.piecewiseConstantDecay([1], [1]),
    () => ml.schedules.piecewiseConstantDecay([2, 1], [1, 1, 1]),
    () => ml.schedules.warmup({ warmupSteps: 0, after: 1 }),
    () => ml.schedules.warmup({ warmupSteps: 1, after: 'fast' as unknown as number }),
  ]) {
    t.throws(make, { code: 'ML_RATE' });
  }
  t.same(at(ml.schedules.constant(2), 1, 2), [2, 2]);
});
