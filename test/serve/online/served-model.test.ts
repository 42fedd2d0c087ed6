/** @file Versions come and go under those who ask: none of them notices, and a bad version changes nothing. */
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createPredictHandler } from '../../../src/serve/online/predict-handler.js';
import { ServeMetrics } from '../../../src/serve/online/serve-metrics.js';
import { ServedModel, type ServeEvent } from '../../../src/serve/online/served-model.js';
import { small } from '../shops.js';
import { askingOf, exportedShop } from './served.js';

const dir = t.testdir();
const exported = await exportedShop(join(dir, 'made'));

interface Watched {
  readonly model: ServedModel;
  readonly folder: string;
  readonly events: ServeEvent[];
  readonly metrics: ServeMetrics;
}

/** A model in a folder with version 5, which looks for others when it is told to. */
async function watched(t: Test, name: string): Promise<Watched> {
  const folder = join(dir, name);
  await mkdir(folder);
  await cp(exported, join(folder, '5'), { recursive: true });
  const events: ServeEvent[] = [];
  const metrics = new ServeMetrics();
  const model = await ServedModel.open('shop', folder, {
    load: small,
    pollMs: 3_600_000,
    metrics,
    log: (event) => events.push(event),
  });
  t.teardown(() => model.close());
  return { model, folder, events, metrics };
}

/** A copy of the version with another model.json. */
async function changed(folder: string, version: string, change: (text: string) => string): Promise<void> {
  const temporary = join(folder, `temp-${version}`);
  await cp(exported, temporary, { recursive: true });
  const file = join(temporary, 'model.json');
  await writeFile(file, change(await readFile(file, 'utf8')));
  await rename(temporary, join(folder, version));
}

t.test('a new version is taken while it is asked, and the old one drained', async (t) => {
  const { model, folder, events, metrics } = await watched(t, 'reload');
  const ask = askingOf(createPredictHandler({ shop: model }));
  const answers: number[] = [];
  let stop = false;
  const asked = Promise.all(
    [1, 2, 3, 4].map(async (user) => {
      while (!stop) {
        answers.push((await ask('/v1/models/shop:predict', { instances: [{ user: `u${user}`, item: 3 }] })).status);
      }
    }),
  );
  for (const version of ['9', '10']) {
    await changed(folder, version, (text) => text);
    await model.refresh();
    t.equal(model.current.version, version);
  }
  stop = true;
  await asked;
  t.ok(answers.length > 10, `${answers.length} answers`);
  t.same([...new Set(answers)], [200], 'nobody noticed');
  const before = events.filter(({ event }) => event === 'drained').length;
  await model.close();
  const drained = events.filter(({ event }) => event === 'drained').map(({ version }) => version);
  t.ok(before <= 2);
  t.same(drained, ['5', '9']);
  t.equal(metrics.value('monolith_reloads_total', { model: 'shop', result: 'taken' }), 2);
  t.equal(metrics.value('monolith_version', { model: 'shop' }), 10);
});

t.test('a version that is damaged, or that others could not ask, leaves the old one serving', async (t) => {
  const { model, folder, events, metrics } = await watched(t, 'refused');
  const ask = askingOf(createPredictHandler({ shop: model }));
  const cases: readonly (readonly [string, (text: string) => string, RegExp])[] = [
    ['6', (text) => text.slice(0, -9), /JSON/],
    ['7', (text) => text.replaceAll('"price', '"cost'), /it has no feature price/],
    ['8', (text) => text.replace('"name":"bought"', '"name":"sold"'), /its output 0 is sold, and was bought/],
  ];
  for (const [version, change, reason] of cases) {
    await changed(folder, version, change);
    await model.refresh();
    t.match(events.at(-1), { event: 'refused', version, reason });
    t.equal(model.current.version, '5');
  }
  await changed(folder, '9', (text) => text);
  await rm(join(folder, '9', 'weights.safetensors'));
  await model.refresh();
  await writeFile(join(folder, '5', 'warmup.jsonl'), '{"price": 1e39}');
  const { body } = await ask('/v1/models/shop');
  t.match(body, {
    model_version_status: [
      { version: '5', state: 'AVAILABLE' },
      { version: '6', state: 'END', status: { error_message: /JSON/ } },
      { version: '7', state: 'END' },
      { version: '8', state: 'END' },
      { version: '9', state: 'END' },
    ],
  });
  t.equal(metrics.value('monolith_reloads_total', { model: 'shop', result: 'refused' }), 4);
  await model.refresh();
  t.equal(events.length, 5, 'a version that was refused is not tried again');
  t.equal((await ask('/v1/models/shop:predict', { instances: [{}] })).status, 200);
});

t.test('a version that is copied slowly is taken when it is whole, and one below a damaged one too', async (t) => {
  const { model, folder, events } = await watched(t, 'slow');
  await changed(folder, '8', (text) => text.slice(0, -9));
  await mkdir(join(folder, '6'));
  await model.refresh();
  t.same(
    events.slice(1).map(({ event, version }) => [event, version]),
    [
      ['refused', '8'],
      ['refused', '6'],
    ],
  );
  await cp(join(exported, 'model.json'), join(folder, '6', 'model.json'));
  await model.refresh();
  t.equal(events.length, 3, 'while it changes it is left alone');
  await cp(exported, join(folder, '6'), { recursive: true });
  await model.refresh();
  t.equal(model.current.version, '5', 'it may be changing still');
  await model.refresh();
  t.equal(model.current.version, '6');
  const rest = model.states.filter(({ state }) => state !== 'UNLOADING');
  t.match(rest, [
    { version: '6', state: 'AVAILABLE' },
    { version: '8', state: 'END' },
  ]);
  await model.refresh();
  t.equal(events.filter(({ event }) => event === 'refused').length, 2, 'what rests as it was is not tried again');
});

t.test('versions that vanish are answered from memory, and older ones are not gone back to', async (t) => {
  const { model, folder } = await watched(t, 'vanish');
  const ask = askingOf(createPredictHandler({ shop: model }));
  await rm(join(folder, '5'), { recursive: true });
  await mkdir(join(folder, '4'));
  await model.refresh();
  t.equal((await ask('/v1/models/shop:predict', { instances: [{ user: 'u1' }] })).status, 200);
  await mkdir(join(folder, '6'));
  await model.refresh();
  t.match(model.states, [
    { version: '5', state: 'AVAILABLE' },
    { version: '6', state: 'END' },
  ]);
  await rm(folder, { recursive: true });
  await model.refresh();
  t.equal((await ask('/v1/models/shop:predict', { instances: [{ user: 'u1' }] })).status, 200);
});

t.test('a version is tried with the rows beside it before it answers', async (t) => {
  const { model, folder, events } = await watched(t, 'warm');
  await changed(folder, '6', (text) => text);
  await writeFile(join(folder, '6', 'warmup.jsonl'), '{"user":"u1","item":3}\n{"user":\n');
  await model.refresh();
  t.match(events.at(-1), { event: 'refused', reason: /warmup\.jsonl.*line 2/ });
  await changed(folder, '7', (text) => text);
  await writeFile(join(folder, '7', 'warmup.jsonl'), '{"user":"u1","item":12345678901234567890}\n\n{"tags":["a"]}\n');
  await model.refresh();
  t.equal(model.current.version, '7');
});

t.test('a folder without models says so', async (t) => {
  await mkdir(join(dir, 'none'));
  await t.rejects(ServedModel.open('none', join(dir, 'none')), { code: 'ML_NO_MODELS', message: /^no models in dir/ });
});
