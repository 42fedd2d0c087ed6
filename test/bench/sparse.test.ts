import t from 'tap';
import { runSparseBench } from '../../bench/sparse.js';

t.test('a small run of the sparse bench measures every case on both sides', async (t) => {
  const report = await runSparseBench({ quick: true });
  t.equal(report.results.length, 4);
  for (const { name, wasmNs, twins } of report.results) {
    t.ok(wasmNs > 0, `${name} took time`);
    for (const twin of twins) t.ok(twin.ns > 0 && twin.ratio > 0, `${twin.label} took time`);
  }
  if (report.native.startsWith('none')) t.comment(`no native twins: ${report.native}`);
});
