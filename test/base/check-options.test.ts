import t from 'tap';
import { checkKeys, checkNumber, checkOptions } from '../../src/base/check-options.js';
import * as ml from '../../src/index.js';

interface Options {
  readonly learningRate?: number;
  readonly name?: string;
}

t.test('options that are known come back as they are', async (t) => {
  const options: Options = { learningRate: 1 };
  t.equal(checkOptions('sgd', options, ['learningRate', 'name']), options);
  t.same(checkOptions('sgd', {} as Options, ['name', 'learningRate']), {});
});

t.test('a list that leaves an option out, or has one too many, does not compile', async () => {
  const options: Options = {};
  // @ts-expect-error name is left out
  checkOptions('sgd', options, ['learningRate']);
  // @ts-expect-error there is no rate
  checkOptions('sgd', options, ['learningRate', 'name', 'rate']);
});

t.test('an option that is not known is named with the nearest one, or with all of them', async (t) => {
  const check = (options: unknown) => () => checkKeys('sgd', options, ['learningRate', 'name']);
  const unknown = (option: string, hint: string) => ({
    code: 'ML_OPTION',
    message: `sgd: there is no option ${option}`,
    fields: { where: 'sgd', option },
    hint,
  });
  t.throws(check({ lr: 1 }), unknown('lr', 'did you mean learningRate?'));
  t.throws(check({ learning_rate: 1 }), unknown('learning_rate', 'did you mean learningRate?'));
  t.throws(check({ nmae: 1 }), unknown('nmae', 'did you mean name?'));
  t.throws(check({ name: 'a', momentum: 1 }), unknown('momentum', 'its options are learningRate, name'));
});

t.test('what is no object of options is refused as it is', async (t) => {
  const check = (options: unknown) => () => checkKeys('sgd', options, ['name']);
  const refused = (kind: string) => ({
    code: 'ML_OPTION',
    message: `sgd: an object of options is needed, not ${kind}`,
    hint: 'its options are name',
  });
  t.throws(check(3), refused('3'));
  t.throws(check('fast'), refused("'fast'"));
  t.throws(check(null), refused('null'));
  t.throws(check(undefined), refused('undefined'));
  t.throws(check([1]), refused('a list'));
  t.throws(
    check(() => 1),
    refused('a function'),
  );
});

t.test('a number is a number', async (t) => {
  t.equal(checkNumber('dropout', 'rate', 0.5), 0.5);
  t.throws(() => checkNumber('dropout', 'rate', Number.NaN), { message: 'dropout: rate is a number, not NaN' });
  t.throws(() => checkNumber('dropout', 'rate', { rate: 1 }), { message: 'dropout: rate is a number, not { rate }' });
});

/** Calls as JavaScript would make them, each with one option that is misspelt, and what was meant. */
const graph = new ml.Graph();
const loss = ml.ops.reduceMean(ml.ops.placeholder(graph, { name: 'x' }));
const schema = ml.defineSchema({ y: ml.dense.f32() });
const SLIPS: Readonly<Record<string, readonly [(slip: never) => unknown, object, string]>> = {
  'a row optimizer': [ml.sparse.adagrad, { lr: 0.1 }, 'learningRate'],
  'a row optimizer with a shorter name of its own': [ml.sparse.ftrl, { l1Regularisation: 1 }, 'l1Regularization'],
  'a dense optimizer': [(slip) => ml.optim.adam(slip), { beta_1: 0.9 }, 'beta1'],
  'a step of one': [(slip) => ml.optim.adam().minimize(loss, slip), { variables: [] }, 'varList'],
  'a schedule': [(slip) => ml.schedules.cosineDecay(slip), { initialLearningRate: 1, steps: 2 }, 'decaySteps'],
  'a decay by its own name': [(slip) => ml.schedules.inverseTimeDecay(slip), { rate: 2 }, 'decayRate'],
  'a segment': [(slip) => ml.defineTable('t', [slip]), { dimension: 3 }, 'dim'],
  'a table': [(slip) => ml.defineTable('t', [{ dim: 1 }], slip), { defaultExpiry: 3 }, 'defaultExpireTime'],
  'a slot': [(slip) => new ml.FeatureFactory().createFeatureSlot(slip), { defaultBiasOptimizer: 1 }, 'biasOptimizer'],
  'a feature': [ml.dense.f32 as never, { widht: 3 }, 'width'],
  'a ragged feature': [ml.ragged.i64, { valuesPerRows: 3 }, 'valuesPerRow'],
  'a model': [(slip) => ml.defineModel(schema, slip, () => ({}) as never), { name: 'm', lable: 'y' }, 'label'],
  'a session': [(slip) => ml.Session.create(graph, slip), { thread: 1 }, 'threads'],
  'a session in depth': [(slip) => ml.Session.create(graph, slip), { tablePolicy: { full: 1 } }, 'whenFull'],
  'a trainer': [(slip) => ml.LocalTrainer.create(slip), { saveEvery: 1 }, 'saveEverySteps'],
  'a hook': [(slip) => new ml.hooks.StopAtStepHook(slip), { step: 1 }, 'steps'],
  'a layer': [(slip) => new ml.nn.MlpLayer([3], slip), { activations: 'relu' }, 'activation'],
  'a save': [(slip) => ml.checkpoints.saveCheckpoint('dir', {} as never, slip), { kept: 3 }, 'keep'],
  'a table memory': [(slip) => ml.tables.TableMemory.create(slip), { bytes: 3 }, 'budgetBytes'],
  'a metric': [(slip) => new ml.metrics.Accuracy(slip), { treshold: 0.5 }, 'threshold'],
  'a queue': [(slip) => new ml.queues.PrefetchQueue(slip), { timeout: 3 }, 'timeoutMs'],
};

for (const [name, [call, slip, meant]] of Object.entries(SLIPS)) {
  t.test(`${name} names the option that was meant`, async (t) => {
    await t.rejects(async () => call(slip as never), { code: 'ML_OPTION', hint: new RegExp(`\\b${meant}\\b`) });
  });
}
