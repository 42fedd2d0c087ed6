/** @file A training that was broken off anywhere goes on with the rows it has not seen, whatever they come from. */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { loadCheckpoint } from '../../../src/checkpoint/load-checkpoint.js';
import { batchList } from '../../../src/data/batch-list.js';
import { Dataset } from '../../../src/data/dataset.js';
import type { DataRow } from '../../../src/data/files/place.js';
import { ffmDataset } from '../../../src/demo/ffm-dataset.js';
import { ffmSchema } from '../../../src/demo/ffm-example.js';
import { buildFfm } from '../../../src/demo/ffm-model.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import type { EstimatorOptions } from '../../../src/train/estimator/estimator-options.js';
import { treeOf } from '../../cli/run-cli.js';
import { DEEP } from '../../support/rounds.js';
import { schema, type Taste, tasteEstimator, tasteRows } from './tastes.js';

const ROWS = tasteRows(330); // 11 batches of 32, the last with 10 rows
const STEPS = 33;

async function* slowly(rows: readonly Taste[]): AsyncGenerator<Taste & DataRow> {
  for (const row of rows) {
    if (row.user === 0) await setImmediate();
    yield row as Taste & DataRow;
  }
}

/** Another order in each pass, which the number of the pass decides. */
const turned = (pass: number) => slowly([...ROWS.slice(50 * pass), ...ROWS.slice(0, 50 * pass)]);

const columns = () => ({
  label: Float32Array.from(ROWS, ({ label }) => label),
  user: BigInt64Array.from(ROWS, ({ user }) => BigInt(user)),
  item: ROWS.map(({ item }) => [item]),
});

const batches = () =>
  Array.from({ length: 11 }, (_, at) => {
    const some = ROWS.slice(32 * at, 32 * at + 32);
    return schema.batch({
      label: some.map(({ label }) => label),
      user: some.map(({ user }) => [BigInt(user)]),
      item: some.map(({ item }) => [BigInt(item)]),
    });
  });

/** What is made anew in each process. */
const SOURCES: Readonly<Record<string, () => unknown>> = {
  'a list': () => [...ROWS],
  columns,
  'an iterable': () => new Set(ROWS),
  'a function': () => turned,
  'a data set in another order in each pass': () => Dataset.from(() => slowly(ROWS)).shuffle(100, { seed: 3 }),
  'a data set that is read twice in a pass': () =>
    Dataset.from(ROWS.slice(0, 165) as (Taste & DataRow)[])
      .shuffle(64)
      .repeat(2),
  'batches that are made already': () => batchList(batches()),
};
const WAYS: readonly EstimatorOptions[] = [{}, { prefetch: 2, postpush: true }, { prefetch: 1 }, { postpush: true }];

/** Files of the last checkpoint. */
const filesOf = (dir: string) =>
  Object.fromEntries(Object.entries(treeOf(dir)).filter(([name]) => name.startsWith(`model.ckpt-${STEPS}.`)));

for (const [number, [name, data]] of Object.entries(SOURCES).entries()) {
  // A plain run has half of them, each in another way.
  if (!DEEP && number % 2 === 1) continue;
  t.test(`${name}: a training in parts gives the bytes of one in one part`, async (t) => {
    const options = { ...WAYS[(number + (number >> 2)) % WAYS.length], deterministic: true, saveEverySteps: 8 };
    const dir = t.testdir();
    const [whole, parts] = [join(dir, 'whole'), join(dir, 'parts')];
    {
      await using estimator = tasteEstimator({ ...options, modelDir: whole });
      t.match(await estimator.train(data() as readonly Taste[], { epochs: 3 }), { step: STEPS, stoppedBy: 'epochs' });
    }
    for (const until of [8, 24, 1000]) {
      await using estimator = tasteEstimator({ ...options, modelDir: parts });
      const { step } = await estimator.train(data() as readonly Taste[], { epochs: 3, until });
      t.equal(step, Math.min(until, STEPS));
    }
    t.ok(Object.keys(filesOf(whole)).length >= 4);
    t.same(filesOf(parts), filesOf(whole));
  });
}

t.test('a call by steps goes on wherever the last one stopped, over the end of a pass too', async (t) => {
  const dir = t.testdir();
  for (const [part, steps] of [[33], [5, 17, 11]].entries()) {
    for (const count of steps) {
      await using estimator = tasteEstimator({ modelDir: join(dir, String(part)), deterministic: true });
      const data = Dataset.from(() => slowly(ROWS)).shuffle(40);
      await estimator.train(data as never, { steps: count });
    }
  }
  t.same(filesOf(join(dir, '1')), filesOf(join(dir, '0')));
});

t.test('data of the reader thread is gone on with, by passes and by steps', async (t) => {
  const model = { name: 'ffm', schema: { specs: ffmSchema() }, build: () => buildFfm() };
  const dir = t.testdir();
  const train = async (modelDir: string, calls: readonly ({ epochs: 3; until?: number } | { steps: number })[]) => {
    for (const limits of calls) {
      const data = ffmDataset({ kind: 'clicks', vocab: 50, batchSize: 32, seed: 1, examples: 352 });
      const session = { memoryBytes: 2 ** 26 };
      await using estimator = new Estimator(model, {
        ...{ modelDir: join(dir, modelDir), batchSize: 32, threads: 1, deterministic: true, session },
      });
      await estimator.train(data as never, limits);
    }
    return filesOf(join(dir, modelDir));
  };
  t.same(await train('passes', [{ epochs: 3, until: 15 }, { epochs: 3 }]), await train('whole', [{ epochs: 3 }]));
  t.same(await train('steps', [{ steps: 20 }, { steps: 13 }]), await train('at once', [{ steps: 33 }]));
});

t.test('what was stopped by a signal, with rows on their way, goes on with the next row', async (t) => {
  const dir = t.testdir();
  const seen: number[] = [];
  /** Rows that tell who they are by their label, one per batch. */
  async function* rows() {
    for (let at = 0; at < 40; at++) {
      if (at % 3 === 0) await setImmediate();
      yield { label: at, user: at, item: 0 };
    }
  }
  for (let run = 0; seen.length < 40 && run < 40; run++) {
    const stop = new AbortController();
    await using estimator = tasteEstimator({ modelDir: dir, batchSize: 1, prefetch: run % 3 });
    const hook = {
      beforeRun: () => fetches,
      afterRun: (_: unknown, [label]: readonly unknown[]) => {
        seen.push((label as Float32Array)[0]!);
        if (seen.length % 7 === 3) stop.abort();
      },
    };
    let fetches: readonly never[] = [];
    await estimator.train(rows as never, {
      epochs: 1,
      signal: stop.signal,
      hooks: ({ label }) => {
        fetches = [label as never];
        return [hook as never];
      },
    });
  }
  t.same(
    seen,
    Array.from({ length: 40 }, (_, at) => at),
  );
});

t.test('data that ended is read again, other data from its beginning', async (t) => {
  const dir = t.testdir();
  const notes: string[] = [];
  const train = async (rows: readonly Taste[], limits: { epochs: number } | { steps: number }, batchSize = 32) => {
    await using estimator = tasteEstimator({
      modelDir: dir,
      batchSize,
      log: (event) => void (event.event === 'note' && notes.push(event.message)),
    });
    const { examples } = await estimator.train(rows, limits);
    const checkpoint = await loadCheckpoint((await estimator.latestCheckpoint())!);
    return { examples, ...(checkpoint.input as object) };
  };
  t.match(await train(ROWS, { epochs: 1 }), { examples: 330 });
  t.match(await train(ROWS, { epochs: 1 }), { examples: 330 });
  t.match(await train(ROWS, { steps: 4 }), { pass: 1, batch: 4 }, 'the pass was over');
  t.match(await train(ROWS, { epochs: 2 }), { examples: 660 }, 'passes are counted from the first row');
  t.match(await train(ROWS, { steps: 4 }), { pass: 2, batch: 4 });
  t.same(notes, []);
  t.match(await train(tasteRows(330, 1000), { steps: 4 }), { pass: 0, batch: 4 }, 'other rows');
  t.equal(notes.length, 1);
  t.match(await train(tasteRows(330, 1000), { steps: 3 }, 16), { pass: 0, batch: 3 }, 'other batches');
  t.match(notes, [/not that of the checkpoint/, /read from its beginning/]);
});
