import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfigFile } from '../../src/cli/config-file.js';
import { runProgram } from '../../src/cli/program.js';
import { DEMO_KEYS, resolveTrain, SETTING_KEYS } from '../../src/cli/resolve-train.js';
import { defineConfig, TRAIN_CONFIG_KEYS } from '../../src/train/config/define-config.js';
import { FakeIo } from './fake-io.js';

const noJob = {
  loadTrainJob: async () => {
    throw new Error('training was started');
  },
};

const folder = t.testdir({
  'small.json': JSON.stringify({ batchSize: 32, model_dir: 'runs/x', deterministic: true, steps: null }),
  'module.mjs': "export default { batchSize: 16, tableMemory: '1g' };",
  'empty.mjs': 'export const other = 1;',
  'throws.mjs': "throw new Error('no such luck');",
  'list.json': '[1]',
  'text.json': '"x"',
  'broken.json': '{',
  'slip.json': '{ "batchsise": 3 }',
  'twice.json': '{ "batchSize": 3, "batch_size": 4 }',
  'zero.json': '{ "batchSize": 0 }',
  'switch.json': '{ "deterministic": "yes" }',
  'object.json': '{ "steps": { "a": 1 } }',
});
const at = (name: string) => join(folder, name);
const resolved = (raw: Record<string, unknown>, env = {}) => resolveTrain(raw, env);

t.test('the keys of a config file are the flags of train', async (t) => {
  t.same([...TRAIN_CONFIG_KEYS].sort(), [...SETTING_KEYS].sort());
  const config = { batchSize: 512, backend: 'wasm' } as const;
  t.equal(defineConfig(config), config);
  t.throws(() => defineConfig({ bachSize: 1 } as object), { code: 'ML_OPTION', hint: 'did you mean batchSize?' });
  t.throws(() => defineConfig('x' as never), { code: 'ML_OPTION' });
});

t.test('flags go before a config file, and the file before defaults', async (t) => {
  const { flags, settings } = await resolved({ config: at('small.json'), batchSize: '8', modelDir: 'runs/y' });
  t.match(flags, { batchSize: 8, modelDir: 'runs/y', deterministic: true, steps: 2000, vocab: 5 });
  t.match(settings, {
    batchSize: { value: 8, origin: 'flag --batch-size' },
    deterministic: { value: true, origin: `config file ${at('small.json')}` },
    steps: { value: 2000, origin: 'default' },
  });
  const module = await resolved({ config: at('module.mjs'), until: '9' }, { MONOLITH_CUDA_DRIVER: 'sim' });
  t.match(module.flags, { batchSize: 16, tableMemory: 2 ** 30, steps: null });
  t.match(module.settings.cudaDriver, { value: 'sim', origin: 'environment MONOLITH_CUDA_DRIVER' });
  t.match(module.settings.steps, { value: null, origin: /^rule: until/ });
});

t.test('the file of the working folder is found', async (t) => {
  const dir = t.testdir({ 'monolith.config.json': '{ "batchSize": 7 }' });
  t.match(await loadConfigFile(undefined, SETTING_KEYS, dir), {
    file: 'monolith.config.json',
    values: { batchSize: 7 },
  });
  const empty = join(dir, 'empty');
  mkdirSync(empty);
  t.equal(await loadConfigFile(undefined, SETTING_KEYS, empty), null);
});

t.test('a config file that is no good is an error that names it', async (t) => {
  writeFileSync(at('typed.ts'), 'export default { batchSize: 3 as number };');
  const cases: [string, RegExp, RegExp?][] = [
    ['gone.json', /there is no such file/],
    ['list.json', /an object of settings is needed, not a list/, /export default/],
    ['text.json', /needed, not "x"/],
    ['empty.mjs', /needed, not nothing/],
    ['throws.mjs', /no such luck/],
    ['broken.json', /JSON/],
    ['slip.json', /there is no setting batchsise/, /did you mean batchSize\?/],
    ['twice.json', /batchSize is there twice/, /batch_size/],
    ['zero.json', /batchSize must be from 1 to 1048576, found 0/],
    ['switch.json', /deterministic is true or false, not "yes"/],
    ['object.json', /steps is a text or a number, not \{"a":1\}/],
  ];
  for (const [name, message, hint = /./] of cases) {
    const error = await resolved({ config: at(name) }).catch((thrown: unknown) => thrown);
    t.match(error, { code: 'ML_CONFIG_FILE', message, fields: { file: at(name) } }, name);
    if (hint.source !== '.') t.match((error as { hint: string }).hint, hint);
  }
  t.match(await resolved({ config: at('typed.ts') }), { flags: { batchSize: 3 } }, 'on every version of Node.js');
  await t.rejects(resolved({ config: at('small.json'), steps: 'x' }), { code: 'ML_FLAG', fields: { flag: '--steps' } });
});

t.test('--dry-run prints every setting with its origin, and trains nothing', async (t) => {
  const io = new FakeIo();
  const args = ['train', '--dry-run', '--config', at('small.json'), '--steps', '3'];
  t.equal(await runProgram(args, io, noJob), 0);
  const lines = io.out.text.trimEnd().split('\n');
  t.equal(lines.length, DEMO_KEYS.length);
  t.match(io.out.text, /^steps +3 +flag --steps$/m);
  t.match(io.out.text, /^batchSize +32 +config file .*small\.json$/m);
  t.match(io.out.text, /^modelDir +runs\/x +config file/m);
  t.match(io.out.text, /^csv +- +default$/m);
  const json = new FakeIo();
  t.equal(await runProgram([...args, '--json'], json, noJob), 0);
  const event = JSON.parse(json.out.text);
  t.match(event, { event: 'config', settings: { steps: { value: 3, origin: 'flag --steps' } } });
  const wrong = new FakeIo();
  t.equal(await runProgram(['train', '--dry-run', '--config', at('slip.json')], wrong, noJob), 2);
  t.match(wrong.err.text, /error ML_CONFIG_FILE: config file .* batchsise/);
});
