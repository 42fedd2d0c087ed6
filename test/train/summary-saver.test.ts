import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type FileSystem, nodeFileSystem } from '../../src/base/files/file-system.js';
import { setLogSink } from '../../src/base/log.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { histogram, scalar } from '../../src/summary/summary-ops.js';
import { scalarValue } from '../../src/summary/summary-values.js';
import { EvaluationHook } from '../../src/train/hooks/evaluation.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { SummarySaverHook, type SummarySaverOptions } from '../../src/train/hooks/summary-saver.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { FakeClock } from '../support/fake-clock.js';
import { readEvents, readScalars } from '../support/read-events.js';
import { BATCH_SIZE, LossHook, loadBatches, smallSession } from './ffm-run.js';

const eventFiles = (dir: string) =>
  readdirSync(dir)
    .filter((name) => name.includes('tfevents'))
    .sort()
    .map((name) => join(dir, name));

interface Run {
  readonly dir: string;
  readonly steps: number;
  readonly options?: Partial<SummarySaverOptions>;
  readonly more?: (saver: SummarySaverHook) => readonly TrainHook[];
}

/** Trains the demo for some steps with a model directory in `dir`; the lengths of the groups of steps. */
async function train(t: Test, { dir, steps, options, more }: Run): Promise<{ losses: number[]; groups: number[] }> {
  const model = buildFfm();
  scalar('loss', model.loss);
  histogram('pred', model.pred);
  const { name, label, pred } = model;
  const heads = [
    { name, label, pred },
    { name: 'number', label, pred, classification: false },
  ];
  const saver = new SummarySaverHook({ dir, everySteps: 10, batchSize: BATCH_SIZE, heads, ...options });
  const losses = new LossHook(model);
  const quiet: TrainHook = Object.assign(losses, { quietSteps: () => Number.POSITIVE_INFINITY });
  const groups: number[] = [];
  let before = 0;
  const trainer = await LocalTrainer.create({
    model,
    session: smallSession(),
    modelDir: join(dir, 'ckpt'),
    steps,
    hooks: [
      saver,
      quiet,
      ...(more?.(saver) ?? []),
      {
        poll: ({ globalStep }) => {
          groups.push(globalStep - before);
          before = globalStep;
        },
      },
    ],
  });
  before = trainer.startStep;
  t.teardown(() => trainer.close());
  const batches = loadBatches(trainer.session);
  let at = 0;
  await trainer.train({ next: () => batches[at++ % batches.length]!, batchesAhead: Number.POSITIVE_INFINITY });
  await trainer.close();
  return { losses: losses.losses, groups };
}

t.test(
  'a training writes its summaries at the first step and every so many, and groups stay whole between',
  async (t) => {
    const dir = t.testdir({});
    const more = () => [scalarValue('mine', 1)];
    const { losses, groups } = await train(t, { dir, steps: 25, options: { more } });
    const [file, ...others] = eventFiles(dir);
    t.same(others, []);
    const scalars = readScalars(file!);
    t.same(
      scalars.get('loss'),
      [1, 11, 21].map((step) => [step, losses[step - 1]]),
    );
    const names = ['global_step/sec', 'examples/sec', 'mine', 'ffm_auc', 'number_mse'];
    for (const name of names)
      t.same(
        scalars.get(name)?.map(([step]) => step),
        [1, 11, 21],
        name,
      );
    const tables = [...scalars.keys()].filter((tag) => /^table\/.*\/rows$/.test(tag));
    t.ok(tables.length > 0 && tables.every((tag) => scalars.get(tag)![2]![1] > 0), 'rows of tables');
    const [, auc] = scalars.get('ffm_auc')!.at(-1)!;
    t.ok(auc > 0 && auc <= 1);
    const histograms = readEvents(file!).flatMap(({ summary }) => summary?.value.filter(({ histo }) => histo) ?? []);
    t.same(
      histograms.map(({ tag, histo }) => [tag, histo!.num]),
      [1, 2, 3].map(() => ['pred', BATCH_SIZE]),
    );
    t.ok(Math.max(...groups) > 1, `groups of ${groups}`);
  },
);

t.test('a run that goes on begins a file that tells readers to forget later points', async (t) => {
  const dir = t.testdir({});
  await train(t, { dir, steps: 5 });
  const [first] = eventFiles(dir);
  await train(t, { dir, steps: 5 });
  const second = eventFiles(dir).find((file) => file !== first)!;
  t.match(readEvents(second)[1], { step: 6n, sessionLog: { status: 1 } });
  t.same(
    readScalars(second)
      .get('loss')
      ?.map(([step]) => step),
    [6],
  );
});

t.test('evaluations are a run of their own', async (t) => {
  const dir = t.testdir({});
  const model = buildFfm();
  const saver = new SummarySaverHook({ dir, everySteps: 10 });
  const listeners = [saver];
  const evaluation = new EvaluationHook({
    model,
    batches: (session) => loadBatches(session),
    everySteps: 5,
    listeners,
  });
  const trainer = await LocalTrainer.create({
    model,
    session: smallSession(),
    modelDir: null,
    steps: 10,
    hooks: [saver, evaluation],
  });
  t.teardown(() => trainer.close());
  const batches = loadBatches(trainer.session);
  await trainer.train({ next: () => batches[0]!, batchesAhead: Number.POSITIVE_INFINITY });
  await trainer.close();
  const scalars = readScalars(eventFiles(join(dir, 'eval'))[0]!);
  t.same(
    scalars.get('loss')?.map(([step]) => step),
    [5, 10],
  );
  t.equal(scalars.get('auc')?.at(-1)?.[1], Math.fround(evaluation.latest!.auc!));
});

t.test('a disk that is full for a while costs points, and not the training', async (t) => {
  const dir = t.testdir({});
  let isFull = false;
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    create: async (path) => {
      const file = await nodeFileSystem.create(path);
      const write = async (bytes: Uint8Array) => {
        if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
        await file.write(bytes);
      };
      return { write, sync: () => file.sync(), close: () => file.close() };
    },
  };
  const told: string[] = [];
  const before = setLogSink((level, event) => level === 'warn' && told.push(event));
  t.teardown(() => setLogSink(before));
  const clock = new FakeClock(5_000_000);
  const watch: TrainHook = {
    quietSteps: () => 1,
    afterRun: ({ globalStep }) => {
      clock.advance(1000);
      isFull = globalStep >= 12 && globalStep < 27;
    },
  };
  const { losses } = await train(t, {
    dir,
    steps: 40,
    options: { everySteps: 2, fileSystem, clock },
    more: () => [watch],
  });
  t.equal(losses.length, 40, 'all steps were trained');
  t.same(told, ['a log cannot be written, training goes on without it']);
  const files = eventFiles(dir);
  t.ok(files.length >= 2, 'a file of its own holds what came afterwards');
  const steps = readScalars(files.at(-1)!)
    .get('loss')!
    .map(([step]) => step);
  t.ok(steps.includes(39) && !steps.includes(1), `points of steps ${steps}`);
});

t.test('options that cannot be are refused', async (t) => {
  t.throws(() => new SummarySaverHook({ dir: '.', everySteps: 0 }), { code: 'ML_OPTION' });
  t.throws(() => new SummarySaverHook({ dir: '.', every: 1 } as never), { code: 'ML_OPTION', hint: /everySteps/ });
});
