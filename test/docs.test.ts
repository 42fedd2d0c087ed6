/**
 * @file Holds the documentation to the code: every `js` block runs, and what the pages name exists.
 *
 * A block fenced as `js` is a whole program, one fenced as `console` a session of commands with what they print; `ts`,
 * `sh` and `text` blocks are to read.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { BENCHES } from '../bench/main.js';
import { runProgram } from '../src/cli/program.js';
import * as ml from '../src/index.js';
import type { Fields, Message } from '../src/io/message.js';
import { OPTIMIZER_MESSAGES, type OptimizerMessage } from '../src/sparse/config/config-messages.js';
import { planOptimizer } from '../src/sparse/config/optimizer-plan.js';
import { FakeIo } from './cli/fake-io.js';
import { runHere } from './cli/run-here.js';
import { runNode } from './run-node.js';

// It runs dozens of programs, each with a limit of its own: half a minute is little on a machine that does other work.
t.setTimeout(240_000);

type Constructor = (options: object) => OptimizerMessage;

const root = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = ['README.md', 'cuda/README.md', ...markdownIn('docs')];

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

/** The page without its fenced blocks. */
const proseOf = (page: string) => textOf(page).replace(/^```[\s\S]*?^```/gm, '');

/** Programs of a page, each with the line it starts at. */
function programsOf(page: string): { line: number; source: string }[] {
  const text = textOf(page);
  return [...text.matchAll(/^```js\n([\s\S]*?)^```/gm)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length + 1,
    source: match[1]!,
  }));
}

t.test('every js block of the documentation runs', async (t) => {
  // Inside the package, where its own name resolves; what a program writes goes to a folder of the test.
  const home = join(root, 'build', `docs-${process.pid}`);
  mkdirSync(home);
  t.teardown(() => rmSync(home, { recursive: true }));
  const cwd = t.testdir();
  // One process, which runs the programs one after the other: starting it costs more than most of them.
  const files = PAGES.flatMap((page) =>
    programsOf(page).map(({ line, source }) => {
      const file = `${page.replaceAll('/', '-')}-${line}.mjs`;
      writeFileSync(join(home, file), source);
      return file;
    }),
  );
  t.ok(files.length >= 20, 'blocks were found');
  const all = join(home, 'all.mjs');
  writeFileSync(all, files.map((file) => `console.log('${file}');\nawait import('./${file}');\n`).join(''));
  const { code, out, err } = await runNode([all], { cwd, limitMs: 220_000 });
  t.same({ code, err }, { code: 0, err: '' }, `${out.match(/^.*\.mjs$/gm)?.at(-1)} was the last to run`);
  t.ok(programsOf('README.md').length > 0, 'one of them in the README');
});

/** Sessions of a page: commands after `$ `, each with the lines it must print; a line of `...` stands for any lines. */
function sessionsOf(page: string): { command: string; expected: RegExp }[] {
  return [...textOf(page).matchAll(/^```console\n([\s\S]*?)^```/gm)].flatMap((match) =>
    match[1]!
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command, ...lines] = text.trimEnd().split('\n') as [string, ...string[]];
        const shown = lines.map((line) => (line === '...' ? '(?:.*\n)*?' : `${anySize(escapeRegExp(line))}\n`));
        return { command, expected: new RegExp(`^${shown.join('')}$`) };
      }),
  );
}

/** Files of a checkpoint grow with what a graph is described by: their sizes are examples. */
const anySize = (pattern: string) => pattern.replace(/\d+\\\.\d KiB/g, '[\\d.]+ KiB');

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

t.test('every command of a console block prints what the page shows', async (t) => {
  let count = 0;
  for (const page of PAGES) {
    const cwd = t.testdir();
    for (const { command, expected } of sessionsOf(page)) {
      const [program, ...args] = command.split(' ');
      t.equal(program, 'monolith', `${page}: ${command}`);
      const { out, err } = await runHere(args, { cwd });
      t.match(out + err, expected, `${page}: ${command}`);
      count++;
    }
  }
  t.ok(count >= 3, 'commands were found');
});

/** The anchor a viewer makes of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(' ', '-');
}

t.test('relative links lead somewhere', async (t) => {
  const broken: string[] = [];
  for (const page of PAGES) {
    for (const [, target] of proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target!)) continue;
      const [path, anchor] = target!.split('#') as [string, string?];
      const file = path === '' ? page : relative(root, join(root, dirname(page), path));
      if (!existsSync(join(root, file))) broken.push(`${page}: ${target}`);
      else if (anchor !== undefined) {
        const headings = [...textOf(file).matchAll(/^#+ (.+)$/gm)].map((match) => anchorOf(match[1]!));
        if (!headings.includes(anchor)) broken.push(`${page}: ${target}`);
      }
    }
  }
  t.same(broken, []);
});

t.test('files and folders the documentation names exist', async (t) => {
  const path = /`((?:src|test|assembly|bench|workers|examples|docs)(?:\/[\w./-]+)?)`/g;
  const missing = PAGES.flatMap((page) =>
    [...proseOf(page).matchAll(path)]
      .filter(([, name]) => !existsSync(join(root, name!)))
      .map(([, name]) => `${page}: ${name}`),
  );
  t.same(missing, []);
});

t.test('scripts and flags the documentation names exist', async (t) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const unknownScripts = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/npm run (?:-s )?([\w:]+)|npm (start|test)\b/g)]
      .map((match) => match[1] ?? match[2]!)
      .filter((name) => scripts[name] === undefined)
      .map((name) => `${page}: ${name}`),
  );
  t.same(unknownScripts, []);
  const unknownBenches = [...PAGES, 'bench/README.md'].flatMap((page) =>
    [...textOf(page).matchAll(/bench -- ([a-z][\w-]*)/g)]
      .filter(([, name]) => !Object.hasOwn(BENCHES, name!))
      .map(([found]) => `${page}: ${found}`),
  );
  t.same(unknownBenches, []);
  const unlisted = Object.keys(BENCHES).filter((name) => !textOf('bench/README.md').includes(`bench -- ${name}\``));
  t.same(unlisted, []);

  const known = new Set<string>();
  for (const name of [
    '',
    'train',
    'eval',
    'run native',
    'serve',
    'export',
    'import',
    'plan',
    'inspect',
    'doctor',
    'trace',
  ]) {
    const args = [...name.split(' ').filter((part) => part !== ''), '--help'];
    const io = new FakeIo();
    await runProgram(args, io);
    for (const [flag] of io.out.text.matchAll(/--[a-z][a-z-]*/g)) known.add(flag);
  }
  t.ok(known.has('--threads') && known.has('--top'), 'flags were found');
  const pages = PAGES.filter(
    (page) => !['docs/errors.md', 'docs/bench.md', 'docs/cli.md', 'docs/config.md'].includes(page),
  );
  const unknownFlags = pages.flatMap((page) =>
    [...textOf(page).matchAll(/(?<![\w-])--[a-z][a-z-]*/g)]
      .map(([flag]) => flag)
      .filter((flag) => !known.has(flag))
      .map((flag) => `${page}: ${flag}`),
  );
  t.same(unknownFlags, []);
});

t.test('no comment points to a section of a document that is not here', async (t) => {
  const folders = ['src', 'assembly', 'workers', 'bench', 'examples', 'cuda'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mjs|cu|cuh|cc|cpp|hpp|md)$/.test(name) && !/(^|\/)(node_modules|build)\//.test(name))
      .map((name) => `${folder}/${name}`),
  );
  t.ok(files.length > 500, 'files were found');
  t.same(
    files.filter((file) => textOf(file).includes('\u00a7')),
    [],
  );
});

/** Modules of the reference that docs/parity.md must have a row for. */
const MODULES = `cpu_training cpu_sync_training_test cpu_training_distributed_test_binary estimator estimator_test
  estimator_dist_test estimator_mode_test nested_tensors nested_tensors_test net_utils net_utils_test adamom adamom_test
  rmsprop rmsprop_test rmspropv2_test shampoo prefetch_queue prefetch_queue_test ps_benchmark ps_benchmark_test
  ragged_utils ragged_utils_test remote_predict_ops restore_test runner_utils runner_utils_test gen_monolith_ops
  save_utils save_utils_test service_discovery service_discovery_test serving_ps_test session_run_hooks
  session_run_hooks_test signal_utils signal_utils_test static_reshape_op static_reshape_op_test summary_ops
  summary_ops_test sync_hooks sync_hooks_test sync_training_hooks sync_training_hooks_test tensor_utils
  tensor_utils_test test_utils touched_key_set_ops touched_key_set_ops_test utils utils_test variables variables_test
  yarn_runtime yarn_runtime_test zk_utils path_utils tpu_runner hopscotch_hash_set hash_table hash_table_ops
  hash_table_ops_test hash_table_utils entry initializer optimizers learning_rate_functions float_compressor
  hash_filter_ops hash_filter_ops_test multi_type_hash_table multi_type_hash_table_test multi_hash_table_ops
  multi_hash_table_ops_test distributed_ps distributed_ps_test distributed_ps_sync distributed_ps_sync_test feature
  embedding_combiners clip_ops`.split(/\s+/);

t.test('docs/parity.md has a row for every module and a known verdict in each', async (t) => {
  const rows = [...textOf('docs/parity.md').matchAll(/^\| ([^|]+) \| ([^|]*) \|/gm)]
    .map(([, name, verdict]) => ({ name: name!.trim(), verdict: verdict!.trim() }))
    .filter(({ name }) => name !== 'module' && !/^-+$/.test(name));
  const named = new Set(rows.map(({ name }) => name.split(/[ ,]/)[0]));
  t.same(
    MODULES.filter((name) => !named.has(name)),
    [],
  );
  t.same(
    rows.filter(({ verdict }) => !['yes', 'partly', 'no', 'n/a'].includes(verdict)),
    [],
  );
});

t.test('docs/parity.md names a file that exists for every module that is here', async (t) => {
  const rows = [...textOf('docs/parity.md').matchAll(/^\| ([^|]+) \| (yes|partly) \| ([^|]*) \|/gm)];
  const unplaced = rows.filter(([, , , where]) => !/`[\w-]+\/[\w./-]+`/.test(where!)).map(([, name]) => name);
  t.same(unplaced, []);
  const untested = rows.filter(([, , , where]) => !where!.includes('`test/')).map(([, name]) => name);
  t.same(untested, []);
});

t.test('docs/tables.md has every optimizer, with the state and the defaults it has', async (t) => {
  const rows = [...textOf('docs/tables.md').matchAll(/^\| `sparse\.(\w+)` +\| ([\dd +]+?) +\| (.+?) +\|$/gm)];
  const isOptimizer = (make: unknown) =>
    Object.keys((make as Constructor)({})).some((name) => name in OPTIMIZER_MESSAGES);
  const others = ['constant', 'uniform', 'batchSoftmaxInitializer', 'fixedR8', 'oneBit', 'withStochasticRounding'];
  const constructors = Object.entries(ml.sparse).filter(
    ([name, make]) => !others.includes(name) && isOptimizer(make),
  ) as [string, Constructor][];
  t.same(rows.map(([, name]) => name).sort(), constructors.map(([name]) => name).sort());
  for (const [, name, state, options] of rows) {
    const make = constructors.find(([known]) => known === name)![1];
    const dim = name === 'batchSoftmax' ? 1 : 5;
    const plan = planOptimizer(make(name === 'dynamicWdAdagrad' ? { enableDynamicWd: false } : {}), dim);
    const [, factor = '', rest = '0'] = /^(\d*)d(?: \+ (\d+))?$/.exec(state!) ?? [];
    const expected = state!.includes('d') ? Number(factor === '' ? 1 : factor) * dim + Number(rest) : Number(state);
    t.equal(plan.stateFloats, expected, `${name}: words of state`);
    const rate = /`learningRate` ([\d.]+)/.exec(options!)?.[1];
    if (rate !== undefined) t.equal(plan.learningRate, Number(rate), `${name}: learningRate`);
    const message: Message<Fields> = OPTIMIZER_MESSAGES[plan.name];
    for (const [, key] of options!.matchAll(/`(\w+)`/g)) {
      t.ok(`${key}`.replace(/Regularization$/, 'RegularizationStrength') in message.fields, `${name}: ${key}`);
    }
  }
});

t.test('the name of the package leads to what was built', async (t) => {
  t.equal(import.meta.resolve('monolith-ts'), new URL('../src/index.js', import.meta.url).href);
});
