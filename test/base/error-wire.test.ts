import t from 'tap';
import { fromWireError, toWireError } from '../../src/base/error-wire.js';
import { MonolithError } from '../../src/base/errors.js';

const sent = (thrown: unknown): Error => fromWireError(structuredClone(toWireError(thrown)));

t.test('a coded error arrives with code, fields, hint and causes', async (t) => {
  const root = new TypeError('root');
  const inner = new MonolithError('ML_WORKER', { thread: 'x', reason: 'y' }, { cause: root });
  const error = new MonolithError(
    'ML_FEED',
    { name: 'a', shape: [1, 2], reason: 'b' },
    { hint: 'try c', cause: inner },
  );
  const found = sent(error);
  t.ok(found instanceof MonolithError);
  t.match(found, { code: 'ML_FEED', message: error.message, fields: error.fields, hint: 'try c', stack: error.stack });
  t.match(found.cause, { code: 'ML_WORKER', cause: { name: 'TypeError', message: 'root' } });
});

t.test('anything thrown arrives as an error', async (t) => {
  t.match(sent(new RangeError('r')), { name: 'RangeError', message: 'r' });
  t.notOk(sent(new RangeError('r')) instanceof MonolithError);
  t.equal(sent('text').message, 'text');
});

t.test('a field that cannot be posted arrives as text', async (t) => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  const found = sent(new MonolithError('ML_FEED', { name: () => 1, reason: loop, id: 5n })) as MonolithError;
  t.match(found.fields, { name: '() => 1', reason: '[object Object]', id: 5n });
});

t.test('errors of Node.js keep their code, and aggregates their parts', async (t) => {
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
  t.match(sent(missing), { code: 'ENOENT', message: 'no such file', stack: missing.stack });
  const both = sent(new AggregateError([missing, new MonolithError('ML_FEED', { name: 'a', reason: 'b' })], 'both'));
  t.ok(both instanceof AggregateError);
  t.match(both, { message: 'both', errors: [{ code: 'ENOENT' }, { code: 'ML_FEED', fields: { name: 'a' } }] });
});

t.test('causes that go round in circles come to an end', async (t) => {
  const [first, second] = [new Error('first'), new Error('second')];
  first.cause = second;
  second.cause = first;
  t.match(sent(first), { message: 'first', cause: { message: 'second', cause: { message: 'first' } } });
});
