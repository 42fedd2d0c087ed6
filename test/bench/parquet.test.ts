import t from 'tap';
import { runParquetBench } from '../../bench/parquet.js';

t.test('a small run of the bench of Parquet', async (t) => {
  const { results, columns } = await runParquetBench({ quick: true });
  t.equal(columns, 40);
  t.equal(new Set(results.map(({ file }) => file)).size, 5);
  t.equal(results.length, 20);
  t.ok(results.every(({ valuesPerS }) => valuesPerS > 0));
});
