import { readdirSync } from 'node:fs';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { type FfmDatasetOptions, ffmBatches } from '../../src/demo/ffm-dataset.js';
import { ffmSchema } from '../../src/demo/ffm-example.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { Graph } from '../../src/graph/graph.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { bytesFor, writeBatch } from '../../src/memory/batch.js';
import { Session } from '../../src/runtime/session/session.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';
import type { RunContext, TrainHook } from '../../src/train/hooks/hook.js';
import { NanTensorHook } from '../../src/train/hooks/nan-tensor.js';
import { StopAtStepHook } from '../../src/train/hooks/stop-at-step.js';
import { LocalTrainer, type LocalTrainOptions } from '../../src/train/local-train.js';
import { MonitoredSession } from '../../src/train/monitored-session.js';
import { DATASET, LossHook, loadBatches, smallSession } from './ffm-run.js';

const endOfInput = () => new MonolithError('ML_OUT_OF_RANGE', { source: 'test' });

async function trainer(options: Partial<LocalTrainOptions> = {}): Promise<LocalTrainer> {
  return await LocalTrainer.create({
    model: buildFfm(),
    session: smallSession(),
    modelDir: null,
    steps: 1000,
    ...options,
  });
}

/** A batch like the first of `dataset` whose labels are not numbers. */
function nanBatch(session: Session, dataset: FfmDatasetOptions = DATASET): number {
  const [batch] = ffmBatches({ ...dataset, examples: dataset.batchSize });
  const feeds = batch!.feeds.map((feed) => (feed.kind === 'dense' ? { ...feed, values: feed.values.fill(NaN) } : feed));
  const counts = feeds.flatMap((feed) => (feed.kind === 'ragged' ? [feed.values.length] : []));
  const at = coreOf(session).arena.alloc(bytesFor(ffmSchema(), batch!.rows, counts), 'batch of NaN');
  writeBatch(coreOf(session).views, at, ffmSchema(), { rows: batch!.rows, feeds });
  return at;
}

t.test('the end of input is a normal stop, told at once or later', async (t) => {
  for (const later of [false, true]) {
    const ended: number[] = [];
    const local = await trainer({ hooks: [{ end: (session) => void ended.push(session.globalStep) }] });
    const batches = loadBatches(local.session);
    let next = 0;
    const take = () => {
      if (next === 7) throw endOfInput();
      return batches[next++]!;
    };
    t.equal(await local.train({ next: later ? async () => take() : take }), false);
    t.equal(local.session.globalStep, 7);
    t.same(ended, [7]);
    await local.close();
  }
});

t.test('an input that fills one memory again and again is asked for a batch at a time', async (t) => {
  const local = await trainer({});
  const [batch] = loadBatches(local.session);
  const seen: number[] = [];
  const next = () => {
    seen.push(local.session.globalStep);
    if (seen.length > 20) throw endOfInput();
    return batch!;
  };
  await local.train({ next });
  t.same(
    seen,
    Array.from({ length: 21 }, (_, step) => step),
  );
  await local.close();
});

t.test('a model whose train op counts no steps is refused at its first step', async (t) => {
  const model = buildFfm();
  const local = await trainer({ model: { ...model, trainOp: model.pred.op } });
  const [batch] = loadBatches(local.session);
  await t.rejects(local.train({ next: () => batch! }), { code: 'ML_GRAPH', message: /does not count the global step/ });
  await local.close();
});

t.test('an input that fails fails the run: nothing is saved and end is not called', async (t) => {
  const dir = t.testdir();
  let ended = false;
  const hook: TrainHook = {
    end: () => {
      ended = true;
    },
  };
  const local = await trainer({ modelDir: dir, hooks: [hook] });
  const batches = loadBatches(local.session);
  let next = 0;
  const input = {
    next: () => {
      if (next === 5) throw new MonolithError('ML_DATASET', { reason: 'it broke' });
      return batches[next++]!;
    },
  };
  await t.rejects(local.train(input), { code: 'ML_DATASET' });
  await local.close();
  t.equal(ended, false);
  t.same(readdirSync(dir), ['meta_graph_for_debugging.pb', 'monolith_checkpoint'], 'no checkpoint');
});

t.test('a loss that is not a number fails at its step, and that step is never saved', async (t) => {
  const dir = t.testdir();
  const model = buildFfm();
  const losses = new LossHook(model);
  const local = await trainer({ model, modelDir: dir, saveEverySteps: 1, hooks: [losses] });
  const [batch] = loadBatches(local.session);
  const bad = nanBatch(local.session);
  let next = 0;
  await t.rejects(local.train({ next: () => (next++ === 3 ? bad : batch!) }), {
    code: 'ML_NAN_LOSS',
    fields: { step: 4 },
    hint: /learning rate/,
  });
  await local.close();
  t.equal(losses.losses.length, 3);
  t.ok(readdirSync(dir).includes('model.ckpt-3.index'));
  t.notOk(readdirSync(dir).some((name) => name.startsWith('model.ckpt-4')));
});

t.test('told to log, it goes on past a loss that is not a number and tells of every such step', async (t) => {
  const seen: unknown[] = [];
  const onNan = ({ code, fields }: MonolithError) => void seen.push([code, fields.step]);
  const model = buildFfm();
  const losses = new LossHook(model);
  const local = await trainer({ model, steps: 4, hooks: [losses], nanLoss: { policy: 'log', onNan } });
  const [batch] = loadBatches(local.session);
  const bad = nanBatch(local.session);
  let next = 0;
  await local.train({ next: () => (next++ === 1 ? bad : batch!) });
  await local.close();
  t.equal(losses.losses.length, 4);
  const nan = losses.losses.flatMap((loss, index) => (Number.isNaN(loss) ? [index + 1] : []));
  t.ok(nan.includes(2));
  t.same(
    seen,
    nan.map((step) => ['ML_NAN_LOSS', step]),
  );
});

t.test('NanTensorHook looks at every value of a tensor, and by itself warns once', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 2 });
  const at = (globalStep: number) => ({ globalStep }) as RunContext;
  const failing = new NanTensorHook(x);
  failing.afterRun(at(1), [Float32Array.of(1, Number.POSITIVE_INFINITY)]);
  failing.afterRun(at(1), [undefined]);
  t.throws(() => failing.afterRun(at(7), [Float32Array.of(0, Number.NaN)]), {
    code: 'ML_NAN_LOSS',
    message: 'NaN loss during training at step 7',
  });
  const warnings: (Error & { code?: string })[] = [];
  const listen = (warning: Error) => void warnings.push(warning);
  process.on('warning', listen);
  t.teardown(() => process.off('warning', listen));
  const logging = new NanTensorHook(x, { policy: 'log' });
  logging.afterRun(at(8), [Number.NaN]);
  logging.afterRun(at(9), [Number.NaN]);
  await new Promise((resolve) => setImmediate(resolve));
  t.match(warnings, [{ code: 'ML_NAN_LOSS', message: /at step 8$/ }]);
  t.equal(warnings.length, 1);
});

t.test('an aborted run stops, saves and says so; one aborted before its start runs no step', async (t) => {
  const dir = t.testdir();
  const abort = new AbortController();
  const hook: TrainHook = { afterRun: ({ globalStep }) => (globalStep === 6 ? abort.abort() : undefined) };
  const local = await trainer({ modelDir: dir, signal: abort.signal, hooks: [hook] });
  const batches = loadBatches(local.session);
  t.equal(await local.train({ next: () => batches[0]! }), true);
  t.equal(local.session.globalStep, 6);
  await local.close();
  t.ok(readdirSync(dir).includes('model.ckpt-6.index'));

  const again = await trainer({ modelDir: dir, signal: abort.signal });
  t.equal(again.startStep, 6);
  t.equal(again.lastStep, 1006);
  t.equal(await again.train({ next: () => t.fail('no batch is asked for') as never }), true);
  await again.close();
  t.same(
    readdirSync(dir).filter((name) => name.endsWith('.index')),
    ['model.ckpt-6.index'],
  );
});

t.test('the stop rule counts from the start of the session, or to a step; the smaller wins', async (t) => {
  const stepsFrom = async (start: number, rule: { steps?: number; maxSteps?: number }) => {
    const model = buildFfm();
    const stop = new StopAtStepHook(rule);
    const createSession = async () => {
      const session = await Session.create(model.graph, smallSession());
      session.writeVariable('global_step', BigInt64Array.of(BigInt(start)));
      return session;
    };
    const monitored = await MonitoredSession.create({ graph: model.graph, hooks: [stop], createSession });
    const [batch] = loadBatches(monitored.session);
    while (!monitored.shouldStop) await monitored.run([model.trainOp], batch);
    const end = monitored.session.globalStep;
    await monitored.close();
    t.equal(end, Math.max(start, stop.lastStep));
    return end;
  };
  t.equal(await stepsFrom(0, { steps: 3 }), 3);
  t.equal(await stepsFrom(5, { steps: 3 }), 8);
  t.equal(await stepsFrom(5, { maxSteps: 7 }), 7);
  t.equal(await stepsFrom(5, { steps: 3, maxSteps: 6 }), 6);
  t.equal(await stepsFrom(5, { steps: 1, maxSteps: 9 }), 6);
  t.equal(await stepsFrom(5, { maxSteps: 5 }), 5, 'nothing is left to train');
});

t.test('a step too large for memory is refused before there is any input', async (t) => {
  const local = await trainer({ session: smallSession({ batchSize: 1 << 20 }) });
  t.teardown(() => local.close());
  await t.rejects(local.prepare(), { code: 'ML_MEMORY', hint: /smaller batch/ });
});

t.test('settings that changed since the checkpoint was made are told', async (t) => {
  const dir = t.testdir();
  const run = async (settings: Record<string, string | number>) => {
    const local = await trainer({ modelDir: dir, steps: 2, settings });
    const [batch] = loadBatches(local.session);
    await local.train({ next: () => batch! });
    await local.close();
    return local.changedSettings;
  };
  t.same(await run({ seed: 1, data: 'a' }), []);
  t.same(await run({ seed: 1, data: 'a' }), []);
  t.same(await run({ seed: 2, data: 'a', more: 7 }), ['seed 1, now 2']);
  t.same(await run({ data: 'b' }), ['data a, now b']);
});

t.test('a run without a checkpoint of its own begins with another one, and then goes on from its own', async (t) => {
  const [old, own] = [`${t.testdir()}/old`, `${t.testdir()}/own`];
  const first = await trainer({ modelDir: old, steps: 5 });
  await first.train({ next: () => loadBatches(first.session)[0]! });
  await first.close();
  t.equal(first.restoreReport, null);

  const wider = () => {
    const model = buildFfm();
    variable(model.graph, { name: 'new/bias', shape: [1], initial: () => Float32Array.of(7) });
    return model;
  };
  const options = { modelDir: own, steps: 2, restore: { from: old, mode: 'warm-start', missing: ['new/*'] } } as const;
  await t.rejects(trainer({ ...options, model: wider(), restore: { from: old } }), { code: 'ML_CKPT_MODEL' });
  for (const [startStep, outcome] of [
    [5, 'initialised'],
    [7, 'restored'],
  ] as const) {
    const local = await trainer({ ...options, model: wider() });
    t.equal(local.startStep, startStep);
    t.match(local.restored, startStep === 5 ? /old.model\.ckpt-5$/ : /own.model\.ckpt-7$/);
    t.equal(local.restoreReport?.tensors.find(({ name }) => name === 'new/bias')?.outcome, outcome);
    await local.train({ next: () => loadBatches(local.session)[0]! });
    await local.close();
  }
});
