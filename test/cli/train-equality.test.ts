import { join } from 'node:path';
import t from 'tap';
import { treeOf } from './run-cli.js';
import { runHere } from './run-here.js';

/** Sixty-four examples make four batches: a run resumed at the wrong batch would show. */
const SMALL = ['--quiet', '--data', 'reference', '--vocab', '100', '--batch-size', '16'];

async function train(cwd: string, dir: string, args: readonly string[]): Promise<Record<string, string>> {
  const ended = await runHere(['train', ...SMALL, '--model-dir', dir, '--save-every', '50', ...args], { cwd });
  if (ended.code !== 0) throw new Error(ended.err);
  // The one file that tells when it was written.
  const { monolith_checkpoint: _, ...files } = treeOf(join(cwd, dir));
  return files;
}

t.test('--deterministic gives the same files for any number of threads, interrupted or not', async (t) => {
  const cwd = t.testdir();
  const one = await train(cwd, 'one', ['--deterministic', '--steps', '100', '--threads', '1']);
  t.ok('model.ckpt-100.index' in one && 'model.ckpt-50.index' in one);
  t.same(await train(cwd, 'two', ['--deterministic', '--steps', '100', '--threads', '2']), one, 'two threads');
  t.same(await train(cwd, 'three', ['--deterministic', '--steps', '100', '--threads', '3']), one, 'three threads');
  await train(cwd, 'parts', ['--deterministic', '--steps', '50', '--threads', '2']);
  const parts = await train(cwd, 'parts', ['--deterministic', '--steps', '50', '--threads', '3']);
  t.same(parts, one, 'fifty steps and fifty more, with another number of threads');
});

t.test('the same number of threads gives the same files twice', async (t) => {
  const cwd = t.testdir();
  const args = ['--steps', '100', '--threads', '2'];
  t.same(await train(cwd, 'again', args), await train(cwd, 'first', args));
});
