import t from 'tap';
import { runProgram } from '../../src/cli/program.js';
import { FakeIo } from './fake-io.js';

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = new FakeIo();
  const code = await runProgram(args, io);
  return { code, out: io.out.text, err: io.err.text };
}

t.test('a script for each shell asks both names of the command', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    const { code, out } = await run('completion', shell);
    t.equal(code, 0, shell);
    for (const name of ['monolith', 'monolith-ts'])
      t.match(out, new RegExp(`${name} complete '?--`), `${shell} ${name}`);
  }
});

t.test('commands, commands of commands, flags and values of flags are completed', async (t) => {
  const cases: [string[], RegExp][] = [
    [['trai'], /^train\tTrain a model\.$/m],
    [['checkpoint', ''], /^list\t[\s\S]*^prune\t/m],
    [['train', '--back'], /^--backend\t/m],
    [['train', '--backend', ''], /^wasm\t\n(?:.*\n)*cuda\t/m],
    [['train', '--model-dir', ''], /^:/],
  ];
  for (const [words, wanted] of cases) {
    const { code, out } = await run('complete', '--', ...words);
    t.equal(code, 0, words.join(' '));
    t.match(out, wanted, words.join(' '));
  }
});

t.test('another shell is refused with the nearest one', async (t) => {
  t.match(await run('completion', 'bsh'), { code: 2, err: /no such shell\nhint: did you mean bash\?/ });
});
