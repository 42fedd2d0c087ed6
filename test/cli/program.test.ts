import { readFileSync } from 'node:fs';
import t from 'tap';
import { packageVersion } from '../../src/base/package-version.js';
import { flagMeta, flagName } from '../../src/cli/flags.js';
import { runProgram } from '../../src/cli/program.js';
import { trainFlags } from '../../src/cli/train-options.js';
import { FakeIo } from './fake-io.js';

const noJob = {
  loadTrainJob: async () => {
    throw new Error('training was started');
  },
};

async function run(args: string[], io = new FakeIo()): Promise<{ code: number; out: string; err: string }> {
  const code = await runProgram(args, io, noJob);
  return { code, out: io.out.text, err: io.err.text };
}

t.test('help of every command has examples', async (t) => {
  for (const args of [
    ['--help'],
    ['help'],
    ['train', '--help'],
    ['doctor', '-h'],
    ['help', 'trace'],
    ['plan', '--help'],
    ['help', 'inspect'],
  ]) {
    const name = args.join(' ');
    t.match(await run(args), { code: 0, out: /Usage: monolith[\s\S]*Examples:\n {2}monolith /, err: '' }, name);
  }
});

t.test('help of train shows the defaults of the schema', async (t) => {
  const { out } = await run(['train', '--help'], new FakeIo({ tty: true, columns: 200 }));
  t.match(out, /--steps <count> .*Default: 2000\./);
  t.match(out, /--threads <count> .*Default: all cores, here \d+\./);
  t.match(out, /--backend <name> .*Default: wasm\./);
  t.notMatch(out, /--model-dir .*default/);
});

t.test('help fits a narrow terminal', async (t) => {
  const { out } = await run(['train', '--help'], new FakeIo({ tty: true, columns: 60 }));
  const flags = out.slice(out.indexOf('Flags for a table'), out.indexOf('Examples:'));
  t.ok(flags.split('\n').length > Object.keys(trainFlags.shape).length, 'the flags are there');
  for (const line of flags.split('\n')) t.ok(line.length <= 60, line);
});

t.test('the version is that of package.json', async (t) => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  t.equal(packageVersion(), JSON.parse(text).version);
  t.match(await run(['-V']), { code: 0, out: `${packageVersion()}\n`, err: '' });
});

t.test('no command at all says in six lines what it is and what to try', async (t) => {
  const { code, out, err } = await run([]);
  t.match({ code, err }, { code: 0, err: '' });
  t.equal(out.split('\n').length, 7);
  for (const command of ['train --data demo:clicks', 'train --data yours.csv --label', 'init']) t.match(out, command);
});

t.test('misuse exits with 2, says why and what to do', async (t) => {
  const cases: [string[], RegExp, RegExp][] = [
    [['train', '--stepz', '5'], /ML_FLAG: --stepz: unknown flag/, /did you mean --steps\? see monolith train --help/],
    [['train', '--batchsize=5'], /--batchsize=5: unknown flag/, /did you mean --batch-size/],
    [['train', '-x'], /-x: unknown flag/, /train --help/],
    [['trian'], /ML_FLAG: trian: unknown command/, /did you mean train/],
    [['fly'], /ML_FLAG: fly: unknown command/, /the commands are train, run, .*trace/],
    [['help', 'fly'], /ML_FLAG: fly: unknown command/, /the commands are train, run, .*trace/],
    [['train', '--model', 'fmm'], /--model: must be ffm, found "fmm"/, /did you mean ffm/],
    [['train', '--steps', '-3'], /--steps: must be from 1/, /is 1/],
    [['train', '--steps=1e3'], /--steps: .*"1e3"/, /write 1000/],
    [['train', '--steps'], /--steps: needs a value <count>/, /train --help/],
    [['train', '--threads', '65'], /--threads: must be from 1 to 64/, /is 64/],
    [['train', '--steps', '5', '--steps', '6'], /--steps: given twice/, /once/],
    [['train', '--model-dir', '--quiet'], /--model-dir: needs a path, found the flag "--quiet"/, /\.\/--quiet/],
    [['train', '--save-every', '5'], /--save-every: needs a place/, /--model-dir/],
    [['train', 'a.ts', 'now'], /ML_FLAG: train: too many arguments/, /train --help/],
    [['--steps', '5', 'train'], /--steps: unknown flag/, /after the command: monolith train \.\.\. --steps/],
    [['doctor', '--steps', '3'], /--steps: unknown flag/, /another command: monolith train \.\.\. --steps/],
    [['trace'], /ML_FLAG: trace: missing required argument 'file'/, /trace --help/],
    [['trace', 'x', 'y'], /ML_FLAG: trace: too many arguments/, /trace --help/],
    [['trace', 'x', '--top', '0'], /--top: must be from 1/, /is 1/],
  ];
  for (const [args, message, hint] of cases) {
    const name = args.join(' ');
    const ended = await run(args);
    t.match(ended, { code: 2, out: '', err: message }, name);
    t.match(ended.err.split('\n')[1], hint, name);
    t.equal(ended.err.split('\n').length, 3, `${name}: an error, a hint and no more`);
  }
});

t.test('the same value twice is no contradiction', async (t) => {
  t.match(await run(['train', '--steps', '5', '--steps', '5']), { code: 1, err: /training was started/ });
});

t.test('with --json misuse is one line on standard output too', async (t) => {
  const cases: [string[], string][] = [
    [['train', '--json', '--modle', 'ffm'], '--modle'],
    [['train', '--steps', '0', '--json'], '--steps'],
    [['doctor', '--json', '--nope'], '--nope'],
    [['--json', 'trace', 'x'], '--json'],
  ];
  for (const [args, flag] of cases) {
    const ended = await run(args);
    t.equal(ended.code, 2);
    t.equal(ended.out.split('\n').length, 2, 'one line');
    t.match(JSON.parse(ended.out), { event: 'error', code: 'ML_FLAG', hint: String, fields: { flag } });
  }
});

t.test('docs/cli.md lists every flag of train with its default', async (t) => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  for (const [key, field] of Object.entries(trainFlags.shape)) {
    const row = page.split('\n').find((line) => new RegExp(`^\\| \`${flagName(key)}[ \`]`).test(line));
    t.ok(row, key);
    const fallback = field.parse(undefined);
    const written = { null: 'none', false: 'off' }[String(fallback)] ?? String(fallback);
    // A default that depends on other flags or on the machine is described in words.
    const stated = [written, flagMeta.get(field)?.defaultText];
    if (key !== 'threads') t.ok(stated.includes(row?.split('|')[2]?.replaceAll('`', '').trim()), key);
  }
});
