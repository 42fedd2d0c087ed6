import t from 'tap';
import { runHooksBench } from '../../bench/hooks.js';

t.test('a small run of the bench of hooks', async (t) => {
  const { results } = await runHooksBench({ quick: true });
  t.match(results, [{ batchSize: 64, hooks: 10 }]);
  t.ok(results[0]!.timeRatio > 0 && results[0]!.cpuRatio > 0);
});
