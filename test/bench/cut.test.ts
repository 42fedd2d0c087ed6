import t from 'tap';
import { runCutBench } from '../../bench/cut.js';

t.test('the bench of cut steps compares them with steps in one piece', async (t) => {
  const { results } = await runCutBench({ quick: true });
  t.same(
    results.map(({ model }) => model),
    ['ffm', 'deepfm'],
  );
  for (const { stepMs, cutRatio, delayRatio } of results) {
    for (const value of [stepMs, cutRatio, delayRatio]) t.ok(value > 0 && Number.isFinite(value));
  }
});
