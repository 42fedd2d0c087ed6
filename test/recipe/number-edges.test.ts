/** @file Where pieces of numbers end: quantiles, heavy values by themselves, as few as there is something to say of. */
import t from 'tap';
import { MISSING_NUMBER } from '../../src/data/field.js';
import { EncodedTable } from '../../src/recipe/encoded-table.js';
import { edgesOf, withEdges } from '../../src/recipe/number-edges.js';

const rising = (values: readonly number[]) => Float32Array.from(values).sort();
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

t.test('quantiles, with the least and the most', async (t) => {
  t.same(edgesOf(rising(upTo(1001)), 4), [0, 250, 500, 750, 1000]);
  t.same(edgesOf(rising([3, 1, 2, 2, 3]), 32), [1, 2, 3], 'all values where they are few');
  t.equal(edgesOf(rising([7, 7]), 32), undefined, 'one value has no pieces');
  t.equal(edgesOf(rising([]), 32), undefined);
});

t.test('a value with most of the rows is one edge, and leaves the others to the rest', async (t) => {
  const edges = edgesOf(rising([...new Array(9000).fill(0), ...upTo(1000).map((x) => x + 1)]), 8)!;
  t.equal(edges.length, 9);
  t.same(edges.slice(0, 2), [0, 126], 'the 0, then quantiles of what is more');
});

t.test('never more pieces than were asked for, in rising order, whatever the values are', async (t) => {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  for (let round = 0; round < 200; round++) {
    const kind = round % 4;
    const values = Array.from({ length: 1 + Math.floor(random() * 400) }, () =>
      kind === 0 ? random() : kind === 1 ? Math.floor(random() * 9) : kind === 2 ? 10 ** (random() * 60 - 30) : -1,
    );
    const pieces = 1 + Math.floor(random() * 40);
    const edges = edgesOf(rising(values), pieces);
    if (edges === undefined) continue;
    t.ok(
      edges.length >= 2 && edges.length <= Math.max(3, pieces + 1),
      `${edges.length - 1} of ${pieces}, round ${round}`,
    );
    t.ok(edges.every((edge, at) => at === 0 || Math.fround(edge) > Math.fround(edges[at - 1]!)));
  }
});

t.test('columns of numbers get edges of the rows that are trained on, the more the more rows', async (t) => {
  const schema = [{ name: 'x', kind: 'dense', width: 1 }] as const;
  const values = Float32Array.from([...upTo(8192), MISSING_NUMBER, 1e9]);
  const table = new EncodedTable(schema, [{ kind: 'dense', values }], values.length);
  const columns = [
    { name: 'x', type: 'int', role: 'number' },
    { name: 'user', type: 'text', role: 'id' },
  ] as const;
  const edgesBy = (rows: number, pieces: number) =>
    withEdges(columns, table, Uint32Array.from(upTo(rows)), pieces)[0]!.edges;
  t.equal(edgesBy(8193, 32)!.length, 33);
  t.equal(edgesBy(8193, 32)!.at(-1), 8191, 'what is held out and what is missing has no part');
  t.equal(edgesBy(1024, 32)!.length, 9);
  t.equal(edgesBy(100, 32)!.length, 5);
  t.equal(edgesBy(8193, 0), undefined, 'none where none are asked for');
  t.same(withEdges(columns, table, Uint32Array.from([0, 1]), 32)[1], columns[1]);
});
