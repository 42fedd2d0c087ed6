import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { setLogSink } from '../../src/base/log.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import { LocalTrainer } from '../../src/train/local-train.js';
import { FakeClock } from '../support/fake-clock.js';
import { loadBatches, smallSession } from './ffm-run.js';

const SILENT = setLogSink(() => {});
t.teardown(() => setLogSink(SILENT));

/**
 * Trains up to 400 steps; `text` is asked for before the first. What was saved, the step it ended at, and the answer.
 */
async function trainWith(dir: string, text: string) {
  const clock = new FakeClock();
  const saved: number[] = [];
  writeFileSync(join(dir, 'monolith_action'), text);
  const trainer = await LocalTrainer.create({
    model: buildFfm(),
    session: smallSession(),
    modelDir: dir,
    steps: 400,
    queryActions: true,
    clock,
    onSaved: (step) => void saved.push(step),
  });
  const batches = loadBatches(trainer.session);
  let at = 0;
  await trainer.train({ next: () => batches[at++ % batches.length]!, batchesAhead: Number.POSITIVE_INFINITY });
  await trainer.close();
  t.notOk(existsSync(join(dir, 'monolith_action')), 'the request is gone');
  t.notOk(
    readdirSync(dir).some((name) => name.includes('tmp')),
    'nothing else is left',
  );
  const response = readFileSync(join(dir, 'monolith_action_response'), 'utf8');
  return { saved, step: trainer.session.globalStep, response };
}

t.test('QueryActionHookTest: a file asks for a save', async (t) => {
  const { saved, step, response } = await trainWith(t.testdir({}), 'action: TRIGGER_SAVE');
  t.equal(response, 'OK');
  t.equal(step, 400);
  t.equal(saved.length, 2, `at ${saved}: at once, and at the end`);
  t.ok(saved[0]! < 400);
});

t.test('QueryActionHookTest.testStop: a file asks for a stop, which saves', async (t) => {
  const { saved, step, response } = await trainWith(t.testdir({}), 'action: STOP\n');
  t.equal(response, 'OK');
  t.ok(step < 400, `stopped at ${step}`);
  t.same(saved, [step]);
});

t.test('a request that cannot be read is answered, and the run goes on', async (t) => {
  const wrong = await trainWith(t.testdir({}), 'action: TRIGER_SAVE');
  t.match(wrong.response, /there is no action TRIGER_SAVE/);
  t.equal(wrong.step, 400);
  t.match((await trainWith(t.testdir({}), '{{{')).response, /line 1/);
});
