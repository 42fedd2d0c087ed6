import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { REQUIREMENTS, type Requirement } from './requirement.js';

const HELPER = new URL('./requirement.js', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Runs a test that lacks `name` in a process of its own, where the environment asks for `required`. */
function skipOf(name: Requirement, required: string | undefined) {
  const script = `
    import t from 'tap';
    import { missing } from '${HELPER}';
    t.test('inside', async (t) => { t.plan(0, missing('${name}', 'not here')); });
    t.test('outside', { skip: missing('${name}', 'not here') }, async () => {});`;
  const { MONOLITH_TEST_REQUIRE: _, TAP: __, ...env } = process.env;
  const given = { ...env, ...(required !== undefined && { MONOLITH_TEST_REQUIRE: required }) };
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: ROOT,
    env: given,
    encoding: 'utf8',
  });
}

t.test('a test that lacks something is skipped with the reason, and fails where that is required', async (t) => {
  for (const required of [undefined, '', 'nvcc,npm']) {
    const { status, stdout, stderr } = skipOf('cuda', required);
    t.equal(status, 0);
    t.equal(stdout.match(/^ok .* # SKIP cuda: not here$/gm)?.length, 2, 'both are skips of tap');
    t.equal(stderr.match(/^SKIPPED, cuda: not here$/gm)?.length, 2, 'both are printed');
  }
  const { status, stdout, stderr } = skipOf('cuda', 'npm,cuda');
  t.not(status, 0);
  t.match(stdout + stderr, /MONOLITH_TEST_REQUIRE asks for what is missing, cuda: not here/);
});

t.test('a name that is no requirement fails, as nothing would be required by it', async (t) => {
  const { status, stdout, stderr } = skipOf('cuda', 'cuda,gpu');
  t.not(status, 0);
  t.match(stdout + stderr, new RegExp(`names gpu; there are ${Object.keys(REQUIREMENTS).join(', ')}`));
});

t.test('the page on testing lists the requirements as the table has them', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| (.*?) +\|$/gm)].map(([, name, text]) => [name, text]);
  t.same(Object.fromEntries(rows), REQUIREMENTS);
});
