/**
 * @file How .ci/run counts. npm stands in for itself here: it prints what steps print, as all tests would take too
 * long.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const SCRIPT = fileURLToPath(new URL('../../.ci/run', import.meta.url));
const TESTS = `TAP version 14
# Subtest: build/test/a.test.js
    ok 1 - products # SKIP relaxed-simd: this engine has none
    # Subtest: faults
        1..0 # cuda: not built
    ok 2 - faults # SKIP cuda: not built
ok 1 - build/test/a.test.js # time=9ms
`;

/** The end of a run whose `npm test` prints `printed` and exits with `status`. */
function runCi(dir: string, printed: string, status = 0, env: Record<string, string> = {}) {
  mkdirSync(join(dir, '.ci'), { recursive: true });
  cpSync(SCRIPT, join(dir, '.ci/run'));
  writeFileSync(join(dir, 'printed'), printed);
  const npm = `#!/bin/sh
if [ "$1" = test ]; then echo "requires $MONOLITH_TEST_REQUIRE"; cat printed; exit ${status}; fi
`;
  writeFileSync(join(dir, 'npm'), npm, { mode: 0o755 });
  const { MONOLITH_TEST_REQUIRE: _, PATH, ...rest } = process.env;
  const all = { ...rest, PATH: `${dir}:${PATH}`, ...env };
  const ended = spawnSync('bash', [join(dir, '.ci/run')], { env: all, encoding: 'utf8' });
  return { status: ended.status, lines: ended.stdout.trim().split('\n') };
}

t.test('counts of all steps are added up, and skips stand with their reasons before the last line', async (t) => {
  const counts = ['total: 12, pass: 10, skip: 2', 'total: 5, pass: 4, skip: 1'];
  const printed = TESTS + counts.map((line) => `# { ${line} }\n# time=1ms\n`).join('');
  const { status, lines } = runCi(t.testdir(), printed);
  t.equal(status, 0);
  t.same(lines.slice(-4), [
    'skipped:',
    '  products: relaxed-simd: this engine has none',
    '  faults: cuda: not built',
    '14 passed, 0 failed, 3 skipped',
  ]);
});

t.test('a run that fails, or in which nothing ran, is told by the line and by the status', async (t) => {
  const dir = t.testdir();
  const failed = runCi(dir, '# { total: 12, pass: 9, fail: 3 }\n# { total: 2, pass: 1, fail: 1 }\n', 1);
  t.same([failed.status, failed.lines.at(-1)], [1, '10 passed, 4 failed, 0 skipped']);
  const broken = runCi(dir, 'lint: no\n', 2);
  t.same([broken.status, broken.lines.at(-1)], [2, '0 passed, 1 failed, 0 skipped']);
  const nothing = runCi(dir, '# { total: 0 }\n');
  t.same([nothing.status, nothing.lines.at(-1)], [1, '0 passed, 1 failed, 0 skipped']);
});

t.test('tests are told what the machine has, unless somebody else says it', async (t) => {
  const dir = t.testdir();
  t.equal(
    runCi(dir, '# { pass: 1 }').lines[0],
    'requires cuda,npm,registry,linux,nodes,onnx,grpc',
    'no PTX is here, nor its compiler',
  );
  mkdirSync(join(dir, 'cuda/ptx'), { recursive: true });
  writeFileSync(join(dir, 'cuda/ptx/manifest.json'), '{ "compiler": "cuda_1.0.r1.0/compiler.7_0" }');
  for (const [name, text] of [
    ['nvcc', 'Build cuda_1.0.r1.0/compiler.7_0'],
    ['ptxas', ''],
  ] as const) {
    writeFileSync(join(dir, name), `#!/bin/sh\necho '${text}'\n`, { mode: 0o755 });
  }
  t.equal(
    runCi(dir, '# { pass: 1 }').lines[0],
    'requires cuda,npm,registry,linux,nodes,onnx,grpc,nvcc,ptxas',
    'the compiler of the PTX is here',
  );
  t.equal(runCi(dir, '# { pass: 1 }', 0, { MONOLITH_TEST_REQUIRE: 'npm' }).lines[0], 'requires npm');
});
