/** @file Train and serve in one process: answers follow the training, and whatever is wrong with a delta is noticed. */
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { f } from '../../../src/data/fields.js';
import { defineSchema } from '../../../src/data/schema.js';
import { DeltaHook } from '../../../src/serve/fresh/delta-hook.js';
import { type FollowEvent, Follower } from '../../../src/serve/fresh/follow.js';
import { createPredictHandler } from '../../../src/serve/online/predict-handler.js';
import { ServedModel } from '../../../src/serve/online/served-model.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import type { TrainHook } from '../../../src/train/hooks/hook.js';
import { deepfm } from '../../../src/zoo/deep.js';
import { listOf } from '../../train/estimator/tastes.js';
import { askingOf } from '../online/served.js';
import { small } from '../shops.js';

const schema = defineSchema({ user: f.id(), item: f.id(), price: f.number(), bought: f.label() });
const rowAt = (at: number) => ({ user: at % 97, item: (at * 7) % 53, price: at % 10, bought: (at % 97) % 2 });
const asked = Array.from({ length: 120 }, (_, at) => rowAt(at * 3));

interface Training {
  readonly dir: string;
  readonly estimator: Estimator<typeof schema.features>;
  /** Trains on so many rows and calls back with a model that follows, once its first version is there. */
  train(from: number, count: number, hooks?: readonly TrainHook[]): Promise<void>;
}

function training(t: Test, name: string, everySteps: number): Training {
  const dir = join(root, name);
  const model = deepfm(schema, { dim: 4, hidden: [8] });
  const session = { memoryBytes: 2 ** 27 };
  const options = { modelDir: join(dir, 'run'), batchSize: 50, threads: 1, seed: 1, session };
  const estimator = new Estimator(model, options);
  t.teardown(() => estimator.close());
  const fresh = () => new DeltaHook({ model, dir: join(dir, 'out'), everySteps, touchedMax: 4096 });
  return {
    dir: join(dir, 'out'),
    estimator,
    async train(from, count, hooks = []) {
      const rows = Array.from({ length: count }, (_, at) => rowAt(from + at));
      await estimator.train(rows, { epochs: 1, hooks: () => [fresh(), ...hooks] } as never);
    },
  };
}

const root = t.testdir();

async function following(t: Test, dir: string) {
  const events: FollowEvent[] = [];
  const model = await ServedModel.open('shop', dir, { load: small, pollMs: 0 });
  const follower = new Follower(model, { log: (event) => events.push(event) });
  t.teardown(async () => {
    await follower.close();
    await model.close();
  });
  const predict = async () => Array.from(await model.current.model.predict(asked as never));
  return { events, model, follower, predict };
}

const predictedBy = async (estimator: Training['estimator']) =>
  (await listOf(estimator.predict(asked))).map(({ prediction }) => prediction);

const worst = (a: readonly number[], b: readonly number[]) =>
  a.reduce((most, value, at) => Math.max(most, Math.abs(value - b[at]!)), 0);

t.test('answers follow the training, while they are asked', async (t) => {
  const { dir, train, estimator } = training(t, 'follows', 3);
  let served: Awaited<ReturnType<typeof following>> | undefined;
  const seen: number[] = [];
  const statuses = new Set<number>();
  const watcher: TrainHook = {
    async afterRun({ globalStep }) {
      served ??= await following(t, dir);
      await served.follower.refresh();
      const ask = askingOf(createPredictHandler({ shop: served.model }));
      statuses.add(
        (await ask('/v1/models/shop:predict', { instances: asked.slice(0, 5).map(({ bought: _, ...row }) => row) }))
          .status,
      );
      if (globalStep % 3 === 0) seen.push(served.follower.sequence!);
    },
  };
  await train(0, 1000, [watcher]);
  const { follower, predict, events } = served!;
  t.ok(seen.length > 3 && seen.at(-1)! > seen[0]!, `deltas ${seen}`);
  await follower.refresh();
  t.ok(worst(await predict(), await predictedBy(estimator)) < 1e-6, 'as the training predicts');
  t.same([...statuses], [200]);
  t.ok(events.every(({ event }) => event === 'delta'));
  t.match(events.at(-1), { event: 'delta', sequence: 7, step: 20 });
});

t.test('a delta that is lost, comes again or is damaged is noticed, and a whole version follows', async (t) => {
  const { dir, train, estimator } = training(t, 'lost', 4);
  await train(0, 200);
  const { follower, predict, events, model } = await following(t, dir);
  await follower.refresh();
  t.equal(follower.sequence, 1);
  const delta = (sequence: number) => join(dir, 'deltas', `${`${sequence}`.padStart(12, '0')}.safetensors`);
  await follower.refresh();
  t.equal(events.length, 1, 'a delta that was applied is not applied again');

  await copyFile(delta(1), delta(3));
  await follower.refresh();
  t.match(events.at(-1), { event: 'behind', reason: /after delta 1 comes 3/ });
  t.ok((await readFile(join(dir, 'resend'))).length === 0, 'a whole version is asked for');
  await rename(delta(3), delta(2));
  await follower.refresh();
  t.match(events.at(-1), { event: 'behind', reason: /the file is delta 1 of run/ }, 'one that comes as another');
  await writeFile(delta(2), (await readFile(delta(1))).subarray(0, 100));
  await follower.refresh();
  t.match(events.at(-1), { event: 'behind' }, 'one that is cut off');
  t.equal(follower.sequence, 1, 'answers are as they were');

  const before = model.current.version;
  await train(200, 400);
  await follower.refresh();
  await model.refresh();
  t.not(model.current.version, before);
  await follower.refresh();
  t.ok(worst(await predict(), await predictedBy(estimator)) < 1e-6, 'as the training predicts again');
});

t.test('ids that are gone are told as gone', async (t) => {
  const { dir, train } = training(t, 'gone', 2);
  let served: Awaited<ReturnType<typeof following>> | undefined;
  const { tablesIn } = await import('../../../src/train/savers/session-tables.js');
  const remover: TrainHook = {
    async afterRun({ globalStep, session }) {
      served ??= await following(t, dir);
      if (globalStep !== 5) return;
      const { table } = tablesIn(session).find(({ name }) => name.includes('user'))!;
      await session.hold(async () => table.remove([5n, 6n]));
    },
  };
  await train(7, 250, [remover]);
  await served!.follower.refresh();
  const { model } = served!.model.current;
  const known = model.tableOfFeature('user').contains([5n, 6n, 50n]);
  t.same([...known], [0, 0, 1]);
  t.same(
    served!.events.map(({ event, sequence }) => [event, sequence]),
    [
      ['delta', 1],
      ['delta', 2],
      ['delta', 3],
    ],
  );
});

t.test('options of the hook are held to what they can be', async (t) => {
  const model = deepfm(schema, { dim: 4 });
  t.throws(() => new DeltaHook({ model, dir: 'x', everySteps: 0 }), {
    code: 'ML_OPTION',
    message: /everySteps is above 0/,
  });
  t.throws(() => new DeltaHook({ model, dir: 'x', evrySteps: 1 } as never), { code: 'ML_OPTION', hint: /everySteps/ });
});
