import t from 'tap';
import { runTableBench } from '../../bench/table.js';

t.test('a small run of the table bench measures every case on both sides, which agree', async (t) => {
  const report = await runTableBench({ quick: true });
  t.equal(report.results.length, 14);
  for (const { name, wasmNs, ratio, speedUp } of report.results) {
    t.ok(wasmNs > 0 && speedUp > 0, `${name} took time`);
    if (ratio !== undefined) t.ok(ratio > 0, `${name} has a twin`);
  }
  t.ok(report.bytes.every(({ ratio }) => ratio >= 1));
  if (report.native.startsWith('none')) t.comment(`no native twin: ${report.native}`);
});
