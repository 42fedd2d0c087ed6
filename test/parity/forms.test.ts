import t from 'tap';
import { fieldsOf, isRecord } from './case.js';
import { differences } from './compare.js';
import { derive, Series } from './derived.js';
import { knownName } from './meanings.js';
import { OTHER_WORDS } from './other-words.js';
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
