/** @file Building again: only what changed, nothing left of what is gone, and one process after the other. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runNode } from '../run-node.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A checkout that is built in a second: the tools are real, the sources are two lines. */
function smallCheckout(home: string): void {
  const tools = ['.ci', 'assembly/build.mjs', 'assembly/generated/dispatch.ts'];
  for (const part of [...tools, 'package.json', 'package-lock.json']) {
    cpSync(join(root, part), join(home, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  const options = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')).compilerOptions;
  const tsconfig = { compilerOptions: { ...options, types: [] }, include: ['src', 'workers'] };
  // One build of the kernels of three: each takes the same way.
  const { targets, ...asconfig } = JSON.parse(readFileSync(join(root, 'asconfig.json'), 'utf8'));
  const files = {
    'asconfig.json': JSON.stringify({ ...asconfig, targets: { plain: targets.plain } }),
    'tsconfig.json': JSON.stringify(tsconfig),
    'assembly/index.ts': 'export function one(): i32 { return 1; }\n',
    'src/a.ts': 'export const a = 1;\n',
    'src/inner/b.ts': 'export const b = 2;\n',
    'workers/c.ts': 'export const c = 3;\n',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(home, name, '..'), { recursive: true });
    writeFileSync(join(home, name), text);
  }
}

async function build(cwd: string, ...asked: string[]): Promise<void> {
  // There are no pages in it.
  const parts = asked.length > 0 ? asked : ['wasm', 'ts'];
  const { code, out, err } = await runNode([join(cwd, '.ci/build.mjs'), ...parts], { cwd });
  if (code !== 0) throw new Error(`the build ended with ${code}: ${out}${err}`);
}

t.test('a second build writes nothing, a change is built, and outputs follow their sources', async (t) => {
  const home = t.testdir();
  smallCheckout(home);
  const at = (name: string) => join(home, name);
  const times = () =>
    ['build/kernels.wasm', 'build/src/a.js', 'build/workers/c.js'].map((f) => statSync(at(f)).mtimeMs);
  await build(home);
  const first = times();
  await build(home);
  t.same(times(), first, 'nothing changed');

  writeFileSync(at('src/a.ts'), 'export const a = 10;\n');
  rmSync(at('src/inner/b.ts'));
  rmSync(at('build/workers/c.js'));
  await build(home);
  t.match(await import(at('build/src/a.js')), { a: 10 }, 'what changed is built');
  t.notOk(existsSync(at('build/src/inner')), 'what a source left behind goes with it');
  t.ok(existsSync(at('build/workers/c.js')), 'what was deleted is there again');
  t.equal(times()[0], first[0], 'kernels are as they were');

  writeFileSync(at('assembly/index.ts'), 'export function two(): i32 { return 2; }\n');
  await build(home, 'wasm');
  const module = new WebAssembly.Module(readFileSync(at('build/kernels.wasm')));
  t.match(WebAssembly.Module.exports(module), [{ name: 'two' }]);
});

t.test('a build that fails says so, and the next one tries again', async (t) => {
  const home = t.testdir();
  smallCheckout(home);
  writeFileSync(join(home, 'src/a.ts'), 'export const a: number = "one";\n');
  await t.rejects(build(home, 'ts'), /src\/a\.ts.* TS2322[\s\S]*TypeScript failed/);
  await t.rejects(build(home, 'ts'), /TS2322/, 'though nothing changed');
  await t.rejects(build(home, 'rust'), /there is no part rust/);
});

t.test('processes take turns, also after one that was killed', async (t) => {
  const home = t.testdir();
  const lock = join(home, 'lock');
  const log = join(home, 'log');
  const script = `import { appendFileSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { takeTurns } from '${join(root, '.ci/take-turns.mjs')}';
    await takeTurns('${lock}', 60_000, async () => {
      appendFileSync('${log}', 'in ');
      if (process.argv[1] === 'die') process.kill(process.pid, 'SIGKILL');
      await setTimeout(20);
      appendFileSync('${log}', 'out ');
    });`;
  const run = (...args: string[]) => runNode(['--input-type=module', '-e', script, ...args], { cwd: home });
  await run('die');
  const ended = await Promise.all(Array.from({ length: 6 }, () => run()));
  t.same(
    ended.map(({ code, err }) => [code, err]),
    ended.map(() => [0, '']),
  );
  t.equal(readFileSync(log, 'utf8'), `in ${'in out '.repeat(6)}`);
});
