import t from 'tap';
import { runQualityBench } from '../../bench/quality.js';

t.test('the bench of quality learns what made-up users like, with the defaults', async (t) => {
  const { results } = await runQualityBench({ quick: true });
  t.same(
    results.map(({ name }) => name),
    ['made up'],
  );
  t.ok(results[0]!.auc[0]! > 0.9, `${results[0]!.auc}`);
});
