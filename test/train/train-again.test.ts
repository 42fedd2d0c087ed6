import { mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { LocalTrainer, type LocalTrainOptions, type TrainInput } from '../../src/train/local-train.js';
import { loadBatches, smallSession } from './ffm-run.js';

const endOfInput = () => new MonolithError('ML_OUT_OF_RANGE', { source: 'test' });

function trainer(options: Partial<LocalTrainOptions> = {}): Promise<LocalTrainer> {
  return LocalTrainer.create({ model: buildFfm(), session: smallSession(), modelDir: null, steps: 1000, ...options });
}

/** The first `count` batches, then the end of input. */
function epochOf(batches: readonly number[], count: number) {
  let at = 0;
  return {
    next: () => {
      if (at === count) throw endOfInput();
      return batches[at++]!;
    },
  };
}

t.test('train goes on when it is called again, saves each time, and says when there is nothing left', async (t) => {
  const dir = t.testdir();
  const ended: number[] = [];
  const hook: TrainHook = { end: (session) => void ended.push(session.globalStep) };
  const local = await trainer({ modelDir: dir, steps: 12, hooks: [hook] });
  const batches = loadBatches(local.session);
  for (const epoch of [1, 2]) {
    t.equal(await local.train(epochOf(batches, 5)), false);
    t.equal(local.session.globalStep, 5 * epoch);
  }
  const under = local.train(epochOf(batches, 5));
  await t.rejects(local.train(epochOf(batches, 5)), { code: 'ML_CANCELLED', message: /it is under way/ });
  await under;
  t.equal(local.session.globalStep, 12, 'steps counts those of all calls');
  await t.rejects(local.train(epochOf(batches, 5)), {
    code: 'ML_CANCELLED',
    message: /step 12, its last one, is reached/,
    hint: /give more/,
  });
  await local.close();
  t.same(ended, [5, 10, 12]);
  for (const step of ended) t.ok(readdirSync(dir).includes(`model.ckpt-${step}.index`));
});

t.test('training that failed is not gone on with', async (t) => {
  const local = await trainer();
  const failing = () => {
    throw new MonolithError('ML_DATASET', { reason: 'it broke' });
  };
  await t.rejects(local.train({ next: failing }), { code: 'ML_DATASET' });
  await t.rejects(local.train(epochOf(loadBatches(local.session), 1)), { code: 'ML_CANCELLED', message: /failed/ });
  await local.close();
});

t.test('an input that does not give addresses is refused by name', async (t) => {
  // What has no next fails before anything is begun, so that one trainer serves for those and one more.
  const odd: readonly (readonly unknown[])[] = [
    [undefined, [1], { next: () => null }],
    [{ next: async () => ({ value: 1, done: false }) }],
    [[64][Symbol.iterator]()],
  ];
  for (const inputs of odd) {
    const local = await trainer();
    for (const input of inputs) {
      await t.rejects(local.train(input as TrainInput), { code: 'ML_FEED', hint: /loadBatches/ });
    }
    await local.close();
  }
});

t.test('until is a global step: a run that is started again does not train past it', async (t) => {
  const dir = t.testdir();
  const reached: number[] = [];
  for (const limits of [{ until: 4 }, { until: 9, steps: 2 }, { until: 6 }, { until: 3 }]) {
    const local = await LocalTrainer.create({ model: buildFfm(), session: smallSession(), modelDir: dir, ...limits });
    await local.train(epochOf(loadBatches(local.session), 8));
    reached.push(local.session.globalStep);
    await local.close();
  }
  t.same(reached, [4, 6, 6, 6]);
  const refused = (limits: Partial<LocalTrainOptions>) =>
    LocalTrainer.create({ model: buildFfm(), session: smallSession(), modelDir: null, ...limits });
  await t.rejects(refused({}), { code: 'ML_FLAG', message: /neither it nor until/ });
  await t.rejects(refused({ until: Number.NaN }), { code: 'ML_FLAG', message: /until/ });
  await t.rejects(refused({ steps: 1.5 }), { code: 'ML_FLAG', message: /steps: 1\.5/ });
  for (const saveEverySteps of [-5, 0.5, Number.NaN, '2' as unknown as number]) {
    await t.rejects(refused({ steps: 1, saveEverySteps }), { code: 'ML_FLAG', message: /saveEverySteps/ });
  }
});

t.test('a save on the way that fails is told of and tried again, the last one fails the run', async (t) => {
  const dir = t.testdir();
  const state = join(dir, 'checkpoint');
  const log: string[] = [];
  /** A folder in the place of the state file cannot be replaced. */
  const block: TrainHook = {
    afterRun: ({ globalStep }) => {
      if (globalStep === 1) mkdirSync(state);
      if (globalStep === 3) rmdirSync(state);
      if (globalStep === 9) {
        rmSync(state, { force: true });
        mkdirSync(state);
      }
    },
  };
  const local = await trainer({
    modelDir: dir,
    steps: 9,
    saveEverySteps: 2,
    hooks: [block],
    onSaved: (step) => void log.push(`saved ${step}`),
    onSaveFailed: (step, { code }) => void log.push(`failed ${step} ${code}`),
  });
  const batches = loadBatches(local.session);
  const withBlock = epochOf([...batches, ...batches], 9);
  await t.rejects(local.train(withBlock), { code: 'ML_CKPT_WRITE' });
  t.same(log, ['failed 2 ML_CKPT_WRITE', 'saved 4', 'saved 6', 'saved 8']);
  rmdirSync(state);
  await local.close();
});
