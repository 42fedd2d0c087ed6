import t from 'tap';
import { snakeName } from '../../../src/base/snake-case.js';
import { fieldName } from '../../../src/train/config/field.js';
import { Flags } from '../../../src/train/config/flags.js';
import { defineProcessFlags, processFields } from '../../../src/train/config/process-flags.js';
import { RunConfig } from '../../../src/train/config/run-config.js';
import { RunnerConfig } from '../../../src/train/config/runner-config.js';
import { CpuTrainingConfig, DistributedCpuTrainingConfig } from '../../../src/train/config/training-config.js';
import { cpuTraining, distributed, run, runner } from './reference-defaults.js';

const sources = { flags: defineProcessFlags(new Flags()), env: {} };

t.test('records have the fields and defaults of the reference', async (t) => {
  // A function is in no JSON.
  const { device_fn: _, ...first } = cpuTraining;
  t.same(new CpuTrainingConfig().toJSON(), first);
  t.same(new DistributedCpuTrainingConfig().toJSON(), { ...first, ...distributed });
  t.same(new RunnerConfig({}, sources).toJSON(), { ...first, ...distributed, ...runner });
  t.same(new RunConfig().toJSON(), run);
  t.same(
    [72, 14, 39, 37],
    [cpuTraining, distributed, runner, run].map((one) => Object.keys(one).length),
  );
  t.equal(new CpuTrainingConfig().deviceFn, null);
});

t.test('records are one chain', async (t) => {
  const config = new RunnerConfig({ enableSyncTraining: true }, sources);
  t.ok(config instanceof DistributedCpuTrainingConfig && config instanceof CpuTrainingConfig);
  t.equal(config.enableFullSyncTraining, true);
  config.enablePartialSyncTraining = true;
  t.equal(config.enableFullSyncTraining, false, 'a record may be changed');
});

t.test('names go to snake case and back', async (t) => {
  for (const name of [...Object.keys(RunnerConfig.fields), ...Object.keys(processFields)]) {
    t.equal(fieldName(snakeName(name)), name);
  }
});

t.test('a record goes through JSON', async (t) => {
  const config = new RunConfig({ isLocal: true, modelDir: 'm', reloadAliasMap: { a: 'b' }, kafkaTopics: 'x,y' });
  t.same(RunConfig.fromJson(JSON.stringify(config)).toJSON(), config.toJSON());
  t.equal(RunConfig.fromJson({ num_ps: 3 }).numPs, 3, 'what is left out is a default');
  t.throws(() => RunConfig.fromJson('{'), { code: 'ML_OPTION', message: /RunConfig: the text is not JSON/ });
  t.throws(() => RunConfig.fromJson('[1]'), {
    code: 'ML_OPTION',
    message: /an object of options is needed, not a list/,
  });
  t.throws(() => RunConfig.fromJson('null'), { code: 'ML_OPTION' });
  t.throws(() => RunConfig.fromJson({ num_pss: 3 }), { code: 'ML_OPTION', hint: 'did you mean numPs?' });
});

t.test('an unknown field is an error that names the nearest one', async (t) => {
  t.throws(() => new RunConfig({ modelDri: 'm' } as object), {
    code: 'ML_OPTION',
    message: 'RunConfig: there is no field modelDri',
    hint: 'did you mean modelDir?',
  });
  t.throws(() => new RunConfig({ num_ps: 1 } as object), { code: 'ML_OPTION', hint: 'did you mean numPs?' });
  t.throws(() => new RunConfig({ __proto__: null, constructor: 1 } as object), { code: 'ML_OPTION' });
  t.throws(() => new RunConfig(7 as never), { code: 'ML_OPTION' });
});

t.test('a value of another type is an error that says what the field takes', async (t) => {
  const cases: [object, RegExp][] = [
    [{ numPs: '2' }, /numPs is a whole number from 0 on, not '2'/],
    [{ numPs: 1.5 }, /not 1.5/],
    [{ numPs: -1 }, /not -1/],
    [{ numPs: null }, /not null/],
    [{ isLocal: 1 }, /isLocal is true or false, not 1/],
    [{ modelDir: 3 }, /modelDir is a text, not 3/],
    [{ saveCheckpointsSteps: 'no' }, /a whole number from 1 on, or null, not 'no'/],
    [{ discoveryType: 'zkk' }, /one of primus, consul, zk, mlp, not 'zkk'/],
    [{ reloadAliasMap: { a: 1 } }, /an object of texts, or null, not an object/],
    [{ kafkaTopics: [1] }, /a list of texts, or null, not a list/],
    [{ deviceFn: 'gpu' }, /a function, or null, not 'gpu'/],
    [{ deepInsightSampleRatio: Number.NaN }, /a number, or null, not NaN/],
    [{ mode: () => 1 }, /one of train, eval, infer, not a function/],
  ];
  for (const [values, message] of cases) {
    t.throws(() => new RunnerConfig(values, sources), { code: 'ML_OPTION', message }, message.source);
  }
  t.throws(() => new RunnerConfig({ discoveryType: 'zkk' as 'zk' }, sources), {
    code: 'ML_OPTION',
    hint: 'did you mean zk?',
  });
});

t.test('a flag is made for each field that has one', async (t) => {
  const flags = defineProcessFlags(new Flags());
  const without = ['profile_save_steps_interval', 'reload_alias_map', 'device_fn', 'use_dataservice'];
  const fields = [...Object.keys(cpuTraining), ...Object.keys(distributed), ...Object.keys(runner)];
  t.same(
    fields.filter((name) => !flags.has(name)),
    without,
  );
  for (const name of fields.filter((one) => !without.includes(one))) {
    t.same(flags.defaultOf(name), { ...cpuTraining, ...distributed, ...runner }[name], name);
  }
  t.match(flags.help(), '--num_ps: int, default=0, Parameter servers');
});
