import t from 'tap';
import { TraceNames } from '../../src/trace/trace-names.js';

t.test('a name keeps its id and category', async (t) => {
  const names = new TraceNames();
  const step = names.id('step', 'phase');
  t.equal(step, 1, 'id 0 stays for events without a name');
  t.equal(names.id('wait for batch', 'wait'), 2);
  t.equal(names.id('step', 'phase'), step);
  t.same(names.get(step), { name: 'step', category: 'phase' });
  t.same(names.get(0), { name: '(unnamed)', category: 'op' });
  t.same(names.get(77), { name: '(name 77)', category: 'op' });
  t.equal(names.size, 3);
});

t.test('one name cannot have two categories', async (t) => {
  const names = new TraceNames();
  names.id('step', 'phase');
  t.throws(() => names.id('step', 'wait'), { code: 'ML_TRACE_NAME', message: /phase already/ });
});
