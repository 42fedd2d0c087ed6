import fc from 'fast-check';
import t from 'tap';
import { LearningRateFunction, printRate, rateAt } from '../../src/base/rates/rate.js';
import { PolynomialDecay } from '../../src/base/rates/schedules.js';
import { ratesAt, resolveRate } from '../../src/base/rates/segment-rates.js';
import { decodeMessage, encodeMessage, type Fields, type Message, printMessage } from '../../src/io/message.js';
import {
  type EmbeddingHashTableConfig,
  EmbeddingHashTableConfigMessage,
  MultiEmbeddingHashTableConfigMessage,
  OPTIMIZER_MESSAGES,
  OptimizerConfigMessage,
  type OptimizerMessage,
} from '../../src/sparse/config/config-messages.js';
import { planOptimizer, stepError } from '../../src/sparse/config/optimizer-plan.js';
import * as constructors from '../../src/sparse/config/optimizers.js';
import {
  checkTableConfig,
  mergedTableNames,
  mergeSegments,
  printTable,
} from '../../src/sparse/config/table-messages.js';
import { hexOf } from '../io/parity.js';

/** Any value of a message: absent fields, defaults and all. */
function valuesOf(message: Message<Fields>): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(message.fields).map(([key, field]) => {
    const one: fc.Arbitrary<unknown> =
      field.kind === 'message'
        ? valuesOf(field.message!)
        : field.kind === 'int'
          ? fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
          : field.kind === 'bool'
            ? fc.boolean()
            : field.kind === 'string'
              ? fc.string()
              : fc.float({ noNaN: true });
    return [key, field.repeated ? fc.array(one, { minLength: 1, maxLength: 2 }) : one] as const;
  });
  return fc.record(Object.fromEntries(fields), { requiredKeys: [], noNullPrototype: true });
}

t.test('any config comes back as it was, unset fields unset', async (t) => {
  for (const message of [OptimizerConfigMessage, MultiEmbeddingHashTableConfigMessage] as Message<Fields>[]) {
    fc.assert(
      fc.property(valuesOf(message), (value) => {
        t.same(decodeMessage(message, encodeMessage(message, value)), value);
      }),
      { numRuns: 20 },
    );
  }
});

t.test('packed numbers and repeated sub-messages are read too', async (t) => {
  const bytes = Uint8Array.from([0x0a, 2, 8, 5, 0x0a, 2, 0x10, 9, 0x7a, 1, 0]);
  const message: Message<Fields> = {
    name: 'M',
    fields: { a: { number: 1, kind: 'message', repeated: false, fallback: {}, message: OPTIMIZER_MESSAGES.sgd } },
  };
  t.throws(() => decodeMessage(message, bytes), { code: 'ML_PROTO' }, 'a varint where a float belongs');
  const numbers: Message<Fields> = {
    name: 'N',
    fields: {
      n: { number: 1, kind: 'int', repeated: true, fallback: [] },
      f: { number: 2, kind: 'float', repeated: true, fallback: [] },
    },
  };
  const packed = Uint8Array.from([0x0a, 3, 5, 0xac, 0x02, 8, 7, 0x12, 4, 0, 0, 0x80, 0x3f]);
  t.same(decodeMessage(numbers, packed), { n: [5, 300, 7], f: [1] });
});

t.test('configs have the numbers of the messages', async (t) => {
  const hex = (config: OptimizerMessage) => hexOf(encodeMessage(OptimizerConfigMessage, config));
  t.equal(hex(constructors.SgdOptimizer()), '1200');
  t.equal(hex(constructors.AdagradOptimizer({ initialAccumulatorValue: 1 })), '0a051d0000803f');
  t.equal(hex(constructors.withStochasticRounding(constructors.SgdOptimizer())), '12002001');
  t.equal(hex(constructors.AdaGradWithGroupLassoOptimizer({ l2Regularization: 1 })), '8201052d0000803f');
  t.equal(hex(constructors.FtrlOptimizer({ l1Regularization: 1 })), '1a052d0000803f');
  t.equal(hex(constructors.BatchSoftmaxOptimizer()), '7a00');
  t.throws(() => constructors.AdamOptimizer({ learningRate: Number.NaN }), {
    code: 'ML_OPTION',
    message: 'sparse.adam: learningRate is a number, not NaN',
  });
});

t.test('constructors have defaults of their own where upstream has', async (t) => {
  t.same(constructors.OneBitCompressor(), { oneBit: { stepSize: 200, amplitude: 0.05 } });
  t.match(constructors.DynamicWdAdagradOptimizer(), {
    dynamicWdAdagrad: { enableDynamicWd: true, flipDirection: true, decoupleWeightDecay: true },
  });
});

t.test('plans know the size of the state and the defaults', async (t) => {
  const floats = (config: OptimizerMessage, dim: number) => planOptimizer(config, dim).stateFloats;
  t.equal(floats({ adam: {} }, 5), 12);
  t.equal(floats({ amsgrad: {} }, 5), 17);
  t.equal(floats({ groupAdagrad: {} }, 5), 1);
  t.equal(floats({ batchSoftmax: {} }, 1), 2);
  t.equal(floats({ movingAverage: {} }, 5), 0);
  t.match(planOptimizer({ adagrad: {} }, 2), { learningRate: 0.001, initial: 0.1, number: 1, roundsToHalf: false });
  t.match(planOptimizer({ groupFtrl: {} }, 2), { learningRate: 0.01, initial: 0, values: [1, 0, 0] });
  t.equal(planOptimizer({ ftrl: {} }, 2, 'standard').flags, 2);
});

t.test('what cannot run is refused in the words of upstream', async (t) => {
  const text = 'optimizer is not implemented yet. ';
  t.throws(() => planOptimizer({}, 1), { code: 'ML_OPTIMIZER', message: text, hint: /sparse\.adam/ });
  for (const learningRate of [-1, Number.POSITIVE_INFINITY]) {
    t.throws(() => planOptimizer({ sgd: { learningRate } }, 1), { code: 'ML_RATE', message: /not below 0/ });
  }
  t.throws(() => planOptimizer({ dc: { lambda_: 0.5 } }, 1), { message: `${text}dc { lambda_: 0.5 }` });
  t.throws(() => planOptimizer(constructors.DynamicWdAdagradOptimizer(), 1), { code: 'ML_OPTIMIZER' });
  t.doesNotThrow(() => planOptimizer(constructors.DynamicWdAdagradOptimizer({ enableDynamicWd: false }), 1));
  t.throws(() => planOptimizer({ batchSoftmax: {} }, 2), { code: 'ML_BATCH_SOFTMAX_DIM' });
  const message = 'global_step=-3 is negative, please investigate!';
  t.match(stepError(planOptimizer({ batchSoftmax: {} }, 1), -1, -3n), { message });
});

t.test('rates follow the step, warm up, and print', async (t) => {
  const decay = new PolynomialDecay({ initialLearningRate: 1, decaySteps: 10, endLearningRate: 0 });
  t.same(
    [0, 5, 10, 20].map((step) => decay.call(step)),
    [1, 0.5, 0, 0],
  );
  const cycle = new PolynomialDecay({ initialLearningRate: 1, decaySteps: 10, endLearningRate: 0, cycle: true });
  t.same(
    [0, 10, 15, 20].map((step) => cycle.call(step)),
    [1, 0, 0.25, 0],
  );
  t.equal(
    decay.toString(),
    'LearningRateFunction("PolynomialDecay",Params:cycle=False,decay_steps=10,end_learning_rate=0.0,' +
      'initial_learning_rate=1.0,power=1.0)',
  );
  t.equal(printRate(0.5), '0.5');
  const warm = resolveRate(planOptimizer({ sgd: { learningRate: 0.5, warmupSteps: 10 } }, 1));
  t.same([rateAt(warm, 0), rateAt(warm, 5), rateAt(warm, 50)], [0, 0.25, 0.5]);
  t.equal(resolveRate(planOptimizer({ sgd: {} }, 1)), 0.01);
  t.equal(resolveRate(planOptimizer({ sgd: {} }, 1), 3), 3);
  t.same([...ratesAt([1, decay], 5)], [1, 0.5]);
  t.throws(() => ratesAt([], 0), { message: 'Learning_rate_fns must be not empty.' });
  t.throws(() => new LearningRateFunction().call(0), { message: 'Learning rate function must override __call__' });
});

t.test('table configs are checked in the words of upstream', async (t) => {
  const table = (config: EmbeddingHashTableConfig) => () => checkTableConfig({ cuckoo: {}, ...config });
  t.throws(() => checkTableConfig({ initialCapacity: 2 }), {
    message: 'Unknown type of hash table. initial_capacity: 2',
  });
  t.throws(table({ skipZeroEmbedding: true }), { code: 'ML_TABLE_SKIP_ZERO' });
  t.throws(table({ entryConfig: { segments: [{ dimSize: 1 }] } }), {
    message: 'init or opt config is missing from entry config : segments { dim_size: 1 }',
  });
  t.throws(table({ entryConfig: { entryType: 2, segments: [{ dimSize: 1 }] } }), {
    message: 'comp config is missing form entry config: segments { dim_size: 1 } entry_type: SERVING',
  });
  t.doesNotThrow(table({ entryConfig: { segments: [{ initConfig: { zeros: {} }, optConfig: { sgd: {} } }] } }));
});

t.test('neighbours that differ in their dimension only become one segment', async (t) => {
  const segment = (dimSize: number, optConfig: OptimizerMessage, rate = 1) => ({
    segment: { dimSize, optConfig },
    rate,
  });
  const { merged, dims } = mergeSegments([
    segment(1, { sgd: {} }),
    segment(2, { sgd: {} }),
    segment(3, { sgd: {} }, 2),
    segment(4, { adam: {} }, 2),
  ]);
  t.same(
    merged.map((one) => one.segment.dimSize),
    [3, 3, 4],
  );
  t.same(dims, [1, 2, 3, 4]);
});

t.test('tables print their config and rates, and merged names are digests of sorted slot names', async (t) => {
  t.equal(printTable({ cuckoo: {} }, [1, 2]), 'TableConfigPB: *\u0000, LearningRateFns: [1.0, 2.0]');
  t.same(mergedTableNames(['b', 'a']), mergedTableNames(['a', 'b']));
  t.equal(mergedTableNames(['fc_slot_1', 'x']).extraRestoreNames[0], mergedTableNames(['x', 'slot_1']).name);
  t.same(mergedTableNames(['fc_slot_x']).extraRestoreNames, []);
  t.equal(printMessage(EmbeddingHashTableConfigMessage, { entryType: 2 }), 'entry_type: RAW');
});
