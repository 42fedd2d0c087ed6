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
import { runProgram } from '../src/cli/program.js';
import { FakeIo } from './cli/fake-io.js';
import { runCli } from './cli/run-cli.js';
import { runNode } from './run-node.js';

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
  let count = 0;
  for (const page of PAGES) {
    for (const { line, source } of programsOf(page)) {
      const file = join(home, `${page.replaceAll('/', '-')}-${line}.mjs`);
      writeFileSync(file, source);
      t.match(await runNode([file], { cwd }), { code: 0, err: '' }, `${page}, line ${line}`);
      count++;
    }
  }
  t.ok(count >= 5, 'blocks were found');
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
        const shown = lines.map((line) => (line === '...' ? '(?:.*\n)*?' : `${escapeRegExp(line)}\n`));
        return { command, expected: new RegExp(`^${shown.join('')}$`) };
      }),
  );
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

t.test('every command of a console block prints what the page shows', async (t) => {
  let count = 0;
  for (const page of PAGES) {
    const cwd = t.testdir();
    for (const { command, expected } of sessionsOf(page)) {
      const [program, ...args] = command.split(' ');
      t.equal(program, 'monolith', `${page}: ${command}`);
      const { out, err } = await runCli(args, { cwd });
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
    [...textOf(page).matchAll(/npm run (?:-s )?([\w:]+)|npm (start|test)\b|`(bench:\w+)`/g)]
      .map((match) => match[1] ?? match[2] ?? match[3]!)
      .filter((name) => scripts[name] === undefined)
      .map((name) => `${page}: ${name}`),
  );
  t.same(unknownScripts, []);

  const known = new Set<string>();
  for (const name of ['', 'train', 'plan', 'inspect', 'doctor', 'trace']) {
    const args = [...(name === '' ? [] : [name]), '--help'];
    const io = new FakeIo();
    await runProgram(args, io);
    for (const [flag] of io.out.text.matchAll(/--[a-z][a-z-]*/g)) known.add(flag);
  }
  t.ok(known.has('--threads') && known.has('--top'), 'flags were found');
  const pages = PAGES.filter((page) => !['docs/errors.md', 'docs/bench.md', 'docs/cli.md'].includes(page));
  const unknownFlags = pages.flatMap((page) =>
    [...textOf(page).matchAll(/(?<![\w-])--[a-z][a-z-]*/g)]
      .map(([flag]) => flag)
      .filter((flag) => !known.has(flag))
      .map((flag) => `${page}: ${flag}`),
  );
  t.same(unknownFlags, []);
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
  yarn_runtime yarn_runtime_test zk_utils path_utils tpu_runner hopscotch_hash_set hash_table`.split(/\s+/);

t.test('docs/parity.md has a row for every module and a known verdict in each', async (t) => {
  const rows = [...textOf('docs/parity.md').matchAll(/^\| ([^|]+) \| ([^|]*) \|/gm)]
    .map(([, name, verdict]) => ({ name: name!.trim(), verdict: verdict!.trim() }))
    .filter(({ name }) => name !== 'module' && !/^-+$/.test(name));
  const named = new Set(rows.map(({ name }) => name.split(' ')[0]));
  t.same(
    MODULES.filter((name) => !named.has(name)),
    [],
  );
  t.same(
    rows.filter(({ verdict }) => !['yes', 'partly', 'no', 'n/a'].includes(verdict)),
    [],
  );
});

t.test('the name of the package leads to what was built', async (t) => {
  t.equal(import.meta.resolve('monolith-ts'), new URL('../src/index.js', import.meta.url).href);
});
