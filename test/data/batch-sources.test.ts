import t from 'tap';
import { batchList } from '../../src/data/batch-list.js';
import type { BatchInput, BatchSource, OpenBatches } from '../../src/data/batch-source.js';
import { defineSchema, dense, ragged } from '../../src/data/schema.js';
import { sourceOf } from '../../src/data/source-of.js';
import { ffmDataset } from '../../src/demo/ffm-dataset.js';
import { ffmSchema } from '../../src/demo/ffm-example.js';
import { Graph } from '../../src/graph/graph.js';
import { placeholder } from '../../src/graph/ops/state.js';
import { readBatch } from '../../src/memory/batch.js';
import { Session } from '../../src/runtime/session/session.js';
import { coreOf } from '../../src/runtime/session/session-handle.js';

const schema = defineSchema({
  label: dense.f32(),
  pair: dense.f32({ width: 2 }),
  ids: ragged.i64({ valuesPerRow: 4 }),
});
const TRAIN: OpenBatches = { mode: 'train', batchSize: 4, epochs: 1 };

const rowAt = (row: number) => ({
  label: row,
  pair: [row, -row],
  ids: Array.from({ length: row % 4 }, (_, id) => id + row),
});
const rows = (count: number) => Array.from({ length: count }, (_, row) => rowAt(row));

async function open(
  t: { teardown(end: () => unknown): void },
  specs = schema.specs,
  memoryBytes = 2 ** 25,
): Promise<Session> {
  const graph = new Graph();
  placeholder(graph, { name: 'label' });
  const session = await Session.create(graph, { schema: specs, batchSize: 64, threads: 1, memoryBytes });
  t.teardown(() => session.close());
  return session;
}

/** What the batches of an input hold, read as each one is handed out. */
async function contents(session: Session, input: BatchInput, most = Number.POSITIVE_INFINITY): Promise<unknown[]> {
  const found: unknown[] = [];
  try {
    while (found.length < most) {
      const { views, schema: specs } = coreOf(session);
      found.push(readBatch(views, await input.next(), specs));
    }
  } catch (error) {
    t.match(error, { code: 'ML_OUT_OF_RANGE' });
  }
  return found;
}

t.test('rows and columns of the same examples make the same batches, the last one smaller', async (t) => {
  const session = await open(t);
  const all = rows(11);
  const columns = {
    label: all.map(({ label }) => label),
    pair: Float32Array.from(all.flatMap(({ pair }) => pair)),
    ids: all.map(({ ids }) => ids),
  };
  const expected = [0, 4, 8].map((from) => {
    const some = all.slice(from, from + 4);
    return schema.batch({
      label: some.map(({ label }) => label),
      pair: some.map(({ pair }) => pair),
      ids: some.map(({ ids }) => ids),
    });
  });
  for (const data of [all, columns]) {
    const source = sourceOf('test', schema, data);
    const input = await source.open(session, TRAIN);
    t.equal(input.batchCount, 3);
    t.same(await contents(session, input), expected);
    await input.close?.();
  }
});

t.test('addresses stay good for as many batches as the input says, and places are used again', async (t) => {
  const session = await open(t);
  const { arena, views } = coreOf(session);
  function* many() {
    for (let row = 0; row < 40_000; row++) yield rowAt(row);
  }
  const pass = async () => {
    const input = await sourceOf('test', schema, () => many()).open(session, TRAIN);
    const last: { at: number; first: number }[] = [];
    for (let batch = 0; batch < 10_000; batch++) {
      last.push({ at: await input.next(), first: batch * 4 });
      if (last.length > input.batchesAhead!) last.shift();
      if (batch % 997 > 2) continue;
      for (const { at, first } of last) t.equal(views.f32[views.u32[at / 4 + 2]! / 4], first);
    }
    await t.rejects(async () => input.next(), { code: 'ML_OUT_OF_RANGE' });
    await input.close?.();
  };
  await pass();
  const used = arena.used;
  t.ok(used < 2 ** 22, `${used} bytes`);
  await pass();
  t.equal(arena.used, used, 'a second pass takes the places of the first');
});

t.test('lists that fit are written once for all passes; no pass after an empty one', async (t) => {
  const session = await open(t);
  const input = await sourceOf('test', schema, rows(9)).open(session, { ...TRAIN, epochs: 3 });
  const addresses: number[] = [];
  for (let batch = 0; batch < 9; batch++) addresses.push(await input.next());
  t.same(addresses.slice(3), [...addresses.slice(0, 3), ...addresses.slice(0, 3)]);
  await t.rejects(async () => input.next(), { code: 'ML_OUT_OF_RANGE' });
  await input.close?.();
  for (const data of [[], () => [], () => (async function* () {})()]) {
    const none = await sourceOf('test', schema, data).open(session, { ...TRAIN, epochs: Number.POSITIVE_INFINITY });
    t.same(await contents(session, none, 5), []);
  }
});

t.test('rows come back for predictions, whatever they have beside features', async (t) => {
  const session = await open(t);
  const given = rows(6).map((row, index) => ({ ...row, note: `row ${index}` }));
  for (const data of [given, () => given.values()]) {
    const input = await (sourceOf('test', schema, data) as BatchSource).open(session, { ...TRAIN, mode: 'predict' });
    t.same([...input.rowsOf!(await input.next())!, ...input.rowsOf!(await input.next())!], given);
    await input.close?.();
  }
});

t.test('batches that are made already keep their sizes', async (t) => {
  const session = await open(t);
  const made = [
    schema.batch({ label: [1], pair: [[1, 2]], ids: [[1n]] }),
    schema.batch({ label: [], pair: [], ids: [] }),
  ];
  const input = await batchList(made).open(session, { ...TRAIN, epochs: 2 });
  t.same(await contents(session, input), [...made, ...made]);
});

t.test('an error in a row comes when it is its turn, after the batches before it', async (t) => {
  const session = await open(t);
  const bad = [...rows(6), { ...rowAt(6), pair: [1] }, ...rows(3)];
  for (const data of [bad, () => bad.values()]) {
    const input = await sourceOf('test', schema, data).open(session, TRAIN);
    t.type(await input.next(), 'number');
    await t.rejects(async () => input.next(), { code: 'ML_DATA', message: /row 6.*pair/ });
    await input.close?.();
  }
});

t.test('a data set of the reader thread ends after its passes, or never', async (t) => {
  const session = await open(t, ffmSchema());
  const dataset = ffmDataset({ kind: 'clicks', vocab: 5, batchSize: 32, seed: 1, examples: 96 });
  const source = sourceOf('test', { specs: ffmSchema() }, dataset);
  const input = await source.open(session, { ...TRAIN, epochs: 2 });
  const found = await contents(session, input);
  t.equal(found.length, 6);
  t.same(found.slice(3), found.slice(0, 3));
  await input.close?.();
  const endless = await source.open(session, { ...TRAIN, epochs: Number.POSITIVE_INFINITY });
  t.equal((await contents(session, endless, 10)).length, 10);
  await endless.close?.();
});
