import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { saveCheckpoint } from '../../src/checkpoint/save-checkpoint.js';
import { eventsOf, treeOf } from './run-cli.js';
import { runHere } from './run-here.js';

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly exit: 1 | 2;
  readonly code: string;
  readonly message: RegExp;
  readonly hint: RegExp;
}

const misuse: readonly Case[] = [
  ['unknown flag', ['--stepz', '5'], /--stepz: unknown flag/, /did you mean --steps/],
  ['unknown model', ['--model', 'fmm'], /--model: must be ffm, found "fmm"/, /did you mean ffm/],
  ['no steps', ['--steps', '0'], /--steps: must be from 1 .*found 0/, /is 1$/m],
  ['negative steps', ['--steps', '-1'], /--steps: must be from 1 .*found -1/, /is 1$/m],
  ['steps in words', ['--steps', 'abc'], /--steps: .*found "abc"/, /number from 1/],
  ['too many threads', ['--threads', '65'], /--threads: must be from 1 to 64, found 65/, /is 64$/m],
  ['no threads', ['--threads', '0'], /--threads: must be from 1 to 64, found 0/, /is 1$/m],
].map(([name, args, message, hint]) => ({
  name: name as string,
  args: ['train', '--model-dir', 'new', '--trace', 'new.json', ...(args as string[])],
  exit: 2,
  code: 'ML_FLAG',
  message: message as RegExp,
  hint: hint as RegExp,
}));

/** Permissions do not bind root, so what cannot be written is below a file or in /proc: that holds for every user. */
const failures: readonly Case[] = [
  {
    name: 'model directory that is a file',
    args: ['train', '--model-dir', 'file', '--trace', 'new.json'],
    exit: 1,
    code: 'ML_DIR',
    message: /model directory file cannot be used: it is a file/,
    hint: /name a directory/,
  },
  {
    name: 'model directory below a file',
    args: ['train', '--model-dir', 'file/a/b'],
    exit: 1,
    code: 'ML_DIR',
    message: /model directory file\/a\/b cannot be used: .*ENOTDIR|not a directory/,
    hint: /name a directory/,
  },
  {
    name: 'model directory where none can be made',
    args: ['train', '--model-dir', '/proc/monolith/runs'],
    exit: 1,
    code: 'ML_DIR',
    message: /model directory \/proc\/monolith\/runs cannot be used/,
    hint: /name a directory this user can create and write/,
  },
  {
    name: 'model directory of another model',
    args: ['train', '--model-dir', 'other', '--trace', 'new.json'],
    exit: 1,
    code: 'ML_CKPT_MODEL',
    message: /other holds a checkpoint of another model: model: expected ffm, found deepfm/,
    hint: /another model directory/,
  },
  {
    name: 'batch that memory cannot hold',
    args: ['train', '--batch-size', '1048576', '--trace', 'new.json'],
    exit: 1,
    code: 'ML_MEMORY',
    message: /out of shared memory/,
    hint: /smaller batch/,
  },
  {
    name: 'trace file in a folder that is not there',
    args: ['train', '--trace', 'missing/trace.json', '--model-dir', 'new'],
    exit: 1,
    code: 'ML_TRACE_WRITE',
    message: /trace file missing\/trace\.json cannot be written/,
    hint: /make the folder first/,
  },
  {
    name: 'trace file that is a folder',
    args: ['train', '--trace', 'folder', '--model-dir', 'new'],
    exit: 1,
    code: 'ML_TRACE_WRITE',
    message: /trace file folder cannot be written: it is a folder/,
    hint: /name a file/,
  },
  {
    name: 'graph file in a folder that is not there',
    args: ['train', '--dump-graph', 'missing/graph.json', '--model-dir', 'new'],
    exit: 1,
    code: 'ML_GRAPH_WRITE',
    message: /graph file missing\/graph\.json cannot be written/,
    hint: /make the folder first/,
  },
  {
    name: 'summary of a file that is no trace',
    args: ['trace', 'file'],
    exit: 1,
    code: 'ML_TRACE_READ',
    message: /trace file file cannot be read/,
    hint: /monolith train --trace/,
  },
  {
    name: 'summary of a file that is not there',
    args: ['trace', 'missing.json'],
    exit: 1,
    code: 'ML_TRACE_READ',
    message: /trace file missing\.json cannot be read/,
    hint: /./,
  },
];

async function badFolder(dir: string): Promise<string> {
  writeFileSync(join(dir, 'file'), 'neither a folder nor a trace\n');
  mkdirSync(join(dir, 'folder'));
  await saveCheckpoint(join(dir, 'other'), { step: 3, modelName: 'deepfm', dense: [], tables: [] });
  return dir;
}

for (const [title, cases] of [
  ['misuse', misuse],
  ['failure', failures],
] as const) {
  t.test(`${title} has its exit code, its code and a hint, and leaves everything as it was`, async (t) => {
    const cwd = await badFolder(t.testdir());
    const before = treeOf(cwd);
    for (const { name, args, exit, code, message, hint } of cases) {
      const ended = await runHere([...args, '--json'], { cwd });
      t.equal(ended.code, exit, name);
      t.match(ended.err, message, name);
      t.match(ended.err, new RegExp(`^error ${code}: .+\\nhint: .+\\n$`), `${name}: code, sentence and hint, no stack`);
      const events = eventsOf(ended.out);
      t.equal(events.length, 1, `${name}: one line of JSON`);
      t.match(events[0], { event: 'error', code, message, hint }, name);
      t.same(treeOf(cwd), before, `${name}: nothing was written`);
    }
  });
}
