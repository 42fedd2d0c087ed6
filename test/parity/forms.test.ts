import t from 'tap';
import { type Fields, fieldsOf, isRecord } from './case.js';
import { differences } from './compare.js';
import { derive, Series } from './derived.js';
import { knownName } from './meanings.js';
import { parityCaseOf, readCases } from './read-case.js';
import { loadHandlers, runCase } from './runner.js';
import { stepsOf } from './steps.js';

const handlers = await loadHandlers();
const fixture = (name: string) => new URL(`../../../test/fixtures/${name}`, import.meta.url);

t.test('a name is known by its meaning', async (t) => {
  const known = ['num_of_shards', 'max_seq_length', 'grads', 'ids', 'lr', 'value_gradient'];
  const meant: Record<string, string> = {
    numOfShards: 'num_of_shards',
    num_shards: 'num_of_shards',
    shardCount: 'num_of_shards',
    maxSeqLen: 'max_seq_length',
    maximum_sequence_length: 'max_seq_length',
    gradient: 'grads',
    grad_each_step: 'grads',
    keys: 'ids',
    id: 'ids',
    learningRate: 'lr',
    gradient_value: 'value_gradient',
  };
  for (const [name, expected] of Object.entries(meant)) t.equal(knownName(name, known), expected, name);
  t.equal(knownName('colour', known), undefined);
  t.equal(knownName('count', ['num', 'count']), 'count', 'a name stands for itself first');
});

t.test('fields come under the names of the handler, and unknown ones are named', async (t) => {
  t.same(fieldsOf({ learningRate: 1, gradient: 2 }, ['lr'], ['grads']), { lr: 1, grads: 2 });
  t.throws(() => fieldsOf({ lr: 1, colour: 2, smell: 3 }, ['lr']), {
    message: 'the case has unknown colour, smell',
    keys: ['colour', 'smell'],
  });
  t.throws(() => fieldsOf({}, ['lr']), { message: 'the case has no lr' });
  t.throws(() => fieldsOf([1], ['lr']), { message: 'the case is not a record' });
  t.throws(() => fieldsOf({ lr: 1, learning_rate: 2 }, ['lr']), { message: 'the case has unknown learning_rate' });
});

t.test('a name of an expectation may ask for a part of what was computed', async (t) => {
  const computed = { w: new Series([[1], [2], [3]]), dropped: [5, 6], table: [[1, 2]] };
  const asked: Record<string, unknown> = {
    w_last: [3],
    final_w: [3],
    w_after_2: [2],
    w_after_step_2: [2],
    w_first: [1],
    w_each_step: [[1], [2], [3]],
    w_history: [[1], [2], [3]],
    dropped_count: 2,
    num_dropped: 2,
    table_shape: [1, 2],
    dropped_sum: 11,
    dropped_max: 6,
  };
  for (const [name, value] of Object.entries(asked)) t.same(derive(name, computed)?.value, value, name);
  t.same(differences(computed, { w: [3] }), [], 'a row is the last');
  t.same(differences(computed, { w: [[1], [2], [3]] }), [], 'rows are all');
  t.same(differences(computed, { w: [2] }), ['w[0] is 3, not 2']);
  t.same(differences({ loss: [0.5] }, { loss: 0.5 }), [], 'one number and a list of it');
  t.same(differences({ decoded: [1, 2] }, { out: [1, 2] }), [], 'the one result has no name of its own');
  t.same(differences({ decoded: [1, 2] }, [1, 2]), []);
  t.throws(() => differences(computed, { colour: 1 }), { message: 'the expectation has unknown colour' });
  t.equal(derive('w_after_7', computed), undefined, 'there is no seventh step');
});

t.test('steps are records, or lists beside each other', async (t) => {
  const records = stepsOf(
    {
      steps: [
        { grad: [1], lr: [0.1] },
        { gradient: 1, learning_rate: 0.1 },
      ],
    },
    1,
  );
  t.same(records, stepsOf({ steps: 2, grad: [1], lr: 0.1 }, 1));
  t.same(records, stepsOf({ grads: [[1], [1]], lr: [0.1] }, 1));
  t.same(records, stepsOf({ grads: [1, 1], lr: [0.1, 0.1] }, 1));
  const counted = stepsOf({ grad: [1, 2], lr: 1, global_steps: [4, 9] }, 2);
  t.same(
    counted,
    [4, 9].map((globalStep) => ({ grad: [1, 2], lr: 1, globalStep, latest: undefined })),
  );
  t.throws(() => stepsOf({ steps: 3, grads: [[1], [2]] }, 1), { message: '2 gradients for 3 steps' });
  t.throws(() => stepsOf({ lr: 1 }, 1), { message: 'the case has no grad' });
});

t.test('an entry and its tolerance are read by meaning too', async (t) => {
  const entry = { module: 'linalg', name: 'x', given: { l2: 1 }, want: 1, tol: { atol: 1, rtol: 2 }, source: 'y' };
  t.match(parityCaseOf(entry), { module: 'linalg', case: 'x', expected: 1, tolerance: { abs: 1, rel: 2 } });
  t.same(parityCaseOf({ ...entry, tol: 0.5 }).tolerance, { abs: 0.5 });
  t.throws(() => parityCaseOf({ ...entry, tol: { colour: 1 } }), { message: 'the tolerance has unknown colour' });
  t.throws(() => parityCaseOf({ ...entry, colour: 1 }), { message: 'the entry has unknown colour' });
  t.throws(() => parityCaseOf({ module: 'linalg' }), { message: 'the entry has no case, input, expected' });
});

/** Cases of the files in other words: [module, input, expected]. */
const OTHER_WORDS: readonly (readonly [string, Fields, unknown])[] = [
  ['opt.sgd', { w0: 0, grad_each_step: 1, learning_rate: 0.1, num_steps: 3 }, { w_last: [-0.3] }],
  ['opt.sgd', { dim: 2, grad: [1, 2], lr: 0.1 }, { weights: [-0.1, -0.2] }],
  [
    'opt.adagrad',
    { initial_accumulator_value: 1, w0: [0, 0], grad_each_step: [1, 2], lr: [0.1], steps: 1 },
    { w_last: [-0.07071067, -0.08944272], accum_last: [2, 5] },
  ],
  [
    'opt.adam',
    { config: {}, w0: [0, 0], steps: 2, grad_each_step: [10, 1], lr: [0.01] },
    {
      w_each_step: [
        [-0.00990099, -0.00909091],
        [-0.0198306, -0.01842895],
      ],
      first_m: [1, 0.1],
      m_after_1: [1, 0.1],
    },
  ],
  [
    'opt.rmspropv2',
    {
      w0: [0, 0],
      grads: [
        [10, 1],
        [10, 1],
      ],
      lr: 0.01,
    },
    { w_final: [-0.0158549, -0.0092045] },
  ],
  [
    'gather_embeddings_by_input',
    { ids: [1, 2, 4], input: [[4, 1]], embeddings: [[1], [2], [4]] },
    { indexMapping: [[2, 0]], out: [[[4], [1]]] },
  ],
  [
    'gather_embeddings_by_input',
    { ids: [1, 2, 4], index_mapping: [2, 0, 2], grads: [[1], [2], [3]] },
    { embeddingGradients: [[2], [0], [4]] },
  ],
  ['gather_embeddings_by_input', { keys: [7, 9], query: [9, 7, 9] }, { mapping: [1, 0, 1] }],
  ['float_compressor', { compressor: 'fp16', value: [0.5] }, { roundtrip: 0.5, sizeBytes: 2 }],
  ['float_compressor', { type: { fixed_r8: { r: 5 } }, values: [100] }, [4.9609375]],
  ['fake_quantizer', { range: 5, x: 3.5 }, { quantized: 3.515625 }],
  ['hash_net_quantizer', { step_size: 100, amplitude: 0.1, num: 1, grad: 1, step: 100 }, { grad: 0.035840667 }],
  ['learning_rate', { initialLr: 1, decaySteps: 10, endLr: 0, step: 5 }, { lr: 0.5 }],
  ['reduce', { rowIds: [0, 0, 2], value: [[1], [2], [3]], batchSize: 3, combiner: 'sum' }, { output: [[3], [0], [3]] }],
  ['combiner', { combiner: 'reduce_mean', rowSplits: [0, 2], embeddings: [[1], [3]] }, { out: [[2]] }],
  ['gen_seq_mask', { row_splits: [0, 1], maxLen: 2 }, { mask: [[1, 0]] }],
  ['fid', { version: 2, slots: 1, signatures: 100 }, { fid: '281474976710756' }],
  [
    'dense.rmsprop',
    { w: 0.1, grad_each_step: 0.12, lr: 0.1, wd: 1, beta1: 0.9, beta2: 0.9, eps: 0.1, useV2: true },
    { m_last: 0.06875, var_after_1: 0.03125, v: 0.0484 },
  ],
  ['linalg', { squared_norm: [3, 4] }, { squared_norm: 25 }],
  ['clip_by_global_norm', { grads: [[3], [4]], max_norm: 1 }, { clipped: [[0.6], [0.8]], norm: 5 }],
  ['touched_key_set', { cap: 10, operations: [{ operation: 'insert', keys: [1, 2] }] }, { dropped: 0 }],
  ['sharded_table', { num_ps: 2, dim: 1, rate: 1, keys: [1, 2], gradients: [[1], [2]] }, { rows: [[-1], [-2]] }],
];

for (const [i, [module, input, expected]] of OTHER_WORDS.entries()) {
  t.test(`${module} in other words, ${i}: ${Object.keys(input).join()}`, async (t) => {
    const tolerance = { abs: 1e-5 };
    const { status, reason } = await runCase(handlers, { module, case: 'other words', input, expected, tolerance });
    t.equal(status, 'pass', reason);
    const odd = await runCase(handlers, { module, case: 'x', input: { ...input, colour: 1 }, expected, tolerance });
    t.match(odd, { status: 'unknown-key', reason: /colour/ }, 'a key nobody knows is named');
    const wrong = await runCase(handlers, { module, case: 'x', input, expected: { colour: 1 }, tolerance });
    t.match(wrong, { status: 'unknown-key', reason: /colour/ }, 'in the expectation as well');
  });
}

/** Cases that take seconds. */
const SLOW = ['hopscotch_hash_set', 'hash_filter', 'sliding_hash_filter', 'probabilistic_filter'];
const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const spelled = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [camel(key), item])) : value;

t.test('every case of the files passes in camelCase', async (t) => {
  for (const one of readCases(fixture('parity-sparse.json'))) {
    if (SLOW.includes(String(one.module))) continue;
    const { source_test, ...rest } = one;
    const entry = { ...rest, input: spelled(one.input), expected: spelled(one.expected) };
    const { status, reason } = await runCase(handlers, entry);
    if (status !== 'pass') t.fail(`${one.module} ${one.case}: ${reason}`);
  }
});
