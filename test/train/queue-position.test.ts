/** @file What waits in a queue of the graph belongs to a checkpoint: a run that goes on has every element once. */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { InputState } from '../../src/base/input-state.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { restoreSession } from '../../src/checkpoint/restore-session.js';
import type { MultiFIFOQueue } from '../../src/queue/fifo-queue.js';
import { type Feeds, Session, type SessionOptions } from '../../src/runtime/session/session.js';
import { HashTable } from '../../src/sparse/table/hash-table.js';
import { CheckpointSaverHook } from '../../src/train/hooks/checkpoint-saver.js';
import { EnqueueHook } from '../../src/train/hooks/enqueue-hook.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { restoreInputState } from '../../src/train/hooks/input-state.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { queueInput } from '../../src/train/queue-input.js';
import { raggedOf } from '../runtime/with-session.js';
import { countingModel } from './counting-model.js';

const ELEMENTS = 40;
const WAYS = [0, 1, 2].flatMap((prefetch) => [false, true].map((postpush) => ({ prefetch, postpush })));
const ALL = Array.from({ length: ELEMENTS }, (_, id) => [BigInt(id), -1]);

/** One id per element, each once, some of them late. */
class Ids implements AsyncIterable<Feeds> {
  at = 0;

  async *[Symbol.asyncIterator](): AsyncGenerator<Feeds> {
    while (this.at < ELEMENTS) {
      if (this.at % 3 === 0) await setImmediate();
      yield { ids: raggedOf([[BigInt(this.at++)]]) };
    }
  }

  saveState(unused: number): InputState {
    return { at: this.at - unused };
  }

  restoreState(state: InputState): void {
    this.at = (state as { at: number }).at;
  }
}

const options = (more: Partial<SessionOptions>): SessionOptions => ({
  schema: [{ name: 'ids', kind: 'ragged' }],
  batchSize: 1,
  threads: 1,
  memoryBytes: 2 ** 25,
  ...more,
});

t.test('training through a queue that is stopped anywhere has every element once', async (t) => {
  const root = t.testdir();
  for (const [number, way] of WAYS.entries()) {
    const dir = join(root, String(number));
    const [steps, trained]: [number[], [bigint, number][]] = [[], []];
    for (let run = 0; trained.length === 0; run++) {
      const { config, queue, model } = countingModel(1 + (number % 4));
      const stop = new AbortController();
      let polls = 0;
      const hook = { poll: () => void (run < 2 && ++polls > number % 3 && stop.abort()) };
      const trainer = await LocalTrainer.create({
        model,
        modelDir: dir,
        session: options(way),
        steps: ELEMENTS,
        signal: stop.signal,
        hooks: [new EnqueueHook(queue as MultiFIFOQueue, () => new Ids()), hook],
      });
      await trainer.train((session) => queueInput(session, queue!, { batchesAhead: 3 + run }));
      steps.push(trainer.session.globalStep);
      await trainer.close();
      t.same((await loadCheckpoint((await latestCheckpoint(dir))!)).input, { at: steps.at(-1) });
      if (stop.signal.aborted) continue;
      trained.push(
        ...[...HashTable.of(trainer.session, config).rows()].map(
          ({ id, weights }) => [id, weights[0]!] as [bigint, number],
        ),
      );
    }
    t.equal(new Set(steps).size, 3, `${JSON.stringify(way)}: ${steps}`);
    t.same(
      trained.sort(([a], [b]) => Number(a - b)),
      ALL,
    );
  }
});

t.test('a loop of its own over a queue goes on from what was saved', async (t) => {
  const dir = t.testdir();
  const train = async (steps: number) => {
    const { config, queue, model } = countingModel(4);
    const saver = new CheckpointSaverHook({ modelDir: dir, modelName: 'counting', everySteps: 4 });
    const monitored = await MonitoredSession.create({
      graph: model.graph,
      hooks: [saver, new EnqueueHook(queue as MultiFIFOQueue, () => new Ids())],
      createSession: async () => {
        const session = await Session.create(model.graph, options({}));
        const path = await latestCheckpoint(dir).catch(() => null);
        if (path !== null) {
          await restoreSession(session, path);
          restoreInputState(session, (await loadCheckpoint(path)).input!);
        }
        return session;
      },
    });
    for (let step = 0; step < steps && !monitored.shouldStop; step++) {
      await monitored.run([model.trainOp]).catch((error) => t.match(error, { code: 'ML_OUT_OF_RANGE' }));
    }
    await monitored.end();
    const rows = [...HashTable.of(monitored.session, config).rows()].map(
      ({ id, weights }) => [id, weights[0]!] as const,
    );
    await monitored.close();
    return rows.sort(([a], [b]) => Number(a - b));
  };
  t.same(await train(10), ALL.slice(0, 10));
  t.same(await train(13), ALL.slice(0, 23));
  t.same(await train(ELEMENTS), ALL);
});

t.test('a position that comes too late, or of two sources, is refused', async (t) => {
  const { queue, model } = countingModel(2);
  const open = (hooks: readonly TrainHook[]) =>
    LocalTrainer.create({ model, modelDir: null, session: options({}), steps: 2, hooks });
  const fill = () => new EnqueueHook(queue as MultiFIFOQueue, () => new Ids());
  await t.rejects(open([fill(), fill()]), { code: 'ML_FEED', message: /another queue of the session/ });
  const half = new EnqueueHook(queue as MultiFIFOQueue, () => Object.assign([], { saveState: () => 1 }));
  await t.rejects(open([half]), { code: 'ML_FEED', message: /it has saveState and no restoreState/ });
  const late = countingModel(2);
  const trainer = await LocalTrainer.create({
    model: late.model,
    modelDir: null,
    session: options({}),
    steps: 2,
    hooks: [
      new EnqueueHook(late.queue as MultiFIFOQueue, () => new Ids()),
      { afterCreateSession: (session) => restoreInputState(session, { at: 5 }) },
    ],
  });
  await t.rejects(
    trainer.train((session) => queueInput(session, late.queue!)),
    {
      code: 'ML_FEED',
      hint: /before the EnqueueHook/,
    },
  );
  await trainer.close();
});
