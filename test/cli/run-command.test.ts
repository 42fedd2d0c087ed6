import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runProgram } from '../../src/cli/program.js';
import { FakeIo } from './fake-io.js';

async function run(...args: string[]) {
  const io = new FakeIo();
  const code = await runProgram(['run', ...args], io);
  return { code, out: io.out.text, err: io.err.text };
}

t.test('a task is trained and evaluated with the flags of estimator_mode_test', async (t) => {
  const modelDir = join(t.testdir({}), 'ckpt');
  const flags = ['--is_local', '--num_ps=2', '--num_workers=2', `--model_dir=${modelDir}`, '--uuid=test_cpu0'];
  const more = ['--enable_gpu_training=False', '--enable_sync_training=False', '--embedding_prefetch_capacity=1'];
  const rest = ['--enable_embedding_postpush=True', '--params_override={"train.max_steps": 3, "threads": 1}'];
  const trained = await run('native', ...flags, ...more, ...rest);
  t.match(trained, { code: 0, err: '', out: /^trained step 3 loss \d/ });
  t.ok(readdirSync(modelDir).includes('model.ckpt-3.index'));
  const evaluated = await run('native', `--model_dir=${modelDir}`, '--mode=eval', '--json');
  t.equal(evaluated.code, 0);
  t.match(JSON.parse(evaluated.out), { event: 'evaluated', step: 3, metrics: { auc: Number } });
});

t.test('flags that cannot be read end with 1 and the help of all', async (t) => {
  t.match(await run('native', '--num_ps=two'), {
    code: 1,
    err: /^FATAL Flags parsing error: --num_ps: must be a whole number.*Pass --helpshort or --helpfull/s,
  });
  t.match(await run('gpu', '--num_ps=2'), { code: 1, err: /unknown command line flag/ });
  t.match(await run('native', 'ffm'), { code: 2, err: /takes flags only, found "ffm"/ });
  t.match(await run('nativ'), { code: 2, err: /did you mean native\?/ });
  t.match(await run('native', '--num_ps=2'), { code: 1, err: /ML_UNIMPLEMENTED: num_ps=2/ });
  t.match(await run('native', '--task=fmm', '--is_local'), { code: 1, err: /ML_NOT_FOUND.*did you mean ffm\?/s });
});

t.test('help and settings are shown without a run', async (t) => {
  t.match(await run('--help'), { code: 0, out: /Usage: monolith run <native\|gpu\|tpu>/ });
  t.match(await run('native', '--helpfull'), { code: 0, out: /--num_ps: int, default=0/ });
  t.match(await run('tpu', '--help'), { code: 0, out: /--cpu_test: bool, default=false/ });
  t.match(await run('native', '--num_ps=2', '--dry-run'), { code: 0, out: /^numPs +2 +flag --num_ps$/m });
  const settings = JSON.parse((await run('gpu', '--mode=eval', '--dry_run', '--json')).out).settings;
  t.match(settings, { mode: { value: 'eval', origin: 'flag --mode' }, task: { value: null, origin: 'default' } });
});

t.test('a task of native_training is trained by all flags that it goes by', async (t) => {
  const modelDir = join(t.testdir({}), 'ckpt');
  const flags = ['--task=FFMParams', '--is_local', `--model_dir=${modelDir}`, '--num_ps=2', '--save_summary_steps=2'];
  const more = [
    '--use_native_multi_hash_table=False',
    '--embedding_prefetch_capacity=1',
    '--enable_embedding_postpush=True',
  ];
  const trained = await run('native', ...flags, ...more, '--params_override={"train.max_steps": 3}');
  t.match(trained, { code: 0, err: '', out: /^trained step 3 loss \d/ });
  t.ok(readdirSync(modelDir).some((name) => name.includes('tfevents')));
  const evaluated = await run('native', '--task=FFMParams', `--model_dir=${modelDir}`, '--mode=eval', '--json');
  t.match(JSON.parse(evaluated.out), { event: 'evaluated', step: 3, loss: Number });
  const turns = await run(
    'gpu',
    '--task=FFMParams',
    `--model_dir=${modelDir}`,
    '--mode=train_and_eval',
    '--params_override={"train.max_steps": 4}',
  );
  t.match(turns, { code: 0, out: /^trained step 4.*\nevaluated step 4/ });
});

t.test('a task may be that of a module', async (t) => {
  const dir = t.testdir({ 'task.mjs': 'export const other = 1;' });
  t.match(await run('gpu', `--task=${join(dir, 'task.mjs')}`, '--model_dir=m'), {
    code: 1,
    err: /its default export is no function that makes a task/,
  });
});
