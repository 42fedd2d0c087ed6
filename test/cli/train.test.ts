import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FFM_LENGTH_MAX } from '../../src/demo/ffm-example.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { readGraphJson } from '../../src/graph/graph-description.js';
import { type CliEvent, eventsOf, treeOf } from './run-cli.js';
import { runHere } from './run-here.js';

/** Little data and small batches: what is tested here is not speed. */
const SMALL = ['--data', 'reference', '--batch-size', '16', '--threads', '2'];

const namesOf = (events: readonly CliEvent[]) => events.map((event) => event.event);
const byName = (events: readonly CliEvent[], name: string) => events.filter((event) => event.event === name);

t.test('a run with --json tells its events in order and ends with the result', async (t) => {
  const cwd = t.testdir();
  const args = [
    '--steps',
    '200',
    '--threads',
    '2',
    '--model-dir',
    'runs/ffm',
    '--trace',
    'trace.json',
    '--dump-graph',
    'graph.json',
  ];
  const { code, out, err } = await runHere(['train', '--json', ...args], { cwd });
  t.equal(err, '');
  t.equal(code, 0);
  const events = eventsOf(out);
  t.same(namesOf(events).slice(0, 1), ['start']);
  t.same(namesOf(events).slice(-4), ['progress', 'checkpoint', 'eval', 'done']);
  t.match(events[0], {
    model: 'ffm',
    data: 'clicks',
    backend: 'wasm',
    threads: 2,
    batch_size: 64,
    steps: 200,
    start_step: 0,
    model_dir: 'runs/ffm',
    restored: null,
  });
  for (const name of events.flatMap((event) => Object.keys(event))) t.match(name, /^[a-z]+(_[a-z]+)*$/);
  const checkpoint = 'runs/ffm/model.ckpt-200';
  const done = events.at(-1)!;
  t.match(done, { event: 'done', step: 200, threads: 2, backend: 'wasm', checkpoint, trace: 'trace.json' });
  t.equal(done.interrupted, false);
  t.ok((done.loss as number) > 0 && (done.loss as number) < 1, 'the loss is that of the last batch');
  t.ok((done.auc as number) > 0.75 && (done.auc as number) < 1, `there was something to learn: ${done.auc}`);
  t.ok((done.examples_per_s as number) > 0);
  t.equal(done.auc, byName(events, 'eval')[0]?.auc);
  t.equal(done.loss, byName(events, 'progress').at(-1)?.loss);

  const files = Object.keys(treeOf(join(cwd, 'runs/ffm')));
  for (const suffix of ['.index', '.data-00000-of-00001', '.assets/', '.assets/monolith_model.json']) {
    t.ok(files.includes(`model.ckpt-200${suffix}`), suffix);
  }
  t.ok(files.includes('checkpoint'));
  t.notOk(
    files.some((file) => file.includes('tmp')),
    'no temporary file is left',
  );

  const trace = await runHere(['trace', 'trace.json', '--json'], { cwd });
  t.equal(trace.code, 0, trace.err);
  const threads = (JSON.parse(trace.out) as { threads: { name: string }[] }).threads.map(({ name }) => name);
  t.same(threads, ['main', 'pool 0', 'pool 1', 'data reader']);
  const { otherData } = JSON.parse(readFileSync(join(cwd, 'trace.json'), 'utf8')) as { otherData: { graph: unknown } };
  const { ops } = readGraphJson(JSON.stringify(otherData.graph));
  const own = buildFfm(FFM_LENGTH_MAX).graph.ops.length;
  t.same(
    ops.slice(0, own).map(({ name }) => name),
    buildFfm(FFM_LENGTH_MAX).graph.ops.map(({ name }) => name),
  );
  t.ok(
    ops.slice(own).every(({ name }) => name.startsWith('global_gradient_norm')),
    'the rest is of summaries',
  );
  t.same(
    readGraphJson(readFileSync(join(cwd, 'graph.json'), 'utf8')).ops,
    ops.slice(0, own),
    'the model as it is built',
  );
});

t.test('the same command again goes on where the last one stopped', async (t) => {
  const cwd = t.testdir();
  const args = ['train', '--json', ...SMALL, '--steps', '30', '--model-dir', 'd', '--save-every', '20'];
  const first = eventsOf((await runHere(args, { cwd })).out);
  t.same(
    byName(first, 'checkpoint').map(({ step, path }) => [step, path]),
    [
      [20, 'd/model.ckpt-20'],
      [30, 'd/model.ckpt-30'],
    ],
    'saves at each interval and at the end',
  );
  const second = eventsOf((await runHere(args, { cwd })).out);
  t.match(second[0], { event: 'start', start_step: 30, steps: 30, restored: 'd/model.ckpt-30' });
  t.same(
    byName(second, 'checkpoint').map(({ step }) => step),
    [50, 60],
  );
  t.match(second.at(-1), { event: 'done', step: 60, checkpoint: 'd/model.ckpt-60' });
  t.ok((second.at(-1)!.loss as number) < (first.at(-1)!.loss as number), 'what was learnt was kept');
});

t.test('--until is a step that runs together reach, and one that has reached it says so', async (t) => {
  const cwd = t.testdir();
  const args = ['train', '--json', ...SMALL, '--model-dir', 'd'];
  const first = eventsOf((await runHere([...args, '--steps', '3', '--until', '5'], { cwd })).out);
  t.match(first[0], { event: 'start', start_step: 0, steps: 3 });
  const second = eventsOf((await runHere([...args, '--until', '5'], { cwd })).out);
  t.match(second[0], { event: 'start', start_step: 3, steps: 2 });
  t.match(second.at(-1), { event: 'done', step: 5 });
  const third = await runHere([...args, '--until', '5'], { cwd });
  t.equal(third.code, 0);
  const events = eventsOf(third.out);
  t.match(events[0], { event: 'start', start_step: 5, steps: 0 });
  t.match(events[1], { event: 'note', message: 'nothing to train: step 5 is reached already' });
  t.match(events.at(-1), { event: 'done', step: 5, loss: null, checkpoint: 'd/model.ckpt-5', interrupted: false });
});
