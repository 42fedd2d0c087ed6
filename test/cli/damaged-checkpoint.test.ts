import { cpSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventsOf, treeOf } from './run-cli.js';
import { runHere } from './run-here.js';

const SMALL = ['--data', 'reference', '--batch-size', '16', '--threads', '1'];

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  'cut in half': (file) => truncateSync(file, readFileSync(file).length >> 1),
  'with a flipped bit': (file) => {
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(file, bytes);
  },
};

t.test('a damaged checkpoint is refused, named and left alone, whichever file it is', async (t) => {
  const cwd = t.testdir();
  const whole = join(cwd, 'whole');
  const made = await runHere(
    ['train', '--quiet', ...SMALL, '--steps', '20', '--save-every', '10', '--model-dir', whole],
    { cwd },
  );
  t.equal(made.code, 0, made.err);
  // The description of the graph is for people: no restore reads it.
  const files = Object.keys(treeOf(whole)).filter((name) => {
    return /^(checkpoint|model\.ckpt-20\..*[^/])$/.test(name) && !name.endsWith('.meta');
  });
  t.ok(files.length >= 6, files.join(', '));
  for (const file of files) {
    for (const [damage, apply] of Object.entries(DAMAGES)) {
      const name = `${file} ${damage}`;
      const dir = join(cwd, 'damaged');
      cpSync(whole, dir, { recursive: true });
      apply(join(dir, file));
      const before = treeOf(cwd);
      const ended = await runHere(['train', '--json', ...SMALL, '--steps', '5', '--model-dir', dir], { cwd });
      t.equal(ended.code, 1, name);
      const events = eventsOf(ended.out);
      t.match(events, [{ event: 'error', code: 'ML_CKPT_CORRUPT', hint: /model\.ckpt-\d+ is intact: load it/ }], name);
      t.equal(events.length, 1, name);
      t.match(String(Object(events[0]?.fields).file), file, `${name} is named`);
      t.same(treeOf(cwd), before, `${name}: nothing was written`);
    }
  }
});

t.test('it exits with 1 and says which checkpoint is good', async (t) => {
  const cwd = t.testdir();
  const args = ['train', ...SMALL, '--model-dir', 'd', '--steps', '10'];
  t.equal((await runHere([...args, '--save-every', '5'], { cwd })).code, 0);
  DAMAGES['with a flipped bit']!(join(cwd, 'd/model.ckpt-10.index'));
  const ended = await runHere(args, { cwd });
  t.equal(ended.code, 1);
  t.equal(ended.out, '');
  t.match(
    ended.err,
    new RegExp(
      '^error ML_CKPT_CORRUPT: checkpoint file d/model\\.ckpt-10\\.index is damaged: .+\n' +
        'hint: d/model\\.ckpt-5 is intact: .+\n$',
    ),
  );
  // The way the hint shows works.
  const state = join(cwd, 'd/checkpoint');
  writeFileSync(
    state,
    readFileSync(state, 'utf8').replace(
      'model_checkpoint_path: "model.ckpt-10"',
      'model_checkpoint_path: "model.ckpt-5"',
    ),
  );
  const next = eventsOf((await runHere([...args, '--json'], { cwd })).out);
  t.match(next[0], { event: 'start', start_step: 5 });
  t.match(next.at(-1), { event: 'done', step: 15 });
});
