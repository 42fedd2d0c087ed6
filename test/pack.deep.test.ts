/** @file The package as npm would publish it, installed into an empty project: its command, its programs, its types. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { simulatorPath } from '../src/runtime/backends/cuda/native.js';
import { missing } from './requirement.js';
import { npmCommand } from './support/npm.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const LIMIT_MS = 300_000;
const MAP_LINE = /^\/\/# sourceMappingURL=/m;
const PREBUILDS = 'cuda/addon/prebuilds/';

t.setTimeout(3 * LIMIT_MS);

// Outside of the repository, whose node_modules would be found from inside.
const home = mkdtempSync(join(tmpdir(), 'monolith-pack-'));
t.teardown(() => rmSync(home, { recursive: true, force: true }));
const project = join(home, 'project');
const installed = join(project, 'node_modules/monolith-ts');

function run(command: readonly string[], cwd: string) {
  const [program, ...args] = command as [string, ...string[]];
  const { NODE_OPTIONS: _, ...env } = process.env;
  return spawnSync(program, args, { cwd, env, encoding: 'utf8', timeout: LIMIT_MS });
}
const npm = (args: readonly string[], cwd: string) => run([...npmCommand(), ...args], cwd);

const packed = npm(['pack', '--json', '--pack-destination', home], root);
if (packed.error) t.plan(0, missing('npm', packed.error.message));
else await smokeTest();

async function smokeTest(): Promise<void> {
  if (packed.status !== 0) throw new Error(packed.stderr);
  // Scripts of the package print before the answer.
  const answer = packed.stdout.slice(packed.stdout.search(/^\[$/m));
  const [{ filename, files }] = JSON.parse(answer) as [{ filename: string; files: { path: string }[] }];
  const paths = files.map(({ path }) => path);

  t.test('the package has what it needs, and nothing else', async (t) => {
    const { bin, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = [
      ...Object.values<string>(bin),
      ...Object.values<Record<string, string>>(exports).flatMap(Object.values),
    ];
    for (const path of named) t.ok(paths.includes(path.replace('./', '')), path);
    t.same(
      paths.filter((path) => /\.map$|\.tsbuildinfo$|^build\/(test|bench)\/|^(src|test)\//.test(path)),
      [],
      'no maps of sources that are not there, no tests',
    );
    const script = paths.find((path) => /^build\/chunks\/.*\.js$/.test(path))!;
    t.match(readFileSync(join(root, script), 'utf8'), MAP_LINE, 'in a checkout there are maps again');
    t.notOk(existsSync(join(root, PREBUILDS)), 'packing leaves nothing behind');
    if (simulatorPath() === null) return t.comment('no prebuild: the GPU backend is not built here');
    t.equal(paths.filter((path) => path.startsWith(PREBUILDS)).length, 2, 'addon and simulator as prebuilds');
  });

  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true, "type": "module" }');
  const flags = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const install = npm(['install', ...flags, join(home, filename)], project);
  if (install.status !== 0) {
    t.plan(1, missing('registry', install.stderr.slice(0, 500)));
    return;
  }

  t.test('no file of it names a map', async (t) => {
    const scripts = files.map(({ path }) => path).filter((path) => /\.[cm]?js$/.test(path));
    t.ok(scripts.length > 1000, `${scripts.length} scripts`);
    t.same(
      scripts.filter((path) => MAP_LINE.test(readFileSync(join(installed, path), 'utf8'))),
      [],
    );
  });

  t.test('its command trains, resumes and looks at what it saved', async (t) => {
    const monolith = (...args: string[]) => npm(['exec', '--', 'monolith', ...args], project);
    for (const args of [['doctor'], ['train', '--steps', '20', '--model-dir', 'model'], ['inspect', 'model']]) {
      const { status, stderr } = monolith(...args);
      t.equal(status, 0, `${args[0]}: ${stderr}`);
    }
    if (simulatorPath() === null) return;
    const cuda = monolith('train', '--steps', '2', '--batch-size', '64', '--backend', 'cuda', '--cuda-driver', 'sim');
    t.equal(cuda.status, 0, `with the prebuilt addon: ${cuda.stderr}`);
  });

  t.test('the first program of its README runs', async (t) => {
    const program = /^```js\n([\s\S]*?)^```/m.exec(readFileSync(join(installed, 'README.md'), 'utf8'))![1]!;
    writeFileSync(join(project, 'model.mjs'), program);
    const { status, stdout, stderr } = run([process.execPath, 'model.mjs'], project);
    t.equal(status, 0, stderr);
    t.match(stdout, /step \d+: AUC [01]/);
  });

  t.test('its types are found and hold, for Node.js and for bundlers', async (t) => {
    const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const names = Object.keys(exports).filter((name) => name !== './package.json');
    const lines = names.map(
      (name, i) => `import * as m${i} from 'monolith-ts${name.slice(1)}';\nexport const n${i}: object = m${i};`,
    );
    writeFileSync(join(project, 'uses.ts'), `${lines.join('\n')}\n`);
    for (const [module, moduleResolution] of [
      ['NodeNext', 'NodeNext'],
      ['ESNext', 'Bundler'],
    ]) {
      const compilerOptions = {
        ...{
          module,
          moduleResolution,
          target: 'ES2022',
          lib: ['ES2024', 'ESNext.Disposable', 'DOM'],
          strict: true,
          noEmit: true,
        },
        ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
      };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['uses.ts'] }));
      const { status, stdout } = run([process.execPath, join(root, 'node_modules/typescript/bin/tsc')], project);
      t.equal(status, 0, `${moduleResolution}: ${stdout.slice(0, 2000)}`);
    }
  });

  t.test('where no prebuild fits, the hint of the error builds the GPU backend', async (t) => {
    if (simulatorPath() === null) return t.plan(0, missing('cuda', 'there is no compiler'));
    rmSync(join(installed, PREBUILDS), { recursive: true });
    const train = ['exec', '--', 'monolith', 'train', '--steps', '2', '--batch-size', '64'];
    const cuda = [...train, '--backend', 'cuda', '--cuda-driver', 'sim'];
    const failed = npm(cuda, project);
    t.equal(failed.status, 1);
    const [, hint] = /run `npm ([^`]+)`/.exec(failed.stderr) ?? [];
    t.equal(hint, 'explore monolith-ts -- npm run build:cuda', failed.stderr);
    const built = npm(hint!.split(' '), project);
    t.equal(built.status, 0, built.stdout + built.stderr);
    const again = npm(cuda, project);
    t.equal(again.status, 0, again.stderr);
  });
}
