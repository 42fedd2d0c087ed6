/** @file Bad requests: each with its status, its place and what was meant, and the next one is answered. */
import t from 'tap';
import { asking, exportedShop, openShop } from './served.js';

const shop = await openShop(await exportedShop(t.testdir()));
t.teardown(() => shop.close());
const ask = asking(shop);
const PREDICT = '/v1/models/shop:predict';
const errorOf = async (path: string, body?: unknown, init?: RequestInit) => {
  const answer = await ask(path, body, init);
  const after = await ask(PREDICT, { instances: [{ user: 'u1' }] });
  return { status: answer.status, ...(answer.body as { error: string; code: string }), after: after.status };
};

const BAD: readonly (readonly [what: string, path: string, body: unknown, status: number, error: RegExp])[] = [
  ['no JSON', PREDICT, '{"instances":', 400, /the body is no JSON: /],
  ['an empty body', PREDICT, ' ', 400, /the body is empty; send/],
  ['a list', PREDICT, '[1]', 400, /no JSON object/],
  ['neither form', PREDICT, {}, 400, /either instances or inputs/],
  ['both forms', PREDICT, { instances: [{}], inputs: {} }, 400, /either instances or inputs/],
  ['another key', PREDICT, { instance: [{}] }, 400, /instance: the call has no such key; it has instances/],
  ['no list', PREDICT, { instances: {} }, 400, /instances: a list is needed/],
  ['no rows', PREDICT, { instances: [] }, 400, /instances: the list is empty/],
  ['a row that is none', PREDICT, { instances: [{}, 5] }, 400, /instances\[1\]: a row is an object of features/],
  [
    'a near name',
    PREDICT,
    { instances: [{}, {}, {}, { itm: 1 }] },
    400,
    /^instances\[3\]\.itm: unknown feature; did you mean item\?$/,
  ],
  ['a far name', PREDICT, { instances: [{ zzzzzz: 1 }] }, 400, /zzzzzz: unknown feature; the features are user, item/],
  ['a prototype', PREDICT, '{"instances":[{"__proto__":{"user":"u1"}}]}', 400, /__proto__: unknown feature/],
  [
    'a wrong type',
    PREDICT,
    { instances: [{ price: 1 }, { price: 'cheap' }] },
    400,
    /^instances\[1\]\.price: "cheap" is not a number$/,
  ],
  ['an object as an id', PREDICT, { instances: [{ user: { id: 1 } }] }, 400, /^instances\[0\]\.user: .*is no id/],
  ['a list as a number', PREDICT, { instances: [{ price: [1, 2] }] }, 400, /^instances\[0\]\.price: /],
  ['an infinite number', PREDICT, '{"instances":[{"price":1e400}]}', 400, /^instances\[0\]\.price: /],
  ['too many rows', PREDICT, { instances: new Array(1025).fill({}) }, 400, /instances: 1025 rows are more than 1024/],
  [
    'columns of other lengths',
    PREDICT,
    { inputs: { user: ['a', 'b'], item: [1] } },
    400,
    /inputs\.item: it has 1 rows, and user has 2/,
  ],
  [
    'an unknown column',
    PREDICT,
    { inputs: { users: ['a'] } },
    400,
    /inputs\.users: unknown feature; did you mean user\?/,
  ],
  [
    'an unknown signature',
    PREDICT,
    { instances: [{}], signature_name: 'x' },
    400,
    /Serving signature name: "x" not found/,
  ],
  ['an unknown model', '/v1/models/shp:predict', { instances: [{}] }, 404, /Latest\(shp\); did you mean shop\?/],
  [
    'an unknown version',
    '/v1/models/shop/versions/9:predict',
    { instances: [{}] },
    404,
    /Specific\(shop, 9\); version \d+ answers/,
  ],
  ['an unknown call', '/v1/models/shop:prdict', { instances: [{}] }, 404, /no call :prdict; did you mean predict\?/],
  ['an unknown path', '/v2/models', undefined, 404, /nothing at \/v2\/models/],
  ['no feature', '/v1/models/shop:lookup', { ids: [1] }, 400, /feature: the name of a feature is needed/],
  [
    'a feature without rows',
    '/v1/models/shop:lookup',
    { feature: 'itm', ids: [1] },
    400,
    /no table itm.*did you mean item\?/,
  ],
  ['a bad top', '/v1/models/shop:recommend', { top: 0 }, 400, /top: a whole number/],
];

for (const [what, path, body, status, error] of BAD) {
  t.test(`${what} is ${status}`, async (t) => {
    const found = await errorOf(path, body);
    t.match(found, { status, error, code: /^ML_/, after: 200 });
  });
}

t.test('a row with more ids than any had in training is answered', async (t) => {
  t.match(await errorOf(PREDICT, { instances: [{ tags: new Array(9000).fill('a') }] }), { status: 200 });
});

t.test('paths with tricks in the name of a model reach no file and no model', async (t) => {
  const tricks = [
    '..%2f..%2fetc',
    '%2e%2e',
    '..',
    '%00',
    '%ff',
    'shop%2f..',
    'constructor',
    '__proto__',
    'a'.repeat(5000),
  ];
  for (const name of tricks) {
    const { status } = await ask(`/v1/models/${name}:predict`, { instances: [{}] });
    t.equal(status, 404, name.slice(0, 20));
  }
});

t.test('a body beyond the limit is 413, told of beforehand or not', async (t) => {
  const limited = asking(shop, { bodyBytesMax: 1000 });
  const long = JSON.stringify({ instances: [{ user: 'x'.repeat(2000) }] });
  const told = await limited(PREDICT, long, { headers: { 'content-length': `${long.length}` } });
  t.equal(told.status, 413);
  const pieces = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(600)); // without an end
    },
  });
  const untold = await limited(PREDICT, undefined, { method: 'POST', body: pieces, duplex: 'half' } as RequestInit);
  t.equal(untold.status, 413);
});

t.test('a wrong method is 405', async (t) => {
  t.equal((await ask(PREDICT)).status, 405);
  t.equal((await ask('/v1/models/shop', {})).status, 405);
});

t.test('beyond the queue it is 429, and when to ask again', async (t) => {
  const busy = asking(shop, { openMax: 2 });
  const answers = await Promise.all([1, 2, 3].map(() => busy(PREDICT, { instances: [{ user: 'u1' }] })));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 429],
  );
  t.equal(answers[2]!.headers.get('retry-after'), '1');
  t.equal((await busy(PREDICT, { instances: [{}] })).status, 200);
});

t.test('what is not answered in time is 504, and is not computed later', async (t) => {
  const hurried = asking(shop, { deadlineMs: 20 });
  let free = () => {};
  const held = shop.hold(
    () =>
      new Promise<void>((resolve) => {
        free = resolve;
      }),
  );
  const { status, body } = await hurried(PREDICT, { instances: [{ user: 'u1' }] });
  t.equal(status, 504);
  t.match(body, { error: /not answered within 20 ms/ });
  free();
  await held;
  t.equal((await ask(PREDICT, { instances: [{ user: 'u1' }] })).status, 200);
});
