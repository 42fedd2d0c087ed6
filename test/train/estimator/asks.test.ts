import t from 'tap';
import type { EstimatorEvent } from '../../../src/train/estimator/estimator-event.js';
import { TrainAsks } from '../../../src/train/hooks/train-asks.js';
import { tasteEstimator, tasteRows } from './tastes.js';

/** Trains 100 steps and asks at the 30th. */
async function trained(modelDir: string, ask: (asks: TrainAsks) => void) {
  const told: EstimatorEvent[] = [];
  await using estimator = tasteEstimator({ modelDir, log: (event) => told.push(event) });
  const asks = new TrainAsks();
  const judged: number[] = [];
  const result = await estimator.train(tasteRows(2000), {
    steps: 100,
    asks,
    hooks: [{ afterRun: ({ globalStep }) => void (globalStep === 30 && ask(asks)) }],
    evaluate: {
      data: tasteRows(500, 2000),
      everySteps: 50,
      listeners: [{ afterEvaluation: (_, { step }) => void judged.push(step) }],
    },
  });
  const of = (name: string) => told.flatMap((event) => (event.event === name && 'step' in event ? [event.step] : []));
  return { saves: of('checkpoint'), evaluations: of('eval'), judged, best: result.best };
}

t.test('a training saves and evaluates when it is asked to, once, and goes on as it would', async (t) => {
  const plain = await trained(t.testdir({ a: {} }), () => undefined);
  t.same([plain.saves, plain.evaluations], [[100], [50, 100]]);
  const asked = await trained(t.testdir({ b: {} }), (asks) => {
    for (const what of ['save', 'evaluate', 'save', 'evaluate'] as const) asks.ask(what);
  });
  t.same(asked.saves, [30, 100]);
  t.same(asked.evaluations, [30, 50, 100]);
  t.same(asked.judged, plain.judged, 'what was asked for judges nothing');
  t.same({ ...asked.best, ms: 0, checkpoint: '' }, { ...plain.best, ms: 0, checkpoint: '' }, 'the same training');
});
