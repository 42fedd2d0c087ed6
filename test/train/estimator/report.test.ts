import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import '../../../src/report/provide.js';
import { readEvents } from '../../../src/report/event-lines.js';
import { tasteEstimator, tasteRows } from './tastes.js';

t.test('a program that asks for it has a report of its training, and of the next one', async (t) => {
  const modelDir = join(t.testdir(), 'run');
  const evaluate = { data: tasteRows(300, 2000), everySteps: 20 };
  const told: string[] = [];
  await using estimator = tasteEstimator({ modelDir, report: true, seed: 5, log: ({ event }) => told.push(event) });
  await estimator.train(tasteRows(2000), { steps: 40, evaluate });
  t.match(JSON.parse(readFileSync(join(modelDir, 'run.json'), 'utf8')), {
    settings: { seed: { value: 5, origin: 'program' }, steps: { value: 40 } },
  });
  const names = readEvents(modelDir).map(({ event }) => event);
  t.same(names, ['run', ...told, 'trained', 'done'], 'what the log is told, and how it began and ended');
  const page = readFileSync(join(modelDir, 'report.html'), 'utf8');
  t.match(page, /tastes learnt for 40 steps; step \d+ is the best/);
  await t.rejects(estimator.train(() => Promise.reject(new Error('the data is gone')), { steps: 40 }));
  t.match(readFileSync(join(modelDir, 'report.html'), 'utf8'), /tastes failed|the data is gone/);
  t.match(readEvents(modelDir).at(-1), { event: 'error', message: /the data is gone/ });
});

t.test('without it there is none, and without a folder it is refused', async (t) => {
  const modelDir = join(t.testdir(), 'run');
  await using estimator = tasteEstimator({ modelDir });
  await estimator.train(tasteRows(500), { steps: 2 });
  t.notOk(existsSync(join(modelDir, 'events.jsonl')));
  t.throws(() => tasteEstimator({ report: true }), { code: 'ML_OPTION', message: /no modelDir/ });
});
