/**
 * What hooks may do beyond telling: wait, stop with an error, drain before the last save, act by time, give back what
 * they opened.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MonolithError } from '../../src/base/errors.js';
import { latestCheckpoint, loadCheckpoint } from '../../src/checkpoint/load-checkpoint.js';
import { buildFfm } from '../../src/demo/ffm-model.js';
import type { Session } from '../../src/runtime/session/session.js';
import type { TrainHook } from '../../src/train/hooks/hook.js';
import { LocalTrainer, type LocalTrainOptions } from '../../src/train/local-train.js';
import { loadBatches, smallSession } from './ffm-run.js';

async function trainer(options: Partial<LocalTrainOptions>): Promise<LocalTrainer> {
  return await LocalTrainer.create({
    model: buildFfm(),
    session: smallSession(),
    modelDir: null,
    steps: 3,
    ...options,
  });
}

/** The batches of the demo again and again; `next` is told of each. */
function inputOf(session: Session, told: () => void = () => {}) {
  const batches = loadBatches(session);
  let at = session.globalStep;
  return {
    batchesAhead: Number.POSITIVE_INFINITY,
    next: () => {
      told();
      return batches[at++ % batches.length]!;
    },
  };
}

/** Name and bytes of the files of tables of the newest checkpoint. */
function tablesOf(dir: string): [string, string][] {
  const assets = join(dir, 'model.ckpt-8.assets');
  return readdirSync(assets).map((name) => [name, readFileSync(join(assets, name), 'base64')]);
}

t.test('a run waits for the hooks before it', async (t) => {
  const seen: string[] = [];
  const slow: TrainHook = {
    beforeRun: async ({ globalStep }) => {
      await new Promise(setImmediate);
      seen.push(`waited at ${globalStep}`);
      return undefined;
    },
  };
  const after: TrainHook = {
    afterRun: ({ globalStep }) => {
      seen.push(`ran ${globalStep}`);
    },
  };
  const run = await trainer({ hooks: [after, slow], steps: 2 });
  t.teardown(() => run.close());
  await run.train(inputOf(run.session));
  t.same(seen, ['waited at 0', 'ran 1', 'waited at 1', 'ran 2']);
});

t.test('a stop with an error is thrown by the loop, and hooks are closed and not ended', async (t) => {
  const seen: string[] = [];
  const hook = (name: string): TrainHook => ({
    drain: () => void seen.push(`${name} drain`),
    end: () => void seen.push(`${name} end`),
    close: () => void seen.push(`${name} close`),
  });
  const stopping: TrainHook = { afterRun: ({ requestStop }) => requestStop(new Error('enough')) };
  const run = await trainer({ hooks: [hook('a'), stopping, hook('b')] });
  await t.rejects(run.train(inputOf(run.session)), { message: 'enough' });
  t.equal(run.session.globalStep, 1);
  await run.close();
  t.same(seen, ['b close', 'a close'], 'in the opposite order');
});

t.test('an error of a registered task stops the loop and is thrown by it', async (t) => {
  const hook: TrainHook = {
    afterCreateSession: (_session, coordinator) => {
      coordinator.register(
        coordinator.clock.sleep(20).then(() => {
          throw new MonolithError('ML_UNAVAILABLE', { what: 'a source', reason: 'it is gone' });
        }),
      );
    },
  };
  const run = await trainer({ hooks: [hook], steps: 1_000_000 });
  t.teardown(() => run.close());
  await t.rejects(run.train(inputOf(run.session)), { code: 'ML_UNAVAILABLE' });
});

t.test('all hooks drain before one ends, and the last save comes after that', async (t) => {
  const dir = t.testdir({});
  const seen: string[] = [];
  const hook = (name: string): TrainHook => ({
    drain: () => void seen.push(`${name} drain`),
    end: () => void seen.push(`${name} end`),
  });
  // What a hook does to the model while it drains is in the checkpoint.
  const push: TrainHook = { drain: (session) => session.writeVariable('global_step', BigInt64Array.of(77n)) };
  const run = await trainer({
    hooks: [hook('a'), push, hook('b')],
    modelDir: dir,
    onSaved: (step) => void seen.push(`saved ${step}`),
  });
  await run.train(inputOf(run.session));
  await run.close();
  t.same(seen, ['a drain', 'b drain', 'a end', 'b end', 'saved 77']);
  t.equal((await loadCheckpoint((await latestCheckpoint(dir))!)).step, 77);
});

t.test('a hook by time is asked once per group of steps and does not cut the groups', async (t) => {
  let [polls, taken] = [0, 0];
  const groups: number[] = [];
  const hook: TrainHook = {
    poll: () => {
      polls++;
      groups.push(taken);
    },
  };
  const run = await trainer({ hooks: [hook], steps: 400 });
  t.teardown(() => run.close());
  await run.train(inputOf(run.session, () => taken++));
  t.equal(run.session.globalStep, 400);
  t.ok(polls >= 1 && polls < 400, `${polls} polls for 400 steps`);
  t.equal(groups.at(-1), 400);
});

t.test('a session that is lost is made again from a new graph and the newest checkpoint', async (t) => {
  const dir = t.testdir({});
  let [models, losses] = [0, 0];
  const begun: string[] = [];
  const flaky: TrainHook = {
    begin: (graph) => void begun.push(`begin ${graph.finalized}`),
    afterRun: ({ globalStep }) => {
      if (globalStep === 5 && losses++ === 0)
        throw new MonolithError('ML_ABORTED', { what: 'the session', reason: 'lost' });
    },
  };
  const options = { modelDir: dir, saveEverySteps: 2, steps: 8, session: smallSession({ deterministic: true }) };
  const model = () => {
    models++;
    return buildFfm();
  };
  const run = await trainer({ ...options, model, hooks: [flaky] });
  const first = run.session;
  await run.train(inputOf);
  t.not(run.session, first);
  t.same([run.session.globalStep, models, begun.length], [8, 2, 2]);
  await run.close();
  const saved = tablesOf(dir);
  t.ok(saved.length > 0);
  rmSync(dir, { recursive: true });
  const plain = await trainer({ ...options, model, hooks: [] });
  await plain.train(inputOf);
  await plain.close();
  t.same(tablesOf(dir), saved, 'as if nothing had been lost');
});

t.test('a session that is lost again and again without a step ends the run', async (t) => {
  let tries = 0;
  const hook: TrainHook = {
    beforeRun: () => {
      tries++;
      throw new MonolithError('ML_ABORTED', { what: 'the session', reason: 'lost' });
    },
  };
  const run = await trainer({ model: buildFfm, hooks: [hook] });
  await t.rejects(run.train(inputOf), { code: 'ML_ABORTED' });
  t.equal(tries, 4);
  await run.close();
  const fixed = await trainer({ hooks: [hook] });
  await t.rejects(fixed.train(inputOf), { code: 'ML_ABORTED' }, 'a model that is given cannot be made again');
  await fixed.close();
});
