import t from 'tap';
import { datedPatterns, expandPattern, matchFiles } from '../../../src/data/files/patterns.js';

t.test('placeholders stand for each number, day and hour, the leftmost changing last', async (t) => {
  t.same(expandPattern('a{INT(8, 10)}/{INT(0,1)}'), ['a8/0', 'a8/1', 'a9/0', 'a9/1', 'a10/0', 'a10/1']);
  t.same(expandPattern('{DATE(20240228,20240301)}'), ['20240228', '20240229', '20240301']);
  t.same(expandPattern('{DATE(2020123122,2021010101)}'), ['2020123122', '2020123123', '2021010100', '2021010101']);
  t.same(expandPattern('{INT(3,2)}x'), [], 'nothing lies between');
  t.same(expandPattern('plain name'), ['plainname'], 'spaces are removed');
  t.throws(() => expandPattern('{DATE(20200101,2020010100)}'), { code: 'ML_DATASET', message: /both ends/ });
  t.throws(() => expandPattern('{DATE(20201301,20201302)}'), { code: 'ML_DATASET', message: /no date/ });
  t.throws(() => expandPattern('{INT(0,99999)}{INT(0,99999)}'), { code: 'ML_DATASET', message: /over 1000000/ });
  t.throws(() => expandPattern('{INT(0,99999999999)}'), { code: 'ML_DATASET' });
});

t.test('stars match files that are there, sorted, each once', async (t) => {
  const file = '';
  const dir = t.testdir({
    a: { 'x.csv': file, 'y.csv': file, '.hidden.csv': file },
    b: { c: { 'x.csv': file } },
    'a b.csv': file,
  });
  const names = (...patterns: string[]) =>
    matchFiles(patterns.map((pattern) => `${dir}/${pattern}`)).files.map((path) => path.slice(dir.length + 1));
  t.same(names('a/*.csv', 'a/x.csv'), ['a/x.csv', 'a/y.csv']);
  t.same(names('a/.h*'), ['a/.hidden.csv']);
  t.same(names('**/x.csv'), ['a/x.csv', 'b/c/x.csv']);
  t.same(names('*/[!x].csv', 'a/?.csv'), ['a/x.csv', 'a/y.csv']);
  t.same(names('a b.csv'), ['a b.csv'], 'a name that is there is meant as it is');
  const { warnings } = matchFiles([`${dir}/a/x.csv`, `${dir}/a/{INT(1,2)}.csv`]);
  t.same(
    warnings,
    [1, 2].map((n) => `pattern not match any files: ${dir}/a/${n}.csv`),
  );
  t.throws(() => matchFiles(`${dir}/no*`), {
    code: 'ML_DATASET',
    message: /no match files/,
    hint: /pattern not match/,
  });
  t.throws(() => matchFiles(`${dir}/a`), { code: 'ML_DATASET' }, 'a folder is no file');
});

t.test('dated folders end before the last day', async (t) => {
  t.same(datedPatterns('in', '20201230', '20210101'), ['in/20201230/*', 'in/20201231/*']);
  const hours = datedPatterns('in', '2020123123', '2021010101', { hourly: true, wildcard: '*.pb' });
  t.same(hours, ['in/20201231/23*.pb', 'in/20210101/00*.pb']);
});
