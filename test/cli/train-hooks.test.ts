import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseTrainFlags } from '../../src/cli/train-options.js';
import { eventsOf } from './run-cli.js';
import { runHere } from './run-here.js';

t.test('train evaluates, keeps the best, logs and profiles by flags', async (t) => {
  const cwd = t.testdir();
  const flags = ['--eval-every', '60', '--keep-best', '--csv', 'log.csv', '--csv-every', '50', '--profile', '20:24'];
  const args = ['--json', '--steps', '150', '--threads', '1', '--model-dir', 'm', ...flags];
  const { code, out, err } = await runHere(['train', ...args], { cwd });
  t.same({ code, err }, { code: 0, err: '' });
  const events = eventsOf(out);
  const evals = events.filter(({ event }) => event === 'eval');
  t.same(
    evals.map(({ step }) => step),
    [60, 120, 150],
    'the end is evaluated once',
  );
  t.equal(events.at(-1)!.auc, evals.at(-1)!.auc);
  const best = events.filter(({ event }) => event === 'best').at(-1)!;
  const most = Math.max(...evals.map(({ auc }) => auc as number));
  t.match(best, { metric: 'auc', value: most, path: `m/best/model.ckpt-${best.step}` });
  t.ok(existsSync(join(cwd, `${best.path}.index`)));
  t.match(
    events.find(({ event }) => event === 'profile'),
    { first_step: 20, end_step: 24, path: 'm/profile-20-24.json' },
  );
  t.ok(existsSync(join(cwd, 'm/profile-20-24.json')));
  const steps = readFileSync(join(cwd, 'log.csv'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((row) => row.split(',')[0]);
  t.same(steps, ['step', '50', '60', '100', '120', '150', '150']);
  t.notOk(readdirSync(cwd).some((name) => name.startsWith('profile')));
});

t.test('train stops early, says why, and ends with a checkpoint', async (t) => {
  const cwd = t.testdir();
  // Nobody gets better by so much: the first evaluation is the best, and the third ends it.
  const flags = ['--eval-every', '20', '--early-stop', '2', '--metric', 'loss', '--min-delta', '100'];
  const { code, out } = await runHere(['train', '--threads', '1', '--model-dir', 'm', ...flags], { cwd });
  t.equal(code, 0);
  t.match(out, /note: stopping: loss did not get better than 0\.\d+ of step 20\n/);
  t.match(out, /done at step 60\n/);
  t.ok(existsSync(join(cwd, 'm/model.ckpt-60.index')));
});

t.test('flags that lack another one say which', async (t) => {
  const refused = (raw: object, flag: string, hint: RegExp) =>
    t.throws(() => parseTrainFlags(raw), { code: 'ML_FLAG', fields: { flag }, hint });
  refused({ earlyStop: '2' }, '--early-stop', /--eval-every/);
  refused({ keepBest: true, modelDir: 'm' }, '--keep-best', /--eval-every/);
  refused({ keepBest: true, evalEvery: '5' }, '--keep-best', /--model-dir/);
  refused({ minDelta: '0.1', evalEvery: '5' }, '--min-delta', /add one/);
  refused({ minDelta: '1e-3' }, '--min-delta', /0\.001/);
  refused({ profileEvery: '50' }, '--profile-every', /--profile/);
  refused({ profile: '10:20', profileEvery: '10' }, '--profile-every', /more than the 10 steps/);
  refused({ profileDir: 'x' }, '--profile-dir', /--profile/);
  refused({ profile: '20:10' }, '--profile', /100:110/);
  refused({ profile: '10' }, '--profile', /100:110/);
  refused({ metric: 'auk' }, '--metric', /auc/);
  refused({ csv: 'a', trace: './a' }, '--csv', /of its own/);
  t.match(parseTrainFlags({ profile: '10:20' }).profile, { first: 10, end: 20 });
});
