/** @file The calls of TensorFlow Serving, and ours beside them, as a function from Request to Response. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { encodeTfExample } from '../../../src/io/tf-example.js';
import { createPredictHandler } from '../../../src/serve/online/predict-handler.js';
import { purchases } from '../shops.js';
import { asking, exportedShop, openShop } from './served.js';

const dir = await exportedShop(t.testdir());
const shop = await openShop(dir);
t.teardown(() => shop.close());
const ask = asking(shop);
const PATH = '/v1/models/shop';
const rows = purchases(5, 7000).map(({ user, item, tags, price }) => ({ user, item, tags, price }));
const expected = Array.from(await shop.predict(rows as never));

t.test('rows are answered with predictions, columns with outputs', async (t) => {
  const byRows = await ask(`${PATH}:predict`, { instances: rows });
  t.equal(byRows.status, 200);
  t.same(byRows.body, { predictions: expected });
  const column = (name: 'user' | 'item' | 'tags' | 'price') => rows.map((row) => row[name]);
  const inputs = { user: column('user'), item: column('item'), tags: column('tags'), price: column('price') };
  const byColumns = await ask(`${PATH}/versions/${(await version()).version}:predict`, { inputs, signature_name: '' });
  t.same(byColumns.body, { outputs: expected });
});

async function version(): Promise<{ readonly version: string }> {
  const { body } = await ask(PATH);
  return (body as { model_version_status: { version: string }[] }).model_version_status[0]!;
}

t.test('ids are numbers, texts, or digits of 64 bits in either', async (t) => {
  const big = '1234567890123456789';
  const predictionsOf = async (item: string) =>
    (await ask(`${PATH}:predict`, `{"instances":[{"user":"u1","item":${item}}]}`)).body;
  const table = shop.tableOfFeature('item');
  table.assign([BigInt(big)], new Float32Array(table.dim).fill(1));
  const [unknown, number, text, near] = await Promise.all(
    ['-5', big, `"${big}"`, '1234567890123456768'].map(predictionsOf),
  );
  t.same(number, text);
  t.notSame(number, unknown);
  t.same(near, unknown, 'the double nearest to it is another id');
  const looked = await ask(`${PATH}:lookup`, `{"feature":"item","ids":[${big},"${big}","7",1e15]}`);
  t.match(looked.body, { feature: 'item', dim: table.dim, known: [true, true, true, false] });
  t.same((looked.body as { embeddings: number[][] }).embeddings[0], new Array(table.dim).fill(1));
  const inexact = await ask(`${PATH}:predict`, '{"instances":[{"item":1.5e17}]}');
  t.equal(inexact.status, 400);
  t.match((inexact.body as { error: string }).error, /instances\[0\]\.item: .*no whole number below 2\^53.*digits/);
});

t.test('a feature that is missing has its default, and with strict it is refused', async (t) => {
  const { status, body } = await ask(`${PATH}:predict`, { instances: [{}] });
  t.equal(status, 200);
  t.ok(Number.isFinite((body as { predictions: number[] }).predictions[0]));
  const strict = await asking(shop, { strict: true })(`${PATH}:predict`, { instances: [rows[0], { user: 'u1' }] });
  t.equal(strict.status, 400);
  t.equal((strict.body as { error: string }).error, 'instances[1].item: the feature is missing');
});

t.test('classes and regressions come in the forms of TensorFlow Serving', async (t) => {
  const { user, ...rest } = rows[0]!;
  const classes = await ask(`${PATH}:classify`, { context: { user }, examples: [rest] });
  t.same(classes.body, {
    results: [
      [
        ['0', 1 - expected[0]!],
        ['1', expected[0]],
      ],
    ],
  });
  const numbers = await ask(`${PATH}:regress`, { examples: rows });
  t.same(numbers.body, { results: expected });
});

t.test('serialized tf.Examples are rows', async (t) => {
  const bytes = encodeTfExample({
    user: [Buffer.from('u1')],
    item: BigInt64Array.of(7n),
    tags: [Buffer.from('red'), Buffer.from('new')],
    price: Float32Array.of(2.5),
  });
  const b64 = Buffer.from(bytes).toString('base64');
  const [wanted] = await shop.predict([{ user: 'u1', item: 7, tags: ['red', 'new'], price: 2.5 }] as never);
  for (const instance of [{ b64 }, { instances: { b64 } }]) {
    t.same((await ask(`${PATH}:predict`, { instances: [instance] })).body, { predictions: [wanted] });
  }
  const broken = await ask(`${PATH}:predict`, { instances: [{ b64: 'AAAA' }] });
  t.equal(broken.status, 400);
});

t.test('candidates with the highest scores are recommended', async (t) => {
  const all = await ask(`${PATH}:recommend`, { for: { user: 'u1', price: 3 }, top: 3, item: 'item', exclude: [5] });
  t.equal(all.status, 200);
  const { items, scored } = all.body as { items: { id: number | string; score: number }[]; scored: number };
  const ids = shop.idsOf('item')!;
  t.equal(scored, ids.length - 1, 'every id of the table but what is excluded');
  const scores = await shop.predict([...ids].map((item) => ({ user: 'u1', tags: [], price: 3, item })) as never);
  const best = [...ids]
    .map((id, at) => ({ id, score: scores[at]! }))
    .filter(({ id }) => id !== 5n)
    .sort((a, b) => b.score - a.score);
  t.same(
    items.map(({ id }) => BigInt(id)),
    best.slice(0, 3).map(({ id }) => id),
  );
  const few = await ask(`${PATH}:recommend`, {
    for: { user: 'u1' },
    item: 'item',
    candidates: ['3', { item: 4, price: 1 }],
  });
  t.match(few.body, { scored: 2, items: [{ id: /3|4/ }, { id: /3|4/ }] });
  const unclear = await ask(`${PATH}:recommend`, { for: { price: 1 } });
  t.match(unclear.body, { error: /which feature is recommended; it is one of user, item/ });
  await writeFile(join(dir, 'candidates.jsonl'), '{"item":1,"price":2}\n{"item":2}\n');
  t.match((await ask(`${PATH}:recommend`, { for: { user: 'u2' }, item: 'item' })).body, { scored: 2 });
});

t.test('status, metadata and documents tell what a model takes', async (t) => {
  t.match((await ask(PATH)).body, {
    model_version_status: [{ version: /^\d+$/, state: 'AVAILABLE', status: { error_code: 'OK', error_message: '' } }],
  });
  t.match((await ask(`${PATH}/metadata`)).body, {
    model_spec: { name: 'shop', version: /^\d+$/ },
    metadata: {
      signature_def: {
        signature_def: {
          serving_default: {
            inputs: {
              user: { dtype: 'DT_STRING' },
              price: { dtype: 'DT_FLOAT', tensor_shape: { dim: [{ size: '-1' }] } },
            },
            outputs: { output: { dtype: 'DT_FLOAT' } },
            method_name: 'tensorflow/serving/predict',
          },
        },
      },
    },
  });
  const api = (await ask('/openapi.json')).body as { paths: object; components: { schemas: Record<string, object> } };
  t.ok(Object.keys(api.paths).includes('/v1/models/shop:recommend'));
  t.same(Object.keys((api.components.schemas['shop.row'] as { properties: object }).properties).sort(), [
    ...['item', 'price', 'tags', 'user'],
  ]);
  const page = await ask('/');
  t.match(page.body, /<!doctype html>/);
  t.match(page.headers.get('content-security-policy'), /default-src 'none'/);
  for (const path of ['/healthz', '/readyz']) t.equal((await ask(path)).status, 200);
});

t.test('what is counted is told to Prometheus', async (t) => {
  const counted = asking(shop);
  for (let turn = 0; turn < 17; turn++) {
    await counted(`${PATH}:predict`, { instances: [{ user: 'u1', item: 123456 }] });
  }
  await counted('/v1/models/other:predict', { instances: [{}] });
  const { body } = await counted('/metrics');
  t.match(body, /monolith_requests_total\{model="shop",call="predict",code="200"\} 17/);
  t.match(body, /monolith_requests_total\{model="",call="predict",code="404"\} 1/);
  t.match(body, /monolith_request_seconds_count\{model="shop",call="predict"\} 17/);
  t.match(body, /monolith_rows_total\{model="shop"\} 17/);
  t.match(body, /monolith_ids_unknown_total\{model="shop",feature="item"\} [1-9]/);
  t.match(body, /monolith_ids_unknown_total\{model="shop",feature="user"\} 0/);
});

t.test('with a token nothing is answered without it but whether the server is well', async (t) => {
  const guarded = asking(shop, { token: 'secret' });
  t.equal((await guarded('/healthz')).status, 200);
  for (const authorization of ['', 'Bearer wrong', 'secret']) {
    const refused = await guarded(PATH, undefined, { headers: { authorization } });
    t.equal(refused.status, 401);
    t.equal(refused.headers.get('www-authenticate'), 'Bearer');
  }
  t.equal((await guarded(PATH, undefined, { headers: { authorization: 'Bearer secret' } })).status, 200);
});

t.test('options and names are held to what they can be', async (t) => {
  t.throws(() => createPredictHandler({ 'a/b': shop }), { code: 'ML_OPTION', message: /"a\/b" cannot be the name/ });
  t.throws(() => createPredictHandler({ '..': shop }), { code: 'ML_OPTION' });
  t.throws(() => createPredictHandler({ shop }, { rowMax: 1 } as never), { code: 'ML_OPTION', hint: /rowsMax/ });
});
