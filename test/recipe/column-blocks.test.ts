/** @file Rows that come as columns are encoded as the same rows are that come as objects. */
import t from 'tap';
import { ClickLog } from '../../src/demo/click-log.js';
import { readTable } from '../../src/recipe/read-table.js';
import type { Overrules } from '../../src/recipe/sniff-column.js';

const log = new ClickLog({ rows: 45_000, seed: 3, first: 1000 });

const read = (over: Overrules, options: object = {}, given: object = {}) =>
  readTable({
    ...{ data: log, source: 'clicks', label: 'click', sides: [], over, model: { name: 'deepfm' }, badRowsMax: 10 },
    ...{ options, ...given },
  });

const CASES: readonly (readonly [name: string, over: Overrules])[] = [
  ['as they are', {}],
  ['a number as an id, and a column left out', { id: ['hour'], ignore: ['device'] }],
  ['texts as lists', { words: ['siteId'], list: new Map([['topic', 'o']]) }],
];

for (const [name, over] of CASES) {
  t.test(`columns are encoded as rows are: ${name}`, async (t) => {
    const [byRows, byColumns] = [await read(over), await read(over, {}, { columns: log })];
    t.equal(byColumns.table.rows, 45_000);
    t.equal(byColumns.ownRows, byRows.ownRows);
    t.same(byColumns.recipe, byRows.recipe);
    for (const [at, spec] of byRows.table.schema.entries()) {
      const [wanted, found] = [byRows.table.feeds[at]!, byColumns.table.feeds[at]!];
      t.ok(Buffer.from(found.values.buffer).equals(Buffer.from(wanted.values.buffer)), spec.name);
      if (wanted.kind === 'ragged') t.same((found as typeof wanted).splits, wanted.splits);
    }
  });
}

t.test('a cell that does not fit is told as that of a row', async (t) => {
  const wanted = await read({ number: ['topic'] }).catch((error: unknown) => error);
  const found = await read({ number: ['topic'] }, {}, { columns: log }).catch((error: unknown) => error);
  t.match(found, { code: 'ML_DATA', fields: { row: 0, column: 'topic' } });
  t.equal((found as Error).message, (wanted as Error).message);
  const skipped = read({ number: ['topic'] }, { badRows: 'skip' }, { columns: log });
  await t.rejects(skipped, { code: 'ML_DATASET' }, 'and rows that are left out are rows');
});
