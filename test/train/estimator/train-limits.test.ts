import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { TrainHook } from '../../../src/train/hooks/hook.js';
import type { Taste } from './tastes.js';
import { tasteEstimator, tasteRows } from './tastes.js';

const ROWS = tasteRows(330); // 11 batches of 32, the last with 10 rows

t.test('steps, epochs and until say when training ends, and the result says why', async (t) => {
  await using estimator = tasteEstimator({ modelDir: t.testdir() });
  t.match(await estimator.train(ROWS, { steps: 15 }), { step: 15, stoppedBy: 'steps', examples: 330 + 4 * 32 });
  t.match(await estimator.train(ROWS, { epochs: 2 }), { step: 37, stoppedBy: 'epochs', examples: 660 });
  t.match(await estimator.train(ROWS, { epochs: 2, until: 40 }), { step: 40, stoppedBy: 'until' });
  t.match(await estimator.train(ROWS, { steps: 1, maxSteps: 60 }), { step: 41, stoppedBy: 'steps' });
  const skipped = await estimator.train(ROWS, { maxSteps: 41 });
  t.match(skipped, { step: 41, startStep: 41, loss: null, examples: 0, stoppedBy: 'until', checkpoint: /-41$/ });
  t.match(await estimator.train(ROWS, { steps: 0 }), { step: 41, loss: null, stoppedBy: 'steps' });
});

t.test(
  'steps and epochs, both or neither, and numbers that are none are refused before anything is made',
  async (t) => {
    await using estimator = tasteEstimator();
    const refused = (options: object, error: object) =>
      t.rejects(estimator.train(ROWS, options as { steps: number }), { code: 'ML_OPTION', ...error });
    await refused({}, { message: /neither steps nor epochs/, hint: /epochs: 1/ });
    await refused({ steps: 3, epochs: 1 }, { message: /both given/, hint: /one of them/ });
    await refused({ steps: 1.5 }, { message: /steps is a whole number/ });
    await refused({ epochs: 0 }, { message: /epochs is a whole number from 1/ });
    await refused({ epoch: 1 }, { message: /no option epoch/, hint: /epochs/ });
    await refused({ steps: 1, evaluate: { data: ROWS, everySteps: 0 } }, { message: /everySteps/ });
    await refused({ steps: 1, evaluate: { data: ROWS, stopEarly: { patients: 1 } } }, { hint: /patience/ });
    await refused({ steps: 1, hooks: {} }, { message: /hooks is a list of hooks/ });
    await refused({ steps: 1, hooks: [{ afterRunn: () => undefined }] }, { message: /hooks\[0\] is no hook/ });
    await refused({ epochs: 2, evaluate: { data: ROWS.values() } }, { message: /only once/ });
    const once = estimator.train(ROWS.values(), { epochs: 2 });
    await t.rejects(once, { code: 'ML_OPTION', message: /can be read only once/, hint: /a function/ });
    t.equal(await estimator.latestCheckpoint(), null);
  },
);

t.test('rows come from lists, iterables, functions, streams and columns, and train the same', async (t) => {
  async function* slowly(rows: Iterable<Taste>) {
    for (const row of rows) {
      if (row.user === 0) await setImmediate();
      yield row;
    }
  }
  const columns = {
    label: Float32Array.from(ROWS, ({ label }) => label),
    user: BigInt64Array.from(ROWS, ({ user }) => BigInt(user)),
    item: ROWS.map(({ item }) => [item]),
  };
  const given = [ROWS, new Set(ROWS), () => ROWS.values(), () => slowly(ROWS), async () => ROWS, columns];
  const losses: (number | null)[] = [];
  for (const data of given) {
    await using estimator = tasteEstimator();
    const { loss, step } = await estimator.train(data as readonly Taste[], { epochs: 2 });
    t.equal(step, 22);
    losses.push(loss);
  }
  t.equal(new Set(losses).size, 1, losses.join(' '));
  await using estimator = tasteEstimator();
  const stream = await estimator.train(slowly(ROWS), { steps: 100 });
  t.match(stream, { step: 11, examples: 330, stoppedBy: 'end of data' }, 'a stream ends when it is read');
});

t.test('a signal saves and stops, also while rows are waited for', async (t) => {
  await using estimator = tasteEstimator({ modelDir: t.testdir() });
  const abort = new AbortController();
  async function* stuck() {
    yield* ROWS;
    await new Promise(() => undefined);
  }
  const later: TrainHook = {
    afterRun: ({ globalStep }) => void (globalStep === 10 && setImmediate().then(() => abort.abort())),
  };
  const run = await estimator.train(stuck(), { steps: 1000, signal: abort.signal, hooks: [later] });
  t.match(run, { stoppedBy: 'signal', step: 10, checkpoint: /-10$/ });
  t.match(await estimator.train(ROWS, { steps: 5, signal: AbortSignal.abort() }), {
    step: 10,
    loss: null,
    stoppedBy: 'signal',
  });
});

t.test('hooks of the estimator and of a call see the training, and may stop it', async (t) => {
  const seen: string[] = [];
  const named = (name: string): TrainHook => ({ end: (session) => void seen.push(`${name} ${session.globalStep}`) });
  const stops: TrainHook = { afterRun: (context) => void (context.globalStep === 4 && context.requestStop()) };
  await using estimator = tasteEstimator({ hooks: (model) => [named(`of ${model.name}`)] });
  const run = await estimator.train(ROWS, { steps: 9, hooks: [named('of the call'), stops] });
  t.match(run, { step: 4, stoppedBy: 'hook' });
  await estimator.train(ROWS, { steps: 1 });
  t.same(seen, ['of tastes 4', 'of the call 4', 'of tastes 5']);
});

t.test('progress is told with the loss, the end and the last evaluation', async (t) => {
  await using estimator = tasteEstimator();
  const told: { step: number; endStep: number | null; loss: number; auc: number | null }[] = [];
  await estimator.train(ROWS, {
    epochs: 2,
    progressIntervalMs: 0,
    evaluate: { data: ROWS, everySteps: 11, keepBest: false },
    onProgress: (progress) => told.push(progress),
  });
  t.same(
    told.map(({ step, endStep }) => [step, endStep]),
    Array.from({ length: 22 }, (_, step) => [step + 1, 22]),
  );
  t.equal(told[0]!.auc, null);
  t.ok(told.at(-1)!.auc! > 0.3);
});

t.test('a second training waits for none: it is refused while the first is under way', async (t) => {
  await using estimator = tasteEstimator();
  const first = estimator.train(ROWS, { steps: 3 });
  await t.rejects(estimator.train(ROWS, { steps: 3 }), { code: 'ML_CANCELLED', message: /under way/ });
  t.match(await first, { step: 3 });
});

t.test('close stops a training that is under way, which saves', async (t) => {
  const estimator = tasteEstimator({ modelDir: t.testdir() });
  let begun: () => void = () => undefined;
  const steps = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const training = estimator.train(ROWS, { steps: 1e9, hooks: [{ afterRun: () => begun() }] });
  await steps;
  await estimator.close();
  const { step, stoppedBy, checkpoint } = await training;
  t.match({ stoppedBy, checkpoint }, { stoppedBy: 'signal', checkpoint: new RegExp(`-${step}$`) });
});

t.test('a signal ends evaluations and predictions, also while rows are waited for', async (t) => {
  await using estimator = tasteEstimator();
  await estimator.train(ROWS, { steps: 2 });
  const abort = new AbortController();
  async function* stuck() {
    yield* ROWS.slice(0, 64);
    abort.abort();
    await new Promise(() => undefined);
  }
  const taken: number[] = [];
  const all = async () => {
    for await (const { prediction } of estimator.predict(stuck(), { signal: abort.signal })) taken.push(prediction);
  };
  await t.rejects(all(), { code: 'ML_CANCELLED', message: /a prediction/ });
  t.ok(taken.length <= 64);
  const { signal } = abort;
  await t.rejects(estimator.predict(ROWS, { signal }).next(), { code: 'ML_CANCELLED' });
  await t.rejects(estimator.evaluate(stuck(), { signal }), { code: 'ML_CANCELLED', message: /an evaluation/ });
  t.equal((await estimator.evaluate(ROWS)).examples, ROWS.length, 'the estimator goes on');
});
