import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { reportError } from '../../src/cli/report.js';
import { FakeIo } from './fake-io.js';

const quiet = { json: false, verbose: false };

t.test('a coded error shows its code, sentence and hint, and no stack', async (t) => {
  const io = new FakeIo();
  const error = new MonolithError(
    'ML_DIR',
    { dir: 'x', reason: 'is a file' },
    { hint: 'move it', cause: new Error('c') },
  );
  t.equal(reportError(error, io, quiet), 1);
  t.equal(io.err.take(), 'error ML_DIR: model directory x cannot be used: is a file\nhint: move it\n');
  t.equal(io.out.take(), '');
});

t.test('misuse exits with 2', async (t) => {
  const io = new FakeIo();
  t.equal(reportError(new MonolithError('ML_FLAG', { flag: '--x', reason: 'no' }), io, quiet), 2);
  t.equal(io.err.take(), 'error ML_FLAG: --x: no\n');
});

t.test('verbose and MONOLITH_DEBUG show stack and causes, and end at a circle', async (t) => {
  const inner: Error & { cause?: unknown } = new Error('inner');
  const outer = new MonolithError('ML_WASM', { reason: 'r' }, { cause: inner });
  inner.cause = outer;
  const shown = (io: FakeIo, verbose: boolean) => {
    reportError(outer, io, { json: false, verbose });
    return io.err.take();
  };
  t.match(shown(new FakeIo(), true), /^error ML_WASM: .*\n\s+at .*[\s\S]*caused by: Error: inner/);
  t.match(shown(new FakeIo({ env: { MONOLITH_DEBUG: '1' } }), false), /caused by: Error: inner/);
  t.notMatch(shown(new FakeIo({ env: { MONOLITH_DEBUG: '0' } }), false), /caused by/);
});

t.test('an unforeseen error is short and says how to see more', async (t) => {
  const io = new FakeIo();
  t.equal(reportError(new TypeError('x is not a function'), io, quiet), 1);
  t.match(io.err.take(), /^error ML_INTERNAL: unexpected failure: x is not a function\nhint: .*--verbose.*\n$/);
  reportError('just text', io, { json: false, verbose: true });
  t.match(io.err.take(), /unexpected failure: just text[\s\S]*caused by: just text/);
});

t.test('the JSON line carries any field, and people still read standard error', async (t) => {
  const io = new FakeIo();
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const fields = { name: 'n', reason: 'r', id: 2n ** 63n, shape: [1, 2], circle, none: null, missing: undefined };
  reportError(new MonolithError('ML_FEED', fields), io, { json: true, verbose: false });
  t.same(JSON.parse(io.out.take()), {
    event: 'error',
    code: 'ML_FEED',
    message: 'feed n does not fit: r',
    hint: null,
    fields: {
      name: 'n',
      reason: 'r',
      id: '9223372036854775808',
      shape: [1, 2],
      circle: '[object Object]',
      none: null,
      missing: 'undefined',
    },
  });
  t.match(io.err.take(), /^error ML_FEED/);
});
