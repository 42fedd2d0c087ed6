import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { Dataset } from '../../../src/data/dataset.js';
import { cellsOf, type OpenRow } from '../../../src/data/files/csv-cells.js';

/** Cells of rows that are written as quoted cells, line by line. */
function rowsOf(text: string): (readonly string[])[] {
  const rows: (readonly string[])[] = [];
  let open: OpenRow | undefined;
  for (const line of text.split('\n')) {
    const cells = cellsOf(line, ',', open);
    open = Array.isArray(cells) ? undefined : cells;
    if (Array.isArray(cells)) rows.push(cells);
  }
  return open === undefined ? rows : [...rows, ['open', String(open.chars)]];
}

t.test('cells come back as they were written, quotes, commas and newlines among them', async (t) => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' '), maxLength: 8 });
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  fc.assert(
    fc.property(rows, (rows) => {
      const text = rows.map((cells) => cells.map(quoted).join(',')).join('\n');
      t.same(rowsOf(text), rows);
    }),
    { numRuns: 200 },
  );
  t.same(rowsOf('a,"b'), [['open', '5']], 'the characters of the row that is open');
});

t.test('a quote that nobody closes costs a look at each line, however many follow', async (t) => {
  // Each row of the second closes the quote and opens another one.
  for (const [name, line] of Object.entries({ one: 'u1,2,1', many: 'u1,",1,"' })) {
    const file = join(t.testdir(), `${name}.csv`);
    writeFileSync(file, `user,item,bought\n"u0,3,0\n${`${line}\n`.repeat(300_000)}`);
    const read = async () => {
      for await (const _ of Dataset.from(file, { header: true })) t.fail('a row was found');
    };
    await t.rejects(read(), { code: 'ML_DATA', message: /line 2, byte 17, .*quote is open at the end of the file/ });
  }
});
