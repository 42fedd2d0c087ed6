import t from 'tap';
import { ExponentialDecay } from '../../src/base/rates/schedules.js';
import { snapshotSession } from '../../src/checkpoint/session-snapshot.js';
import { GradientDescentOptimizer } from '../../src/compat/optimizers.js';
import { type FfmDatasetOptions, loadFfmBatches } from '../../src/demo/ffm-dataset.js';
import { ffmSchema } from '../../src/demo/ffm-example.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { Graph } from '../../src/graph/graph.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import { addBias } from '../../src/graph/ops/rows.js';
import { placeholder, variable } from '../../src/graph/ops/state.js';
import { STEPS_AHEAD_MAX } from '../../src/runtime/pool/thread-pool.js';
import type { FetchValue } from '../../src/runtime/session/fetch.js';
import type { Fetch } from '../../src/runtime/session/session.js';
import type { RunContext, TrainHook } from '../../src/train/hooks/hook.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import type { ModelSpec } from '../../src/train/model-spec.js';
import { withSession } from '../runtime/with-session.js';

const STEPS = 60;
const dataset: FfmDatasetOptions = { kind: 'clicks', vocab: 20, batchSize: 32, seed: 7, examples: 32 * 9 };

/** Records what a hook is told; with `quiet` it lets steps run in groups. */
class Recorder implements TrainHook {
  readonly told: { step: number; sessionStep: number; loss: number }[] = [];
  readonly quietSteps?: () => number;
  readonly #fetches: readonly Fetch[];

  constructor(model: ModelSpec, quiet: boolean) {
    this.#fetches = [model.loss];
    if (quiet) this.quietSteps = () => Number.POSITIVE_INFINITY;
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  afterRun(context: RunContext, [loss]: readonly FetchValue[]): void {
    this.told.push({ step: context.globalStep, sessionStep: context.session.globalStep, loss: loss as number });
  }
}

async function train(quiet: boolean, threads: number) {
  const model = buildFfm();
  const recorder = new Recorder(model, quiet);
  const trainer = await LocalTrainer.create({
    model,
    modelDir: null,
    steps: STEPS,
    hooks: [recorder],
    session: { schema: ffmSchema(), batchSize: dataset.batchSize, threads, memoryBytes: 64 << 20 },
  });
  try {
    const { session } = trainer;
    const batches = loadFfmBatches(session, dataset);
    let next = 0;
    await trainer.train({ next: () => batches[next++ % batches.length]!, batchesAhead: Number.POSITIVE_INFINITY });
    const tables = snapshotSession(session, 'ffm').tables.map((table) =>
      [...table.rows()].map((row) => [row.id, [...row.weights], [...row.state]]),
    );
    return { told: recorder.told, tables, step: session.globalStep };
  } finally {
    await trainer.close();
  }
}

for (const threads of [1, 2]) {
  t.test(`groups of quiet steps give the results of single steps, ${threads} threads`, async (t) => {
    const plain = await train(false, threads);
    const ahead = await train(true, threads);
    t.equal(plain.step, STEPS);
    t.equal(ahead.step, STEPS, 'the stop rule is met exactly');
    t.same(
      ahead.told.map(({ step, loss }) => [step, loss]),
      plain.told.map(({ step, loss }) => [step, loss]),
    );
    t.same(
      ahead.told.map(({ step }) => step),
      Array.from({ length: STEPS }, (_, i) => i + 1),
      'every step is told once, in order',
    );
    t.same(ahead.tables, plain.tables);
    t.ok(
      plain.told.every(({ step, sessionStep }) => step === sessionStep),
      'a hook that is not quiet sees the session at its own step',
    );
  });
}

t.test('a session says how far ahead it can run', async (t) => {
  const model = buildFfm();
  const trainer = await LocalTrainer.create({
    model,
    modelDir: null,
    steps: 1,
    session: { schema: ffmSchema(), batchSize: dataset.batchSize, threads: 1, memoryBytes: 64 << 20 },
  });
  t.teardown(() => trainer.close());
  const { session } = trainer;
  const [batch] = loadFfmBatches(session, { ...dataset, examples: 32 });
  t.equal(session.stepsAheadMax([model.loss, model.trainOp]), STEPS_AHEAD_MAX);
  t.equal(session.stepsAheadMax([model.pred]), 1, 'the next step overwrites a value per example');
  await t.rejects(session.runSteps([model.pred], [batch!, batch!]), { code: 'ML_FEED' });
  const values = await session.runSteps([model.loss, model.trainOp], Array<number>(STEPS_AHEAD_MAX).fill(batch!));
  t.equal(values.length, STEPS_AHEAD_MAX);
  t.ok(
    values.every(([loss], i) => i === 0 || (loss as number) < (values[i - 1]![0] as number)),
    'each step has the loss of its own moment',
  );
});

t.test(
  'a session with a rate by step that counts none runs one at a time, also before its program was made',
  async (t) => {
    const graph = new Graph();
    const x = placeholder(graph, { name: 'x' });
    const loss = reduceMean(
      addBias(x, variable(graph, { name: 'bias', shape: [1], initial: () => new Float32Array(1) })),
    );
    const learningRate = new ExponentialDecay({ initialLearningRate: 0.1, decaySteps: 1, decayRate: 0.5 });
    const train = new GradientDescentOptimizer({ learningRate }).minimize(loss);
    await withSession(graph, { threads: 1 }, async (session) => {
      t.equal(session.stepsAheadMax([loss, train]), 1);
      t.equal(session.stepsAheadMax([loss, train]), 1);
    });
  },
);
