import t from 'tap';
import { runScaleBench } from '../../bench/scale.js';

t.test('a small run of the scale bench grows a table over several memories and finds every row', async (t) => {
  const report = await runScaleBench({ quick: true });
  t.ok(report.banks > 1, `${report.banks} memories`);
  t.equal(report.rows, 100_000);
  t.equal(report.wrong, 0);
  t.ok(report.bytes > 100_000 * 16 * 8);
  t.ok(report.slowestMs >= report.medianMs && report.rowsPerS > 0);
});
