/** @file `monolith train --data demo:clicks`, which `npm start` runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { eventsOf } from '../run-cli.js';
import { runHere } from '../run-here.js';

const PACKAGE = fileURLToPath(new URL('../../../../package.json', import.meta.url));

t.test('the demo learns, knows how good it could be, and goes on with the clicks after those', async (t) => {
  const { scripts } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { scripts: { start: string } };
  t.match(scripts.start, /main\.js train --data demo:clicks --model-dir runs\/clicks /, 'npm start is this command');
  const cwd = t.testdir();
  const args = ['train', '--data', 'demo:clicks:20000', '--model-dir', 'runs/clicks', '--epochs', '1', '--json'];
  const found = [];
  for (const _ of [1, 2]) {
    const { code, out, err } = await runHere([...args, '--batch-size', '256', '--threads', '2'], { cwd });
    t.equal(code, 0, err);
    const events = eventsOf(out);
    const of = (name: string) => events.find(({ event }) => event === name)!;
    const test = of('test') as unknown as { readonly auc: number; readonly ceiling: number };
    found.push({ data: of('data'), test, start: of('start'), done: of('done') });
  }
  const [first, second] = found as [(typeof found)[0], (typeof found)[0]];
  t.match(first.data, { source: 'demo:clicks:20000', rows: 20_000, label_column: 'click', files: [] });
  for (const { test } of found) {
    t.ok(test.ceiling > 0.8, `nothing can have more than ${test.ceiling}`);
    t.ok(test.auc > 0.6 && test.auc < test.ceiling, `it has ${test.auc}`);
  }
  t.not(second.test.ceiling, first.test.ceiling, 'other clicks');
  t.equal(second.start.start_step, first.done.step, 'it goes on');
  t.match(readFileSync(join(cwd, 'runs/clicks/report.html'), 'utf8'), /best that can be/);
  const wrong = await runHere(['train', '--data', 'demo:clickz'], { cwd });
  t.match(wrong, {
    code: 2,
    err: /ML_FLAG: --data demo:clickz: there is no such demo\nhint: did you mean demo:clicks\?/,
  });
});
