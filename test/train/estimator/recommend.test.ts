import t from 'tap';
import { f } from '../../../src/data/fields.js';
import { defineSchema } from '../../../src/data/schema.js';
import { Estimator } from '../../../src/train/estimator/estimator.js';
import { lr } from '../../../src/zoo/lr.js';

const schema = defineSchema({ user: f.id(), item: f.id(), click: f.label() });
/** Items of even numbers are clicked on, whoever it is. */
const rows = Array.from({ length: 600 }, (_, row) => {
  const item = (row * 7) % 20;
  return { user: `u${row % 13}`, item, click: item % 2 === 0 ? 1 : 0 };
});

t.test('recommend gives the best candidates without what was seen', async (t) => {
  const estimator = new Estimator(lr(schema), { threads: 1, batchSize: 64 });
  t.teardown(() => estimator.close());
  await estimator.train(rows, { epochs: 4 });
  const all = await estimator.recommend({ user: 'u3' }, { item: 'item', candidates: rows.slice(0, 20), top: 10 });
  t.equal(all.length, 10);
  for (const { item, row } of all) {
    t.equal(Number(item) % 2, 0, `item ${item}`);
    t.match(row, { user: 'u3', item });
  }
  t.ok(
    all.every(({ score }, at) => at === 0 || score <= all[at - 1]!.score),
    'the best first',
  );
  const seen = [
    { user: 'u3', item: 2 },
    { user: 'u4', item: 4 },
    { user: 'u3', item: 6 },
  ];
  const rest = await estimator.recommend({ user: 'u3' }, { item: 'item', excludeSeen: seen });
  t.same(
    rest.map(({ item }) => item),
    [4],
    'items of others are candidates, own ones are left out',
  );
  const wrong = (options: object) => estimator.recommend({ user: 'u3' }, options as never);
  await t.rejects(wrong({ item: 'itm', candidates: [1] }), { code: 'ML_OPTION', hint: 'did you mean item?' });
  await t.rejects(wrong({ item: 'item' }), { code: 'ML_OPTION', hint: /candidates/ });
  await t.rejects(wrong({ item: 'item', candidates: [1], top: 0 }), { code: 'ML_OPTION' });
});
