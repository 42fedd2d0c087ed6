import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { setLogSink } from '../../src/base/log.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { evaluate } from '../../src/metrics/evaluate.js';
import { Better } from '../../src/train/hooks/better.js';
import { type EarlyStop, EarlyStopping } from '../../src/train/hooks/early-stopping.js';
import {
  EvaluationHook,
  type EvaluationHookOptions,
  type EvaluationListener,
  type EvaluationReport,
} from '../../src/train/hooks/evaluation.js';
import { KeepBest } from '../../src/train/hooks/keep-best.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { contentOf } from '../checkpoint/helpers.js';
import { LossHook, loadBatches, smallSession } from './ffm-run.js';

/** Trains the demo model with evaluations on batches 4 to 7; `listeners` hear of them. */
async function train(
  t: Test,
  options: { steps: number; modelDir?: string } & Partial<EvaluationHookOptions>,
): Promise<{ reports: EvaluationReport[]; losses: number[]; trainer: LocalTrainer; hook: EvaluationHook }> {
  const { steps, modelDir, ...ofHook } = options;
  const model = buildFfm();
  const reports: EvaluationReport[] = [];
  const hook = new EvaluationHook({
    model,
    batches: (session) => loadBatches(session).slice(4),
    everySteps: 10,
    onEvaluated: (report) => void reports.push(report),
    ...ofHook,
  });
  const losses = new LossHook(model);
  const quiet = { beforeRun: () => losses.beforeRun(), afterRun: losses.afterRun.bind(losses), quietSteps: () => 1000 };
  const trainer = await LocalTrainer.create({
    model,
    session: smallSession(),
    modelDir: modelDir ?? null,
    steps,
    hooks: [hook, quiet],
  });
  t.teardown(() => trainer.close());
  const batches = loadBatches(trainer.session);
  let at = trainer.startStep;
  await trainer.train({ next: () => batches[at++ % 4]!, batchesAhead: Number.POSITIVE_INFINITY });
  return { reports, losses: losses.losses, trainer, hook };
}

t.test('evaluations come at their steps and at the end, and do not change the training', async (t) => {
  const { reports, losses, trainer, hook } = await train(t, { steps: 35, metrics: ['logLoss'] });
  t.same(
    reports.map(({ step }) => step),
    [10, 20, 30, 35],
  );
  t.equal(hook.latest, reports.at(-1));
  const batches = loadBatches(trainer.session).slice(4);
  const { heads, ...again } = await evaluate(trainer.session, buildFfmOf(trainer), batches);
  t.match(reports.at(-1), { ...again, metrics: heads }, 'the last is that of the model as it is');
  t.ok(Math.abs(reports[0]!.metrics.logLoss! - reports[0]!.loss) < 1e-6);
  const without = await train(t, { steps: 35, everySteps: 1000 });
  t.same(without.losses, losses, 'the same losses as without');
});

/** The model whose session it is: fetches are of its graph. */
function buildFfmOf(trainer: LocalTrainer) {
  const { graph } = trainer.session;
  const model = buildFfm();
  const here = (tensor: { op: { name: string }; index: number }) =>
    graph.ops.find(({ name }) => name === tensor.op.name)!.outputs[tensor.index]!;
  return { ...model, graph, pred: here(model.pred), label: here(model.label), loss: here(model.loss) };
}

t.test('evaluations cut groups of steps only where they are due', async (t) => {
  const { hook } = await train(t, { steps: 35 });
  t.equal(hook.quietSteps(35), 5, 'multiples of everySteps since the start');
  t.equal(hook.quietSteps(39), 1);
});

/** Has evaluations give these values, one after the other. */
class Scripted implements EvaluationListener {
  readonly #values: (number | null)[];
  readonly #inner: EvaluationListener;

  constructor(values: readonly (number | null)[], inner: EvaluationListener) {
    this.#values = [...values];
    this.#inner = inner;
  }

  afterEvaluation(...[context, report, model]: Parameters<EvaluationListener['afterEvaluation']>) {
    return this.#inner.afterEvaluation(context, { ...report, auc: this.#values.shift() ?? null }, model);
  }
}

t.test('training stops when the metric does not get better for as long as patience says', async (t) => {
  const warnings: string[] = [];
  const sink = setLogSink((level, event) => level === 'warn' && warnings.push(event));
  t.teardown(() => setLogSink(sink));
  const stops: EarlyStop[] = [];
  const stopping = new EarlyStopping({
    metric: 'auc',
    patience: 2,
    minDelta: 0.01,
    onStop: (stop) => stops.push(stop),
  });
  // 0.705 is not enough of a difference, 0.72 is; an undefined value neither counts nor ends the row.
  const values = [0.7, 0.705, 0.72, 0.71, null, 0.725, 0.9];
  const { trainer } = await train(t, { steps: 200, listeners: [new Scripted(values, stopping)] });
  t.equal(trainer.session.globalStep, 60);
  t.same(stops, [{ step: 60, metric: 'auc', best: 0.72, bestStep: 30 }]);
  t.equal(stopping.stale, 2);
  t.match(warnings, [/undefined/]);
});

t.test('a loss is better when it is less', async (t) => {
  const stopping = new EarlyStopping({ metric: 'loss', patience: 1 });
  const { trainer, reports } = await train(t, { steps: 60, listeners: [stopping] });
  const worse = reports.findIndex(
    ({ loss }, i) => i > 0 && loss >= Math.min(...reports.slice(0, i).map((r) => r.loss)),
  );
  t.equal(trainer.session.globalStep, worse < 0 ? 60 : reports[worse]!.step);
});

t.test('the best checkpoint is kept beside those of the training', async (t) => {
  const modelDir = t.testdir();
  const dir = join(modelDir, 'best');
  const best: number[] = [];
  const keeper = () =>
    new KeepBest({ dir, metric: 'auc', settings: { seed: 1 }, onBest: ({ step }) => void best.push(step) });
  const { trainer } = await train(t, {
    steps: 40,
    modelDir,
    listeners: [new Scripted([0.6, 0.8, 0.7, null], keeper())],
  });
  await trainer.close();
  t.same(best, [10, 20]);
  t.same(readdirSync(dir).sort(), [
    'checkpoint',
    ...['assets', 'data-00000-of-00001', 'index'].map((e) => `model.ckpt-20.${e}`),
  ]);
  const kept = await loadCheckpoint((await latestCheckpoint(dir))!);
  t.match(kept, { step: 20, settings: { seed: 1, best_metric: 'auc', best_value: 0.8 } });
  // A run to step 20 that saves there has the same content.
  const other = join(modelDir, 'other');
  const plain = await train(t, { steps: 20, modelDir: other });
  await plain.trainer.close();
  const { settings: _, ...rest } = contentOf(kept) as Record<string, unknown>;
  const { settings: __, ...expected } = contentOf(await loadCheckpoint((await latestCheckpoint(other))!)) as Record<
    string,
    unknown
  >;
  t.same(rest, expected);
});

t.test('a run that goes on has to beat the best of the runs before', async (t) => {
  const modelDir = t.testdir();
  const dir = join(modelDir, 'best');
  const best: number[] = [];
  const keeper = () => new KeepBest({ dir, metric: 'auc', onBest: ({ step }) => void best.push(step) });
  for (const values of [[0.8], [0.7, 0.9]]) {
    const { trainer } = await train(t, {
      steps: 10 * values.length,
      modelDir,
      listeners: [new Scripted(values, keeper())],
    });
    await trainer.close();
  }
  t.same(best, [10, 30]);
});

t.test('options that cannot be are refused', async (t) => {
  const bad = (make: () => unknown, reason: RegExp) => t.throws(make, { code: 'ML_OPTION', message: reason });
  bad(() => new EarlyStopping({ metric: 'auc', patience: 0 }), /patience/);
  bad(() => new EarlyStopping({ metric: 'calibration', patience: 1 }), /whether more of calibration is better/);
  bad(() => new EarlyStopping({ metric: 'auc', patience: 1, minDelta: -1 }), /minDelta|difference/);
  bad(() => new KeepBest({ dir: 'x', metric: 'auc', mode: 'up' as 'max' }), /no max or min/);
  bad(() => new EvaluationHook({ model: buildFfm(), batches: () => [], everySteps: 0 }), /everySteps/);
  const better = new Better('KeepBest', { metric: 'ndcg@5' });
  const report = { auc: 0.5, loss: 1, examples: 1, step: 1, ms: 1, metrics: { logLoss: 1 } };
  t.throws(() => better.valueOf(report), { code: 'ML_OPTION', message: /no ndcg@5/, hint: /auc, loss, logLoss/ });
});
