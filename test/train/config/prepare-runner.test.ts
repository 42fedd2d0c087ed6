import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { getCheckpointState } from '../../../src/checkpoint/checkpoint-state-reader.js';
import { Flags } from '../../../src/train/config/flags.js';
import { prepareRunner } from '../../../src/train/config/prepare-runner.js';
import { defineProcessFlags } from '../../../src/train/config/process-flags.js';
import { RunnerConfig } from '../../../src/train/config/runner-config.js';
import { FakeClock } from '../../support/fake-clock.js';

const sources = { flags: defineProcessFlags(new Flags()), env: {} };
const STATE = ['model_checkpoint_path: "model.ckpt-61"'];

function folders(t: Test) {
  const restoreDir = join(t.testdir({}), 'restore');
  const modelDir = join(t.testdirName, 'model');
  mkdirSync(restoreDir);
  const listed = [61, 30, 0].map((step) => `all_model_checkpoint_paths: "model.ckpt-${step}"`);
  writeFileSync(join(restoreDir, 'checkpoint'), `${[...STATE, ...listed].join('\n')}\n`);
  return { restoreDir, modelDir, restoreCkpt: 'model.ckpt-30' };
}

t.test('A25: a run begins with the checkpoint of another directory that it names', async (t) => {
  const given = folders(t);
  await prepareRunner(new RunnerConfig({ ...given, isLocal: true }, sources), { env: {} });
  for (const name of ['monolith_checkpoint', 'restore_ckpt']) t.ok(existsSync(join(given.modelDir, name)), name);
  const state = await getCheckpointState(given.modelDir, { restoreCkpt: given.restoreCkpt });
  t.equal(state?.modelCheckpointPath, join(given.restoreDir, 'model.ckpt-30'));
  const worker = new RunnerConfig({ ...given, index: 2 }, sources);
  const clock = new FakeClock();
  await prepareRunner(worker, { clock, env: {} });
  t.same(clock.sleeps, [], 'a worker that comes later does not wait');
});

t.test('workers wait for the chief, up to a limit', async (t) => {
  const given = folders(t);
  const clock = new FakeClock(0, (now) => {
    if (now >= 60_000) {
      mkdirSync(given.modelDir, { recursive: true });
      writeFileSync(join(given.modelDir, 'monolith_checkpoint'), '');
    }
  });
  const worker = new RunnerConfig({ ...given, index: 1, sessionCreationTimeoutSecs: 90 }, sources);
  const late = { ...given, modelDir: `${given.modelDir}-never` };
  await prepareRunner(worker, { clock, env: {} });
  t.same(clock.sleeps, [30_000, 30_000]);
  const waiting = prepareRunner(new RunnerConfig({ ...late, index: 1, sessionCreationTimeoutSecs: 90 }, sources), {
    clock: new FakeClock(),
    env: {},
  });
  await t.rejects(waiting, {
    code: 'ML_DEADLINE',
    message: /the chief setting up restore_dir was not done within 90000/,
  });
  const ps = new RunnerConfig({ ...late, serverType: 'ps', sessionCreationTimeoutSecs: 0 }, sources);
  await t.rejects(prepareRunner(ps, { clock: new FakeClock(), env: {} }), { code: 'ML_DEADLINE' });
});

t.test('a run without restoreDir prepares its environment and nothing else', async (t) => {
  const modelDir = join(t.testdir({}), 'model');
  const env: Record<string, string> = {};
  await prepareRunner(new RunnerConfig({ modelDir, tfGrpcWorkerCacheThreads: 4 }, sources), { env });
  t.same(env, { TF_GRPC_WORKER_CACHE_THREADS: '4', MONOLITH_GRPC_WORKER_SERVICE_HANDLER_MULTIPLIER: '1' });
  t.notOk(existsSync(modelDir));
});

t.test('restoreDir needs a model directory, and roles of the data service are refused', async (t) => {
  const { restoreDir } = folders(t);
  await t.rejects(prepareRunner(new RunnerConfig({ restoreDir, isLocal: true }, sources), { env: {} }), {
    code: 'ML_OPTION',
    message: /restoreDir is set, and modelDir/,
  });
  await t.rejects(prepareRunner(new RunnerConfig({}, sources), { env: { MLP_ROLE: 'DSWORKER' } }), {
    code: 'ML_UNIMPLEMENTED',
    message: /role dsworker/,
  });
});

t.test('a directory that has a state of its own keeps it', async (t) => {
  const given = folders(t);
  mkdirSync(given.modelDir);
  writeFileSync(join(given.modelDir, 'checkpoint'), `${STATE[0]}\n`);
  await prepareRunner(new RunnerConfig({ ...given, isLocal: true }, sources), { env: {} });
  t.equal(readFileSync(join(given.modelDir, 'checkpoint'), 'utf8'), `${STATE[0]}\n`);
});
