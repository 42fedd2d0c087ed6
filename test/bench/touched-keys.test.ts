import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

const bench = fileURLToPath(new URL('../../bench/touched-keys.js', import.meta.url));

t.test('the touched-key bench runs at its small size and its systems agree', async (t) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [bench, '--quick', '--json', '--seed', '3']);
  const report = JSON.parse(stdout) as { seed: number; node: string; rows: { system: string; insertMs: number }[] };
  t.equal(report.seed, 3);
  t.equal(report.node, process.version);
  const systems = new Set(report.rows.map((row) => row.system));
  t.ok(systems.has('wasm') && systems.has('Set<bigint>'));
  t.ok(systems.has('native') || stderr.includes('native twin left out'), 'the twin ran, or it was said why not');
  t.ok(report.rows.every((row) => row.insertMs > 0));
});
