import t from 'tap';
import { runShardingBench } from '../../bench/sharding.js';

t.test('a small run of the sharding bench agrees with its twin', async (t) => {
  const report = await runShardingBench({ quick: true });
  t.equal(report.results.length, 1);
  t.ok(report.results[0]!.wasmNs > 0);
  if (report.native.startsWith('none')) t.comment(`no native twin: ${report.native}`);
  else t.ok(report.results[0]!.nativeNs > 0);
});
