import t from 'tap';
import { runEstimatorBench } from '../../bench/estimator.js';
import { medianInterval } from '../../bench/rounds.js';

t.test('the bench of the estimator compares it with a bare loop', async (t) => {
  const { results } = await runEstimatorBench({ quick: true });
  t.same(
    results.map(({ model }) => model),
    ['ffm', 'deepfm'],
  );
  for (const { timeRatio, cpuRatio, stepUs } of results) t.ok(timeRatio > 0 && cpuRatio > 0 && stepUs > 0);
});

t.test('the interval of a median leaves out as many values at either end', async (t) => {
  const values = Array.from({ length: 17 }, (_, index) => index);
  // Of 17 coins 4 or fewer fall alike in 2.5 % of the cases.
  t.same(medianInterval(values), [4, 12]);
  t.same(medianInterval([3]), [3, 3]);
});
