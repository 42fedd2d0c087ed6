import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { differences } from './compare.js';
import { readCases } from './read-case.js';
import { loadHandlers, runCase } from './runner.js';

const fixture = (name: string) => new URL(`../../../test/fixtures/${name}`, import.meta.url);
const handlers = await loadHandlers();

/** Modules of a file that no handler covers yet: each new handler takes its name off this list. */
const MISSING: Readonly<Record<string, readonly string[]>> = {
  'parity-sparse.json': [],
  'parity-io.json': [
    'agent/zk_backend',
    'cluster_manager',
    'consul',
    'net_utils',
    'restore',
    'service_discovery',
    'yarn_runtime',
  ],
};

for (const [file, missing] of Object.entries(MISSING)) {
  const cases = readCases(fixture(file));
  t.test(`${file}: the modules without a handler are the known ones`, async (t) => {
    const found = [...new Set(cases.map(({ module }) => String(module)))].filter((module) => !handlers.has(module));
    t.same(found.sort(), [...missing].sort());
  });
  for (const parity of cases.filter(({ module }) => handlers.has(String(module)))) {
    t.test(`${file}: ${parity.module} ${parity.case}`, async (t) => {
      const { status, reason } = await runCase(handlers, parity);
      if (status === 'not-applicable') t.comment(`not applicable: ${reason}`);
      t.ok(status === 'pass' || status === 'not-applicable', reason);
    });
  }
}

t.test('a case that cannot be run is a failure', async (t) => {
  const unknown = await runCase(handlers, { module: 'no_such', case: 'x', input: {}, expected: {} });
  t.match(unknown, { status: 'fail', reason: 'no handler for module no_such' });
  const form = await runCase(handlers, { module: 'gen_seq_mask', case: 'x', input: { other: 1 }, expected: {} });
  t.match(form, { status: 'unknown-key', reason: 'the case has unknown other' });
  const key = { splits: [0, 1], max_seq_length: 1 };
  const extra = await runCase(handlers, { module: 'gen_seq_mask', case: 'x', input: key, expected: { more: 1 } });
  t.match(extra, { status: 'unknown-key', reason: 'the expectation has unknown more' });
});

t.test('numbers compare under the tolerance of the case', async (t) => {
  t.same(differences([1, 2n, 'a', true], [1, 2, 'a', true]), []);
  t.same(differences([-1n], ['18446744073709551615']), [], 'ids are bit patterns');
  t.same(differences([Number.NaN, Number.POSITIVE_INFINITY], ['NaN', 'Inf']), []);
  t.same(differences({ x: [0, 1, 2] }, { x: { range: [0, 3] } }), []);
  t.same(differences({ x_sorted: [2, 1] }, { x_sorted: [1, 2] }), []);
  t.same(differences({ x: [2, 1] }, { x: [1, 2] }), ['x[0] is 2, not 1', 'x[1] is 1, not 2']);
  t.same(differences(1.001, 1, { abs: 0.01 }), []);
  t.equal(differences(1.001, 1, { abs: 1e-4, rel: 1e-4 }).length, 1);
  t.same(differences(1 + 2 ** -23, 1, { ulp: 1 }), []);
  t.equal(differences(1 + 2 ** -22, 1, { ulp: 1 }).length, 1);
  t.same(differences([1, 2], [1]), ['the result has 2 entries, not 1']);
});

t.test('the command prints a line per case and a total, and fails when a case fails', async (t) => {
  const run = (...names: string[]) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('./run.js', import.meta.url)), ...names], { encoding: 'utf8' });
  const good = { module: 'gen_seq_mask', case: 'a', input: { splits: [0, 1], max_seq_length: 2 } };
  const files = t.testdir({
    'good.json': JSON.stringify([{ ...good, expected: { mask: [[1, 0]] } }]),
    'bad.json': JSON.stringify([{ ...good, expected: { mask: [[1, 1]] } }]),
    'broken.json': '{}',
  });
  const passed = run(join(files, 'good.json'));
  t.equal(passed.stdout, 'pass gen_seq_mask a\ntotal 1: 1 pass, 0 fail, 0 unknown key, 0 not applicable\n');
  t.equal(passed.status, 0);
  const failed = run(join(files, 'bad.json'));
  t.equal(
    failed.stdout,
    'FAIL gen_seq_mask a (mask[0][1] is 0, not 1)\ntotal 1: 0 pass, 1 fail, 0 unknown key, 0 not applicable\n',
  );
  t.equal(failed.status, 1);
  t.equal(run(join(files, 'broken.json')).status, 2);
  writeFileSync(join(files, 'unknown.json'), JSON.stringify([{ module: 'm', case: 'c', input: 1, expected: 1 }]));
  t.equal(run(join(files, 'unknown.json')).status, 1);
  writeFileSync(join(files, 'key.json'), JSON.stringify([{ ...good, expected: { colour: 1 } }]));
  const both = run(join(files, 'good.json'), join(files, 'key.json'));
  t.equal(both.status, 1);
  t.match(both.stdout, 'KEY? gen_seq_mask a (the expectation has unknown colour)\n');
  t.match(both.stdout, 'total 1: 0 pass, 0 fail, 1 unknown key, 0 not applicable\n');
});
