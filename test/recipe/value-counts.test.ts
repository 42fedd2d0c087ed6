/** @file Counting the values of a column: one value is one text, whatever it was given as. */
import t from 'tap';
import { ColumnStats } from '../../src/recipe/column-stats.js';
import { ValueCounts } from '../../src/recipe/value-counts.js';

function counted(cells: readonly unknown[]): ValueCounts {
  const counts = new ValueCounts();
  for (const cell of cells) counts.add(cell);
  return counts;
}

t.test('numbers alone are counted as the texts they are', async (t) => {
  const cells = [3, 1.5, 3, -0, 0, 1e21, 3];
  const [numbers, texts] = [counted(cells), counted(cells.map(String))];
  t.same(numbers.values(), ['3', '1.5', '0', '1e+21']);
  t.same(numbers.values(), texts.values());
  t.same(numbers.top(2), [
    ['3', 3],
    ['0', 2],
  ]);
  t.same(numbers.top(9), texts.top(9));
});

t.test('a text among numbers is the number it spells, before and after', async (t) => {
  const counts = counted([7, 8, '7', 7n, true, 8, 'x']);
  t.same(counts.values(), ['7', '8', 'true', 'x']);
  t.same(counts.top(2), [
    ['7', 3],
    ['8', 2],
  ]);
  t.equal(counts.distinct, 4);
  t.notOk(counts.overflowed);
});

t.test('of very many values the first are counted', async (t) => {
  const counts = new ValueCounts();
  for (let value = 0; value < 262_145; value++) counts.add(value);
  t.equal(counts.distinct, 262_144);
  t.ok(counts.overflowed);
  counts.add(5);
  t.same(counts.top(1), [['5', 2]]);
});

t.test('a column of numbers is judged as one of their texts', async (t) => {
  const cells = [1, 2.5, -3, 1e21, 9_007_199_254_740_993n, 40];
  const [given, written] = [new ColumnStats('a'), new ColumnStats('a')];
  for (const cell of cells) {
    given.add(cell);
    written.add(String(cell));
  }
  for (const what of ['numbers', 'integers', 'big', 'min', 'max', 'mean', 'deviation', 'distinct'] as const) {
    t.equal(given[what], written[what], what);
  }
  t.same(given.top(9), written.top(9));
});
