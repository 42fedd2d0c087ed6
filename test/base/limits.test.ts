import { readFileSync } from 'node:fs';
import t from 'tap';
import { parseBoundedJson } from '../../src/base/bounded-json.js';
import { checkLimit, LIMITS, type LimitName, overLimit } from '../../src/base/limits.js';
import { ROW_FLOATS_MAX } from '../../src/memory/limits.js';

const page = readFileSync(new URL('../../../docs/limits.md', import.meta.url), 'utf8');

const refuse = (reason: string): never => {
  throw new RangeError(reason);
};

t.test('docs/limits.md tells of every limit, with its number', async (t) => {
  const rows = [...page.matchAll(/^\| `(\w+)`\s*\| (\d+)\s*\| \S/gm)];
  t.same(Object.fromEntries(rows.map(([, name, most]) => [name, Number(most)])), LIMITS);
  t.equal(rows.length, Object.keys(LIMITS).length, 'once each');
});

t.test('a reason names the limit and the page; what is no number is over it too', async (t) => {
  t.equal(overLimit('rank', 255), '255 is over the limit of 254 (rank, see docs/limits.md)');
  checkLimit('rank', 254, refuse);
  for (const found of [255, Number.NaN, Number.POSITIVE_INFINITY]) t.throws(() => checkLimit('rank', found, refuse));
});

t.test('whatever row a table can have can be read', async (t) => {
  t.ok(LIMITS.rowFloats >= ROW_FLOATS_MAX);
  t.ok(LIMITS.recordBytes >= 10 * LIMITS.rowFloats);
});

t.test('JSON is counted before it is parsed, and what is in strings does not count', async (t) => {
  const values: LimitName = 'rank';
  const parse = (text: string) => parseBoundedJson(text, values, refuse);
  t.same(parse('{"a":[1,{"b":"[[,,\\"{"}],"c":"\\\\"}'), { a: [1, { b: '[[,,"{' }], c: '\\' });
  t.equal((parse(`"${'[,'.repeat(1000)}"`) as string).length, 2000);
  t.same(parse(`[${'0,'.repeat(252)}0]`), new Array(253).fill(0), 'as many as there may be');
  t.throws(() => parse(`[${'0,'.repeat(253)}0]`), { message: /number of values 255 .*rank/ });
  t.ok(parse('['.repeat(64) + ']'.repeat(64)));
  t.throws(() => parse('['.repeat(65)), { message: /depth 65 .*jsonDepth/ });
  t.throws(() => parse('{"a"'), SyntaxError);
});
