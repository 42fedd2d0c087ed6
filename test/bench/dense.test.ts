import t from 'tap';
import { runDenseBench } from '../../bench/dense.js';

t.test('the bench of the dense kernels runs every case at a small size', async (t) => {
  const report = await runDenseBench({ quick: true });
  t.ok(report.results.length >= 15, 'cases were run');
  for (const { name, rate, plainOverWasm, nativeOverWasm } of report.results) {
    const ratios = report.native ? [rate, plainOverWasm, nativeOverWasm!] : [rate, plainOverWasm];
    t.ok(
      ratios.every((ratio) => Number.isFinite(ratio) && ratio > 0),
      `${name} was measured`,
    );
  }
});
