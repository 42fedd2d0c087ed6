import { appendFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readTable } from '../../src/recipe/read-table.js';

t.test('a long table is the same whether its rows were objects or bytes', async (t) => {
  const file = join(t.testdir({}), 'a.csv');
  const lines = ['user,city,price,tags,when,click'];
  for (let row = 0; row < 12_000; row++) {
    const price = row % 50 === 0 ? 'NA' : (row % 977) ** 2;
    const cells = [row % 531, `"city ${row % 7}"`, price, `a|b${row % 3}`, 1_500_000_000 + row, row % 4 === 0 ? 1 : 0];
    lines.push(cells.join(','));
  }
  writeFileSync(file, `${lines.join('\n')}\n`);
  const given = {
    data: file,
    source: 'a.csv',
    label: 'click',
    sides: [],
    over: {},
    model: { name: 'lr' } as const,
    badRowsMax: 10,
  };
  const quick = await readTable({ ...given, options: {} });
  const slow = await readTable({ ...given, options: { badRows: 'skip' } });
  t.equal(quick.table.rows, 12_000);
  t.same(quick.recipe, slow.recipe);
  t.same(quick.table.feeds, slow.table.feeds);
  t.ok(
    quick.recipe.columns.some(({ nulls }) => nulls?.includes('NA')),
    'texts that mean nothing were found',
  );
  const plain = Array.from({ length: 12_000 }, (_, row) => `${row % 531},${row % 977},${row % 4 === 0 ? 1 : 0}`);
  writeFileSync(file, `user,price,click\n${plain.join('\n')}\n1,what,1\n`);
  await t.rejects(readTable({ ...given, options: {} }), {
    code: 'ML_DATA',
    message: /line 12002, byte \d+, column price: "what" is not a number/,
    hint: /--bad-rows skip/,
  });
});

t.test('a table that was parsed before is the same, of rows as objects and as bytes', async (t) => {
  const dir = t.testdir({ 'side.csv': 'city,country\nc1,x\nc2,y\n' });
  const [file, side] = [join(dir, 'a.csv'), join(dir, 'side.csv')];
  const lines = Array.from({ length: 11_000 }, (_, row) => `${row % 531},c${row % 4},${row % 977},${row % 3 ? 0 : 1}`);
  writeFileSync(file, `user,city,price,click\n${lines.join('\n')}\n1,c1,what,1\n`);
  writeFileSync(join(dir, 'report.csv'), `user,city,price,click\n${lines.slice(0, 50).join('\n')}\n`);
  const given = {
    data: file,
    source: 'a.csv',
    label: 'click',
    over: {},
    model: { name: 'lr' } as const,
    badRowsMax: 10,
  };
  const joined = { sides: [{ file: side, key: 'city' }], options: { badRows: 'skip' as const } };
  const ways = [
    { ...given, sides: [], options: { nulls: ['what'] } },
    { ...given, ...joined, splitBy: 'user' },
    { ...given, ...joined, evalData: join(dir, 'report.csv') },
  ];
  const kept = join(dir, 'kept');
  for (const way of ways) {
    const plain = await readTable(way);
    t.equal(plain.cached, undefined);
    for (const state of ['made', 'used']) {
      const read = await readTable({ ...way, cache: { dir: kept } });
      t.equal(read.cached?.state, state);
      for (const name of ['recipe', 'ownRows', 'keys', 'files', 'bad'] as const) t.same(read[name], plain[name], name);
      t.same(read.table.feeds, plain.table.feeds);
    }
  }
  t.equal(readdirSync(kept).length, 3);
  appendFileSync(side, 'c3,z\n');
  const changed = await readTable({ ...ways[1]!, cache: { dir: kept } });
  t.equal(changed.cached?.state, 'made', 'another side table gives other rows');
});

t.test('a file that is replaced once its first rows were read leaves none of them in a cache', async (t) => {
  const dir = t.testdir({});
  const [file, kept] = [join(dir, 'a.csv'), join(dir, 'kept')];
  const lines = Array.from({ length: 300 }, (_, row) => `u${row % 7},${row % 11},${row % 3 ? 0 : 1}`);
  const write = (name: string, rows: readonly string[]) =>
    writeFileSync(name, `user,price,click\n${rows.join('\n')}\n`);
  write(file, lines);
  write(`${file}.new`, [...lines].reverse());
  const given = { data: file, source: 'a.csv', sides: [], over: {}, model: { name: 'lr' } as const, badRowsMax: 10 };
  const way = { ...given, options: {} };
  let isReplaced = false;
  const first = await readTable({
    ...way,
    cache: { dir: kept },
    // Asked for when the first rows are there.
    get label() {
      if (!isReplaced) renameSync(`${file}.new`, file);
      isReplaced = true;
      return 'click';
    },
  });
  t.equal(first.cached, undefined);
  const again = await readTable({ ...way, label: 'click', cache: { dir: kept } });
  const plain = await readTable({ ...way, label: 'click' });
  t.equal(again.cached?.state, 'made');
  t.same(again.table.feeds, plain.table.feeds);
});
