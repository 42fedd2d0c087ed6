import t from 'tap';
import { runReadBench } from '../../bench/read.js';

t.test('a small run of the bench of readers, without peers', async (t) => {
  const { results } = await runReadBench({ quick: true }, null);
  t.same(
    results.map(({ kind, name }) => `${kind} ${name}`),
    [
      'csv ours, in order',
      'csv ours, shuffled over 65,536 rows',
      "csv split('\\n'), split(',')",
      'json ours, in order',
      'json JSON.parse',
      'tf.Example ours, in order',
      'tf.Example ours, shuffled over 65,536 rows',
      'tf.Example ours, a row',
    ],
  );
});
