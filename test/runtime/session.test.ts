import t from 'tap';
import { Graph } from '../../src/graph/graph.js';
import { columns } from '../../src/graph/ops/columns.js';
import { addN, mul, scale, sub } from '../../src/graph/ops/elementwise.js';
import { matMul } from '../../src/graph/ops/matmul.js';
import { reduceMean } from '../../src/graph/ops/reductions.js';
import {
  constant,
  globalStep,
  increment,
  placeholder,
  raggedPlaceholder,
  variable,
} from '../../src/graph/ops/state.js';
import { Session } from '../../src/runtime/session/session.js';
import { defineTable } from '../../src/sparse/config/table-config.js';
import { embeddingLookup } from '../../src/sparse/steps/embedding-ops.js';
import { BACKENDS, openSession, raggedOf, schemaOf, withSession } from './with-session.js';

/** x [batch, 2] with values 1, 2, 3, … */
function counted(rows: number): Float32Array {
  return Float32Array.from({ length: rows * 2 }, (_, i) => i + 1);
}

function model() {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 2 });
  const w = variable(graph, { name: 'w', shape: [2, 1], initial: () => Float32Array.of(2, 3) });
  const second = columns(x, 1, 2);
  const square = mul(x, x);
  const product = matMul(x, w);
  const gram = matMul(x, x, { transposeA: true });
  const mean = reduceMean(second);
  const shared = addN([w, constant(graph, [10, 20], { shape: [2, 1] }), w]);
  return { graph, x, w, second, square, product, gram, mean, shared };
}

for (const backend of BACKENDS) {
  t.test(`values of every kind come back for any number of rows (${backend})`, async (t) => {
    const m = model();
    const fetches = [m.x, m.second, m.square, m.product, m.gram, m.mean, m.shared, m.w];
    await withSession(m.graph, { backend, threads: 3, batchSize: 9 }, async (session) => {
      for (const rows of [0, 1, 2, 5, 8, 9, 3]) {
        const x = counted(rows);
        const [odd, even] = [x.filter((_, i) => i % 2 === 0), x.filter((_, i) => i % 2 === 1)];
        const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
        const found = await session.run(fetches, { x });
        t.same(found, [
          x,
          even,
          x.map((value) => value * value),
          odd.map((value, i) => 2 * value + 3 * even[i]!),
          Float32Array.of(dot(odd, odd), dot(odd, even), dot(even, odd), dot(even, even)),
          rows === 0 ? 0 : found[5],
          Float32Array.of(14, 26),
          Float32Array.of(2, 3),
        ]);
        if (rows > 0) t.ok(Math.abs((found[5] as number) - (rows + 1)) < 1e-5, 'mean');
      }
    });
  });
}

t.test('sums over the batch are added, subtracted and scaled', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x', width: 2 });
  const [a, b] = [reduceMean(columns(x, 0, 1)), reduceMean(columns(x, 1, 2))];
  const fetches = [
    addN([a, b, a]),
    sub(a, b),
    scale(a, 3),
    reduceMean(x),
    scale(constant(graph, [5], { shape: [] }), 2),
  ];
  for (const backend of BACKENDS) {
    await withSession(graph, { backend }, async (session) => {
      t.same(await session.run(fetches, { x: Float32Array.of(1, 10, 3, 30) }), [24, -18, 6, 11, 10]);
    });
  }
});

t.test('a batch larger than the session holds is refused, and the session goes on', async (t) => {
  const m = model();
  for (const backend of BACKENDS) {
    await withSession(m.graph, { backend, batchSize: 4 }, async (session) => {
      const error = { code: 'ML_FEED', message: /feed batch does not fit: 9 rows, the session holds 4/ };
      await t.rejects(session.run([m.mean], { x: counted(9) }), error);
      t.equal((await session.run([m.mean], { x: counted(2) })).length, 1);
      for (const batch of [12345, 64, -64, 2 ** 40]) {
        await t.rejects(session.run([m.mean], batch), { code: 'ML_FEED', message: /there is no batch at address/ });
      }
    });
  }
});

t.test('too many ids in a batch name the feed, whatever slice they are in', async (t) => {
  const graph = new Graph();
  raggedPlaceholder(graph, { name: 'other', valuesPerRow: 2 });
  const ids = raggedPlaceholder(graph, { name: 'ids', valuesPerRow: 2 });
  const table = defineTable('t', [{ dim: 1 }]);
  const looked = embeddingLookup(ids, table);
  const feeds = (row: bigint[]) => ({ other: raggedOf([[], []]), ids: raggedOf([row, []]) });
  for (const backend of BACKENDS) {
    await withSession(graph, { backend, batchSize: 4 }, async (session) => {
      t.same(await session.run([looked], feeds([1n, 2n, 3n, 4n])), [new Float32Array(2)]);
      const error = {
        code: 'ML_FEED',
        message: /feed ids does not fit: 9 values in the batch are more than the 8/,
        hint: /valuesPerRow/,
      };
      await t.rejects(session.run([looked], feeds([...new Array(9).keys()].map(BigInt))), error);
      t.same(await session.run([looked], feeds([1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n])), [new Float32Array(2)]);
      t.same(await session.run([looked], feeds([1n])), [new Float32Array(2)]);
    });
  }
});

t.test('feeds that do not fit are refused before the step, and the session goes on', async (t) => {
  const m = model();
  await withSession(m.graph, {}, async (session) => {
    const cases: [Parameters<Session['run']>[1], RegExp][] = [
      [undefined, /these fetches need a batch/],
      [{}, /feed x does not fit: no value/],
      [{ x: new Float32Array(3) }, /feed x does not fit: its values do not fill/],
      [{ x: raggedOf([[1n]]) }, /feed x does not fit: float32 \[rows, 2\] is needed: an object with splits, values/],
      [{ x: counted(1), y: counted(1) }, /feed y does not fit: the input has no feed/],
    ];
    for (const [feeds, message] of cases) await t.rejects(session.run([m.mean], feeds), { code: 'ML_FEED', message });
    t.same(await session.run([m.mean], { x: counted(1) }), [2]);
    t.same(await session.run([m.w]), [Float32Array.of(2, 3)], 'what needs no batch runs without');
    const stranger = model();
    await t.rejects(session.run([stranger.mean], { x: counted(1) }), { code: 'ML_GRAPH', message: /another graph/ });
  });
});

t.test('calls run one after the other, in the order they were made', async (t) => {
  const graph = new Graph();
  const x = placeholder(graph, { name: 'x' });
  const step = globalStep(graph);
  const count = increment(step, { by: 2 });
  const mean = reduceMean(x);
  await withSession(graph, { threads: 2, seed: 3 }, async (session) => {
    const runs = Array.from({ length: 50 }, (_, i) => session.run([mean, count, step], { x: Float32Array.of(i) }));
    const results = await Promise.all(runs);
    t.same(
      results.map(([value, , counter]) => [value, (counter as BigInt64Array)[0]]),
      results.map((_, i) => [i, BigInt(2 * i + 2)]),
    );
    t.equal(session.globalStep, 100);
  });
});

t.test('closing waits for the running step, happens once, and ends the session', async (t) => {
  const m = model();
  const session = await openSession(m.graph);
  const first = session.run([m.mean], { x: counted(1) });
  await first;
  const running = session.run([m.mean], { x: counted(3) });
  await Promise.all([session.close(), session.close(), running.catch(() => undefined)]);
  await session.close();
  await t.rejects(session.run([m.mean], { x: counted(1) }), { code: 'ML_CLOSED' });
});

t.test('options that make no session are refused', async (t) => {
  const m = model();
  for (const threads of [0, 65, 1.5, -1, Number.NaN]) {
    await t.rejects(openSession(m.graph, { threads }), { code: 'ML_FLAG', message: /threads/ }, `${threads} threads`);
  }
  // As of a caller without types.
  const backend = 'tpu' as 'wasm';
  await t.rejects(openSession(m.graph, { backend }), { code: 'ML_FLAG', message: /backend: tpu is none of wasm/ });
  for (const batchSize of [0, -3, 2.5, Number.NaN]) {
    await t.rejects(
      openSession(m.graph, { batchSize }),
      { code: 'ML_FLAG', message: /batchSize/ },
      `${batchSize} rows`,
    );
  }
  const graph = new Graph();
  variable(graph, { name: 'w', shape: [3], initial: () => new Float32Array(2) });
  await t.rejects(Session.create(graph, { schema: [], batchSize: 1, threads: 1, memoryBytes: 1 << 20 }), {
    code: 'ML_GRAPH',
    message: /w: its initial value does not fill \[3\]/,
  });
  await t.rejects(
    Session.create(m.graph, { schema: schemaOf(m.graph), batchSize: 1, threads: 1, memoryBytes: 65536 }),
    {
      code: 'ML_MEMORY',
    },
  );
});
