import t from 'tap';
import { runEigenBench } from '../../bench/eigen.js';

t.test('a small run of the eigensolver bench', async (t) => {
  const { results } = await runEigenBench({ quick: true });
  t.same(
    results.map(({ size, rank }) => [size, rank]),
    [
      [16, 16],
      [16, 4],
    ],
  );
});
